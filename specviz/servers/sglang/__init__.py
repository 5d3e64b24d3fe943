"""What is SGLang's own, read from the source of version 0.5.23; not run against a real one.

identify.py      recognising an SGLang server: `/server_info`
verifier.py      how it accepts draft tokens
chunk_extras.py  running totals in the chunks and the counts at the end
metrics.py       its names on /metrics
"""
