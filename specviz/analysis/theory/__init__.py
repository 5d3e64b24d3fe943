"""The formulae of speculative decoding: speed-up, rejection sampling, the roofline."""
