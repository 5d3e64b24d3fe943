"""Real speculative decoding in torch: one loop, one verifier, a proposer per method."""
