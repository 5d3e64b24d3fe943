"""Which K: what was measured, published or computed about it, and what follows."""
