"""What a page may start when it was opened with the token."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from specviz.config import EngineKind, RunConfig
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.remote.token import CALLER_HEADER, OWN_CALLER, TOKEN_CALLER
from specviz.views.shared.caller import check_may_open, check_may_start

IN_APP = RunConfig(EngineKind.EMBEDDED, Method.NGRAM, 3)
AT_URL = RunConfig(EngineKind.VLLM, Method.NGRAM, 3, server_url="http://127.0.0.1:8000")
OWN_MODEL = RunConfig(EngineKind.EMBEDDED, Method.NGRAM, 3, model="/home/somebody/model")
STARTED = RunConfig(
    EngineKind.VLLM, Method.NGRAM, 3, options={"vllm_flags": "--tool-parser-plugin X.py"}
)


@pytest.mark.parametrize("caller", [OWN_CALLER, TOKEN_CALLER])
def test_the_token_starts_no_server_and_opens_no_folder(
    monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(headers={CALLER_HEADER: caller}))
    check_may_open([IN_APP, AT_URL])
    if caller == OWN_CALLER:
        check_may_open([IN_APP, STARTED, OWN_MODEL])
        check_may_start()
    else:
        refusals = (
            lambda: check_may_open([IN_APP, STARTED]),
            lambda: check_may_open([OWN_MODEL]),
            check_may_start,
        )
        for refused in refusals:
            with pytest.raises(UsageError, match="the token is not enough"):
                refused()
