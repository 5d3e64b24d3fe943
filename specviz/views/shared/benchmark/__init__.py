"""What several pages show of benchmarks: which one, its results, its size and progress."""
