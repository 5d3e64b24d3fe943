"""The table as a grid whose Ks can be changed, and what each of them rests on."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from specviz.analysis.policy.decision import Decision
from specviz.analysis.policy.objective import Objective
from specviz.analysis.policy.sentences import (
    basis_text,
    column_titles,
    estimate_text,
    gain_text,
    row_titles,
)
from specviz.analysis.policy.table import PolicyTable
from specviz.policy.policy import Basis, Policy

LARGEST_K = 64


def edited(table: PolicyTable, key: str) -> Policy:
    """Draws the grid; the policy with what was typed into it."""
    columns, rows = _titles(table)
    begin = pd.DataFrame(
        [[one.k for one in row] for row in table.rows], index=rows, columns=columns
    )
    whole = st.column_config.NumberColumn(
        min_value=0, max_value=LARGEST_K, step=1, format="%d", required=True
    )
    shown = st.data_editor(
        begin,
        key=key,
        column_config={"_index": st.column_config.TextColumn("requests running", disabled=True)}
        | dict.fromkeys(columns, whole),
        height="content",
        width="content",
    )
    return with_ks(table, shown.to_numpy(dtype=int).tolist())


def with_ks(table: PolicyTable, ks: list[list[int]]) -> Policy:
    """The table's policy with other Ks, each that differs marked as edited."""
    policy = table.policy()
    rows = tuple(
        replace(
            row,
            k=tuple(typed),
            basis=tuple(
                basis if k == own else Basis.EDITED
                for basis, own, k in zip(row.basis, row.k, typed, strict=True)
            ),
        )
        for row, typed in zip(policy.rows, ks, strict=True)
    )
    largest = max(k for row in rows for k in row.k)
    return replace(
        policy, rows=rows, num_speculative_tokens=largest or policy.num_speculative_tokens
    )


def evidence(table: PolicyTable, policy: Policy) -> pd.DataFrame:
    """One line per K; the last row's are those of the row before it, in one line."""
    columns, rows = _titles(table)
    lines: list[dict[str, str | None]] = []
    for title, decisions, row in zip(rows, table.rows, policy.rows, strict=True):
        for column, found, k, basis in zip(columns, decisions, row.k, row.basis, strict=True):
            if found.temperature is None and basis is not Basis.EDITED:
                continue
            figures = _line(found, k, table.objective, is_edited=basis is Basis.EDITED)
            lines.append({"where": f"{title}, {column}", "K": str(k), **figures})
    carried = table.rows[-1][0]
    if not any(basis is Basis.EDITED for basis in policy.rows[-1].basis):
        lines.append({"where": rows[-1], "rests on": basis_text(carried)})
    return pd.DataFrame(lines).dropna(axis="columns", how="all")


def _line(
    found: Decision, k: int, objective: Objective, *, is_edited: bool
) -> dict[str, str | None]:
    """`k` is the table's, or the one that was typed in its place."""
    name = f"{'goodput' if objective.slo.is_set else 'throughput'}, {objective.unit}"
    figure, plain = found.figure(k), found.figure(0)
    if is_edited:
        said = f"edited, the table says {found.k}"
        said += "" if figure else f"; K {k} did not compete here"
        others, gain = None, None
    else:
        said = basis_text(found)
        others = ", ".join(str(one) for one in found.equivalent_ks if one != k) or None
        gain = gain_text(found, objective) or None
    return {
        name: estimate_text(figure) if figure else None,
        "K = 0": estimate_text(plain) if plain else None,
        "gain": gain,
        "as good": others,
        "rests on": said,
    }


def _titles(table: PolicyTable) -> tuple[list[str], list[str]]:
    return (
        column_titles([one.concurrency for one in table.rows[0]]),
        row_titles([row[0].temperature for row in table.rows]),
    )
