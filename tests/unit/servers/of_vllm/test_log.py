"""vLLM's own reasons, from the ends of real logs of vLLM 0.32."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.servers.vllm.log import MAX_REASON, failure_reason, one_line, stage

ENGINE = "(EngineCore pid=10840) ERROR 11-21 01:59:27 [core.py:1510]"
API = "(APIServer pid=11010) ERROR 11-21 01:59:59 [async_llm.py:906]"

LOGS = {
    "vocabulary": """\
pydantic_core._pydantic_core.ValidationError: 1 validation error for SpeculativeConfig
  Value error, Target and draft model should have the same vocabulary size. [type=value_error, x]
    For further information visit https://errors.pydantic.dev/2.14/v/value_error
""",
    "method": """\
pydantic_core._pydantic_core.ValidationError: 1 validation error for SpeculativeConfig
method
  Input should be 'ngram', 'medusa' or 'eagle' [type=literal_error, input_value='foo']
""",
    "flag": """\
                     [model_tag]
api_server.py: error: unrecognized arguments: --speculative-model
""",
    "json": """\
api_server.py: error: argument --speculative-config/-sc: Value {"method": cannot be converted to \
<function loads at 0x7f2827045800>.
""",
    "memory": f"""\
{ENGINE}     raise ValueError(
{ENGINE} ValueError: To serve at least one request 0.01 GiB is needed.
Process EngineCore:
ValueError: To serve at least one request 0.01 GiB is needed.
(APIServer pid=10705) RuntimeError: Engine core initialization failed. See root cause above. \
Failed core proc(s): {{}}
RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {{}}
""",
    "first request": f"""\
{ENGINE}     assert not SYNTHETIC_MODE, "Synthetic acceptance not supported with CPU sampling"
{ENGINE} AssertionError: Synthetic acceptance not supported with CPU sampling
{API} vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace
INFO:     127.0.0.1:49048 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error
""",
    "bare assertion": f"""\
{ENGINE}     assert k.numel() > 0
{ENGINE}            ^^^^^^^^^^^^^
{ENGINE} AssertionError
""",
    "port": "OSError: [Errno 98] Address already in use\n",
}

REASONS = {
    "vocabulary": "Target and draft model should have the same vocabulary size.",
    "method": "method: Input should be 'ngram', 'medusa' or 'eagle'.",
    "flag": "unrecognized arguments: --speculative-model.",
    "json": 'argument --speculative-config/-sc: Value {"method": cannot be converted to JSON.',
    "memory": "To serve at least one request 0.01 GiB is needed.",
    "first request": "Synthetic acceptance not supported with CPU sampling.",
    "bare assertion": "AssertionError at `assert k.numel() > 0`.",
    "port": "[Errno 98] Address already in use.",
}


@pytest.mark.parametrize("name", LOGS)
def test_the_reason_is_the_root_cause_in_one_line(name: str, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("INFO 11-21 01:49:17 [api_utils.py:347] version 0.32.0\n" + LOGS[name])
    assert failure_reason(log) == REASONS[name]


def test_a_healthy_log_and_a_missing_one_have_no_reason(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(
        "WARNING this can cause errors like `OSError: [Errno 24] Too many open files`.\n"
    )
    assert failure_reason(log) is None
    assert failure_reason(tmp_path / "none.log") is None


def test_long_reasons_end_at_a_sentence() -> None:
    text = one_line("First sentence. " + "word " * 200)
    assert text == "First sentence."
    assert len(one_line("x" * 1000)) <= MAX_REASON + 1


def test_stages_follow_the_log() -> None:
    assert stage("") == "importing vLLM"
    assert stage("… Starting to load model x …") == "loading weights"
    log = "Starting to load model x\nLoading drafter model...\nCPU KV cache size: 39,296 tokens"
    assert stage(log) == "preparing the API"
