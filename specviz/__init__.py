"""specviz: every accept/reject decision of speculative decoding, seen, stored and weighed."""

__version__ = "0.1.0"
