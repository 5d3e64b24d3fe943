"""The requests' own counts compared with the server's counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from specviz.analysis.benchmark.acceptance import COUNTS
from specviz.analysis.benchmark.results import ArmState, CounterCheck

_SERVER_COUNTS = ["server_drafts", "server_draft_tokens", "server_accepted_tokens"]


def counter_checks(
    arms: Sequence[ArmState], samples: pd.DataFrame, rounds: pd.DataFrame
) -> tuple[CounterCheck, ...]:
    """One check per arm with a round that both cover.

    A round is covered if it is complete, the server counted, no request failed (the server counts
    a failed one's drafts as well) and every request reported its counts.
    """
    if samples.empty or rounds.empty:
        return ()
    return tuple(_checks(arms, rounds.join(_reported(samples), on="round_id")))


def _checks(arms: Sequence[ArmState], rounds: pd.DataFrame) -> Iterator[CounterCheck]:
    complete = rounds["complete"].astype(bool) & rounds["whole"].eq(True)
    covered = complete & rounds[_SERVER_COUNTS].notna().all(axis=1)
    for arm in arms:
        mine = rounds["arm_index"] == arm.arm_index
        both = rounds[mine & covered]
        if not both.empty:
            sums = {name: int(both[name].sum()) for name in (*COUNTS, *_SERVER_COUNTS)}
            without = int((mine & ~covered).sum())
            yield CounterCheck(arm.arm, arm.arm_index, **sums, rounds_without=without)


def _reported(samples: pd.DataFrame) -> pd.DataFrame:
    """By round_id: the sums of the requests' counts, and whether they are `whole`."""
    finished = samples["status"] == "finished"
    whole = finished & samples[COUNTS].notna().all(axis=1)
    by_round = samples.assign(whole=whole).groupby("round_id")
    return by_round[COUNTS].sum().join(by_round["whole"].all())
