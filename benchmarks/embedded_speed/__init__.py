"""The embedded engine's methods next to plain decoding, transformers and llama.cpp."""
