"""A benchmark's results from its samples: quantiles, speed-up, acceptance, goodput."""
