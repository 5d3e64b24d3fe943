"""What is TensorRT-LLM's own (`trtllm-serve`), read from its source; not run against a real one.

identify.py      recognising such a server
chunk_extras.py  tokens per iteration in its chunks
metrics.py       its names on /prometheus/metrics
"""
