"""The tracing plugin: runs inside a vLLM server and reports every drafted token and its verdict.

    plugin.py    what vLLM loads: `register` in every process, `endpoint` in the API process
    hooks.py     puts the recorder into the worker's model runner; reports the handshake
    recorder.py  follows the traced requests through the engine's steps, in vLLM's V1 model runner
    verdicts.py  probabilities, random numbers and verdicts of one step, from V1's sampler's tensors
    drafter.py   the draft model's own probabilities at temperature 0, in V1
    fixes.py     defects of V1 on a CPU, repaired where they are present
    v2/          the recorder for vLLM's V2 model runner
    lines.py     one step of one request as a line of its trace
    hidden.py    what of a server's configuration keeps decisions out of a trace
    spool.py     files between the worker, which writes, and the API process, which serves
    routes.py    GET /specviz/handshake and /specviz/trace/{key}
    keys.py      which requests asked for a trace
    entry/       the metadata by which vLLM finds the plugin; belongs on PYTHONPATH

Only the standard library is imported at module level: the server's Python need not have what the
rest of specviz needs. A request asks for its trace with the header `X-Request-Id: specviz-<32 hex
digits>`; for every other request the overhead is one check of the batch's request ids.
"""
