"""What is llama.cpp's own. `dialect.py` puts it together for the rest of the program.

identify.py      recognising a llama.cpp server and what it offers
chunk_extras.py  the running counts in its answers; metrics.py: its names on /metrics
command_line.py  how a server is started; log.py: how far one has come, and why one failed
process.py       the server's own process: llama.cpp's HTTP server out of the package xllamacpp
conversion/      Hugging Face folders as GGUF, the only format that llama.cpp reads
"""
