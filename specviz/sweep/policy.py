"""A table of K from a stored benchmark."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from specviz.analysis.benchmark.disturbance import in_figures
from specviz.analysis.benchmark.families import with_most_ks
from specviz.analysis.policy.decision import Decision
from specviz.analysis.policy.objective import Objective
from specviz.analysis.policy.table import PolicyTable, at_any_temperature, policy_table
from specviz.bench.results import arms_of
from specviz.store import Store
from specviz.store.benchmarks.reads import read_samples


def policy_of(
    store: Store,
    benchmark_id: str,
    objective: Objective,
    method: str | None = None,
    *,
    mixed: bool = False,
) -> PolicyTable:
    """The table of one method (None: the one with the most Ks).

    `mixed`: one K for all temperatures of a load, for traffic that mixes them, where a request at
    K = 0 would wait for the drafts of the others.

    Raises UsageError where the benchmark has no such method with a K next to plain decoding,
    StoreError.
    """
    samples = store.read(read_samples, benchmark_id)
    family = with_most_ks(arms_of(store, benchmark_id, samples), method)
    counted = in_figures(samples)
    return policy_table(family, at_any_temperature(counted) if mixed else counted, objective)


def as_document(table: PolicyTable) -> dict[str, Any]:
    """What `specviz policy --json` says of it; its keys are a public format."""
    return {
        "method": table.method,
        "ks": list(table.ks),
        "objective": table.objective.name,
        "slo": asdict(table.objective.slo),
        "cells": [_cell(one) for row in table.rows for one in row],
        "notes": list(table.notes),
    }


def _cell(found: Decision) -> dict[str, Any]:
    gain = found.gain and asdict(found.gain)
    return {
        "temperature": found.temperature,
        "concurrency": found.concurrency,
        "k": found.k,
        "basis": found.basis.value,
        "equivalent_ks": list(found.equivalent_ks),
        "gain": gain,
        "prompts": found.prompts,
        "blocks": found.blocks,
        "rests_on": found.rests_on,
        "candidates": [{"k": one.k, **asdict(one.figure)} for one in found.candidates],
    }
