"""The table of known problems: every row can occur, and has a source."""

from __future__ import annotations

from itertools import product
from urllib.parse import urlsplit

from specviz.deploy.frameworks import NAMES
from specviz.deploy.problems import CIRCUMSTANCES, EFFECTS, known_problems, problems
from specviz.deploy.request import Request, Use
from specviz.deploy.versions import numbers
from tests.support.deployments import METHOD_NAMES, PLACES, request


def requests() -> list[Request]:
    """Every place and method, with and without what can make a difference."""
    shapes = [{"k": 5}, {"k": 4, "topk": 2, "depth": 2}, {"k": 5, "pipeline_parallel": 2}]
    places = [*PLACES, ("vllm", None, "0.12")]
    return [
        request(name, method, backend=backend, version=version, **shape)
        for (name, backend, version), method, shape in product(places, METHOD_NAMES, shapes)
    ]


def test_every_row_is_met_by_some_request():
    """A row that nothing matches is misspelt."""
    asked = requests()
    never = [one for one in problems() if not any(one.applies_to(other) for other in asked)]
    assert not [one.remark.text for one in never]


def test_every_row_is_well_formed():
    for one in problems():
        assert one.framework.partition("/")[0] in NAMES
        assert set(one.methods) <= {*METHOD_NAMES}
        assert set(one.when) <= {*CIRCUMSTANCES, *Use}
        assert one.remark.effect in EFFECTS
        assert one.remark.text.endswith(".")
        assert one.remark.source
        assert one.remark.url is None or urlsplit(one.remark.url).scheme == "https"
        assert all(numbers(version) for version in (one.first, one.last) if version)


def texts(asked: Request) -> str:
    return " ".join(remark.text for remark in known_problems(asked))


def test_what_requests_use_decides_once_it_is_known():
    unknown = request("vllm", version="0.33", k=3)
    assert "min_p" in texts(unknown)
    assert "min_p" not in texts(request("vllm", version="0.33", k=3, uses=frozenset()))
    some = request("vllm", version="0.33", k=3, uses=frozenset({Use.LOGIT_BIAS}))
    assert "min_p or logit_bias" in texts(some) and "grammar" not in texts(some)


def test_a_plain_server_has_no_problem_with_speculation():
    assert not known_problems(request("vllm", "baseline", version="0.33"))


def test_versions_decide():
    before, after = (request("tensorrt-llm", k=3, version=one) for one in ("1.2.1", "1.3.0rc25"))
    assert "counts from a batch size" in texts(before)
    assert "counts up to a batch size" in texts(after)
    assert "Log-probabilities" in texts(request("vllm", version="0.13.2", k=3))
    assert "Log-probabilities" not in texts(request("vllm", version="0.14", k=3))


def test_triton_has_the_problems_of_its_back_end():
    behind = texts(request("triton", version="0.33", k=3))
    assert "Triton's metrics" in behind and "min_p" in behind
    other = texts(request("triton", backend="tensorrt-llm", version="1.3", k=3))
    assert "Triton's metrics" not in other and "draft_len_schedule" in other


def test_the_worst_comes_first():
    effects = [remark.effect for remark in known_problems(request("sglang", version="0.5.23", k=3))]
    assert effects == sorted(effects, key=list(EFFECTS).index)
    assert len(set(effects)) > 2
