"""The store and its pages with ten million decisions."""
