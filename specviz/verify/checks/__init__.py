"""One file per line of the report: evidence in, a `Finding` out."""
