"""What a benchmark's samples say: quantiles, speed-up with intervals, acceptance, goodput."""
