"""llama.cpp's names on `/metrics`, a page that it has with `--metrics` only."""

from __future__ import annotations

from specviz.servers.metrics import ServerLoad, SpecCounters, read_counters, read_load

_LOAD = {
    "llamacpp:requests_processing": "running",
    "llamacpp:requests_deferred": "waiting",
    "llamacpp:tokens_predicted_total": "output_tokens",
}


def parse_counters(page: str) -> SpecCounters | None:
    """The speculation counters; those of a server that does not speculate stay 0."""
    return read_counters(page, "llamacpp:spec_decode_num_")


def parse_load(page: str) -> ServerLoad:
    """Running and waiting requests, output tokens."""
    return read_load(page, _LOAD)
