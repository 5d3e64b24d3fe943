"""One module per prompt category; its `example(rng)` makes one prompt and the answer."""
