"""Speculative decoding in torch: one loop, one verifier, one proposer per method."""
