"""Four vLLM servers that the tests of this folder share to the end: one worker has all of them."""

from __future__ import annotations

from tests.support.servers.vllm_servers import BASELINE, DRAFT, NGRAM, STOCK, server_fixture

draft_server = server_fixture(DRAFT, "session")
baseline_server = server_fixture(BASELINE, "session")
ngram_server = server_fixture(NGRAM, "session")
stock_server = server_fixture(STOCK, "session")
