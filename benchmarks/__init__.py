"""The source of every performance figure in README.md and docs/: `make bench`."""
