"""Servers: one client, one timing client and one launcher for every kind of server.

dialect.py       what differs between kinds, as one record: `Dialect`
kinds.py         the list of kinds
checked.py       what a server says, checked; pages.py: its pages, within limits
capabilities.py  what a running server offers; metrics.py: what it counts
client/          one request, followed as it streams
timing/          many requests at once, timed
launch/          starting servers and stopping them
vllm/            vLLM's record and all that is vLLM's own
openai.py        the record of any other OpenAI-compatible server
"""
