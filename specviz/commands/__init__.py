"""What the command line does, one command a file; `specviz.cli` only reads the arguments."""
