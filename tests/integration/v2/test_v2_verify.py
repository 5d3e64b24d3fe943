"""`specviz verify` on two real servers with the V2 model runner, scheduled as on a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.methods import Method
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import ServerPool
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.verify.asking import Size
from specviz.verify.finding import Outcome, exit_code
from specviz.verify.flow import Pair, verify
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET
from tests.support.servers.vllm_servers import running
from tests.support.v2.on_cpu import v2_variables

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(1200)]

SIZE = Size(
    prompts=6,
    max_tokens=8,
    sampled_prompts=2,
    answers=8,
    sampled_tokens=4,
    at_once=4,
    batches=(1, 2),
    tracing_rounds=2,
    tracing_tokens=8,
)
FLAGS = ("--max-model-len", "512", "--max-num-seqs", "4", "--max-num-batched-tokens", "128")


def test_all_of_it_holds_on_v2(log_dir: Path, tmp_path: Path) -> None:
    plain = ServerSpec(LAUNCHER, str(DEMO_TARGET), extra_args=FLAGS)
    drafting = ServerSpec(
        LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), 4, extra_args=FLAGS
    )
    pool = ServerPool(tmp_path)
    with v2_variables(), running(plain, log_dir) as baseline, running(drafting, log_dir) as server:
        findings = list(verify(Pair(baseline.url, server.url), SIZE, pool, print))
    pool.close()
    found = {one.name: one for one in findings}
    # beside the other tests a request may wait for a processor: then times are not measured
    doubtful = [one for one in findings if one.outcome is not Outcome.HOLDS]
    assert [one.outcome for one in doubtful if one.name == "timing"] in ([], [Outcome.NOT_MEASURED])
    assert [one.detail for one in doubtful if one.name != "timing"] == []
    assert exit_code(findings) == (2 if doubtful else 0)
    assert found["runner"].found["runner"] == found["runner"].found["baseline_runner"] == "v2"
    assert found["counters"].found["num_draft_tokens"] > 50
    assert found["verdicts"].found["drawn"] > 5
