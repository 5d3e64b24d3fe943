"""specviz: every accept/reject decision of speculative decoding, seen, stored and weighed."""

import os

__version__ = "0.1.0"

# Read by DuckDB's allocator when DuckDB is loaded. What it kept of one query's memory, the next one
# would have beyond its ceiling (store/memory_ceiling.py), and so on without end.
os.environ.setdefault("DUCKDB_JE_MALLOC_CONF", "retain:false,dirty_decay_ms:1000")
