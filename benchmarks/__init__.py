"""The source of every performance figure in README.md and docs/: `make bench`.

`python -m benchmarks.NAME` is a file, or a folder with a `__main__.py` where a benchmark has parts
of its own. `clients` and `started` are what they start, `results_file` is what they save, and
`tables` writes the documents from it.
"""
