"""Whether 95 % intervals hold the truth, in simulated benchmarks."""
