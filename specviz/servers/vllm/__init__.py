"""What is vLLM's own. `dialect.py` puts it together for the rest of the program.

identify.py      recognising a vLLM server and what it offers
chunk_extras.py  token ids and counts in its answers
metrics.py       its names on /metrics
server_info.py   what a server without the plugin says of its drafts
verifier.py      how it accepts draft tokens
trace_client.py  the tracing plugin's routes, seen from the client
command_line.py  flags; environment.py, hardware.py and kv_cache.py: what goes with them
log.py           how far a server that loads has come, and why one failed
tracing/         the plugin that runs inside the server
"""
