"""How to start an inference server that speculates: its command line and its files, by version."""
