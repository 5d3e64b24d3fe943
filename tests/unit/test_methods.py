"""Every method has a complete record, and everything that a record promises."""

from __future__ import annotations

import json
import re

import pytest

from specviz.methods import (
    METHODS,
    TECHNIQUES,
    VLLM,
    Method,
    MethodRecord,
    record_of,
    served_by,
)
from specviz.paths import DATA
from specviz.servers.kinds import LAUNCHERS

LINK = re.compile(r"\[[^\]]+\]\(https://[^)\s]+\)( · \[[^\]]+\]\(https://[^)\s]+\))*")
DRAFTING = [method for method in Method if method is not Method.BASELINE]


def missing_from(record: MethodRecord) -> list[str]:
    """The fields of a method that drafts which are empty or contradict each other."""
    wrong = {
        "mechanism: one or two sentences": not re.fullmatch(r"[A-Z].{30,}\.", record.mechanism),
        "source: a Markdown link": not LINK.fullmatch(record.source),
        "embedded_k, or a server that has it": not (record.embedded_k or record.servers),
        "shapes": not record.shapes or len(set(record.shapes)) < len(record.shapes),
        "default_k of each server": not all(one.default_k for one in record.servers.values()),
    }
    return [name for name, is_wrong in wrong.items() if is_wrong]


def test_every_method_has_a_record_in_order() -> None:
    assert list(METHODS) == list(Method)


@pytest.mark.parametrize("method", DRAFTING)
def test_the_record_is_complete(method: Method) -> None:
    assert not missing_from(METHODS[method])


def test_an_incomplete_record_is_noticed() -> None:
    assert len(missing_from(MethodRecord("", "", None, shapes=(), draft="head"))) == 4


@pytest.mark.parametrize("method", DRAFTING)
def test_a_trace_of_the_method_is_recorded(method: Method) -> None:
    text = (DATA / "traces" / f"{method.value}.json").read_text(encoding="utf-8")
    assert json.loads(text)["run"]["config"]["method"] == method.value


def test_no_recorded_trace_lacks_its_method() -> None:
    assert {path.stem for path in (DATA / "traces").glob("*.json")} == set(DRAFTING)


def test_servers_are_the_kinds_that_are_started() -> None:
    kinds = {kind for record in METHODS.values() for kind in record.servers}
    assert kinds == set(LAUNCHERS)
    assert served_by(VLLM)[0] is Method.BASELINE
    assert Method.SWIFT not in served_by(VLLM)


def test_a_technique_is_one_method() -> None:
    names = [name for record in METHODS.values() for name in record.techniques]
    assert len(names) == len(set(names)) == len(TECHNIQUES)


def test_records_are_found_by_name() -> None:
    assert record_of("eagle3") is METHODS[Method.EAGLE3]
    assert record_of("as the server says") is None
    assert record_of(None) is None
