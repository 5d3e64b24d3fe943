"""K: the benchmark over every K, redrafting, and the curves that follow."""
