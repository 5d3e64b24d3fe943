"""Hysteresis: the column that is in use while the number of requests changes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specviz.policy.policy import Policy


@dataclass(frozen=True, slots=True)
class Held:
    """The column in use, the one that the load asks for, and for how many steps in a row."""

    column: int
    wanted: int
    steps: int = 0


def start(policy: Policy, requests_running: int) -> Held:
    """The state at the first step: the column of its load, at once."""
    column = policy.column(requests_running)
    return Held(column, column)


def after_step(held: Held, policy: Policy, requests_running: int) -> Held:
    """The state after one more step at that load.

    The column changes after `policy.hold_steps` steps that asked for the same other one, so that a
    load that swings about an edge does not switch K at every step.
    """
    wanted = policy.column(requests_running)
    if wanted == held.column:
        return Held(held.column, held.column)
    steps = held.steps + 1 if wanted == held.wanted else 1
    if steps >= policy.hold_steps:
        return Held(wanted, wanted)
    return replace(held, wanted=wanted, steps=steps)
