"""The decoder's sublayers in C++, compiled on this machine; torch computes them elsewhere."""
