"""Blocks that were measured while something else used the machine, and what replaced them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from specviz.analysis.benchmark.machine_use import MachineUse
from specviz.analysis.text import counted
from specviz.config import RunStatus

if TYPE_CHECKING:
    import pandas as pd

SHARES = ("others_share", "steal_share", "throttled_share", "gpu_others_share")
THIS_MACHINE = "this machine"
CLIENT_ONLY = "the client only"
NOT_WATCHED = "nothing"


@dataclass(frozen=True, slots=True)
class Disturbance:
    """How quiet the machine was while some figures were measured.

    Of `blocks` that the figures rest on, others used the machine during `disturbed`; `repeated` are
    in place of disturbed ones that are in no figure. Shares, 0 to 1, are means over the time of the
    disturbed blocks, `disturbed_s`: of the processor used by others, given away by the host of a
    virtual machine, withheld by the limit of our control group; of a GPU used by others. None: no
    block was disturbed, or it is not known. `watched`: this machine, the client only (the server is
    on another one), or nothing.
    """

    blocks: int
    disturbed: int
    repeated: int
    watched: str
    disturbed_s: float
    others_share: float | None
    steal_share: float | None
    throttled_share: float | None
    gpu_others_share: float | None

    @property
    def text(self) -> str | None:
        """The sentence for whoever reads the figures; None if no block was disturbed."""
        if not self.disturbed:
            return None
        use = MachineUse(
            self.others_share or 0.0, self.steal_share or 0.0, None, self.gpu_others_share
        )
        blocks = counted(self.blocks, "block")
        were = "was" if self.disturbed == 1 else "were"
        return (
            f"{self.disturbed} of {blocks} {were} measured while {use.text}: "
            "these times may be too long."
        )


class HasDisturbance(Protocol):
    """A cell of the results."""

    @property
    def disturbance(self) -> Disturbance | None: ...


def disturbed_text(cells: Iterable[HasDisturbance]) -> str | None:
    """The sentence about several cells together; None if none rests on a disturbed block."""
    known = [cell.disturbance for cell in cells if cell.disturbance is not None]
    return together(known).text if known else None


def disturbance_of(samples: pd.DataFrame) -> Disturbance | None:
    """Of the blocks of `samples`, the requests in the figures; None where nothing was recorded, as
    before blocks were watched."""
    if "is_disturbed" not in samples:
        return None
    watched = samples[["block", "is_disturbed", "repeats", "watched", "wall_s", *SHARES]]
    blocks = watched.dropna(subset="is_disturbed").drop_duplicates("block")
    if blocks.empty:
        return None
    each = [
        Disturbance(
            1,
            int(block.is_disturbed),
            int(isinstance(block.repeats, str)),
            block.watched,
            block.wall_s if block.is_disturbed else 0.0,
            *(_known(getattr(block, name)) if block.is_disturbed else None for name in SHARES),
        )
        for block in blocks.itertuples()
    ]
    return together(each)


def together(parts: list[Disturbance]) -> Disturbance:
    """Several as one; the least that was watched counts."""
    watched = {part.watched for part in parts}
    least = next((word for word in (NOT_WATCHED, CLIENT_ONLY) if word in watched), THIS_MACHINE)
    return Disturbance(
        sum(part.blocks for part in parts),
        sum(part.disturbed for part in parts),
        sum(part.repeated for part in parts),
        least,
        sum(part.disturbed_s for part in parts),
        *(_mean(parts, name) for name in SHARES),
    )


def in_figures(samples: pd.DataFrame) -> pd.DataFrame:
    """Without the requests that were set aside for a second measurement."""
    return samples if samples.empty else samples[samples["status"] != RunStatus.SET_ASIDE]


def first_measurements(samples: pd.DataFrame) -> pd.DataFrame:
    """The requests that a round's counters on the server cover: repeats came after the round, and
    what was set aside for them had finished in it."""
    if samples.empty or "repeats" not in samples:
        return samples
    first = samples[samples["repeats"].isna()]
    return first.assign(status=first["status"].replace(RunStatus.SET_ASIDE, RunStatus.FINISHED))


def _mean(parts: list[Disturbance], name: str) -> float | None:
    """Over the disturbed time of the parts where it is known."""
    known = [
        (value, part.disturbed_s) for part in parts if (value := getattr(part, name)) is not None
    ]
    seconds = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / seconds if seconds else None


def _known(value: float | None) -> float | None:
    """None for what a frame holds in place of a missing number."""
    return None if value is None or value != value else float(value)
