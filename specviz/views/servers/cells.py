"""What a row of the table says, cell by cell, as plain words. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum

from specviz.analysis.text import duration
from specviz.fleet.acceptance import WINDOW_S
from specviz.fleet.health import Health, is_lossless, unexpected
from specviz.methods import Method
from specviz.servers.launch.pool import ServerPhase
from specviz.views.servers.rows import Row

NOT_REPORTED = "not reported"
NOTHING = "–"
HEADS = (
    *("name", "kind", "model", "drafts with", "shows", "lossless", "acceptance, 5 min", "running"),
)


class Tone(StrEnum):
    """How a cell looks."""

    PLAIN = "plain"
    MUTED = "muted"
    GOOD = "good"
    BAD = "bad"
    BADGE = "badge"


@dataclass(frozen=True, slots=True)
class Cell:
    """`small` is below the text; `hint` is shown on hover; `curve` has rates, oldest first."""

    text: str
    tone: Tone = Tone.PLAIN
    small: str = ""
    hint: str = ""
    curve: tuple[float | None, ...] = ()


MISSING = Cell(NOTHING, Tone.MUTED)
UNREPORTED = Cell(NOT_REPORTED, Tone.MUTED)


def cells_of(row: Row, health: Health | None) -> tuple[Cell, ...]:
    """As many as there are `HEADS`; what a server was while it is down, muted."""
    name = Cell(row.name, small=_place(row))
    if health is None or health.found is None:
        expected = row.named.kind if row.named else None
        kind = Cell(expected.value, Tone.MUTED) if expected else MISSING
        if row.slot is not None:
            kind = Cell(row.slot.spec.launcher.name, Tone.MUTED)
        return (name, kind, MISSING, _drafts_with(row, None), *[MISSING] * 4)
    found, tone = health.found, Tone.PLAIN if health.is_up else Tone.MUTED
    about = (
        name,
        Cell(found.software or found.dialect.name, tone),
        Cell(found.model.rstrip("/").rpartition("/")[2], tone, hint=found.model),
        _drafts_with(row, health),
    )
    if not health.is_up:
        return (*about, *[MISSING] * 4)
    shows = found.capabilities.expected_fidelity.value
    return (
        *about,
        Cell(shows, Tone.BADGE, hint=found.advice or ""),
        _lossless(health),
        _acceptance(health),
        UNREPORTED if health.load.running is None else Cell(f"{health.load.running:g}"),
    )


def state_of(row: Row, health: Health | None, zone: tzinfo | None = None) -> Cell | None:
    """What is to be said of a server that cannot simply be used, with the reason under it."""
    if row.slot is not None and row.url is None:
        failed = row.slot.phase is ServerPhase.FAILED
        return Cell(
            "could not be started" if failed else "starting",
            Tone.BAD if failed else Tone.MUTED,
            small=row.slot.note,
        )
    if health is None:
        return Cell("asking", Tone.MUTED)
    if health.down_since is not None:
        since = moment(health.down_since, health.checked_at, zone)
        return Cell(f"not reachable since {since}", Tone.BAD, small=health.problem or "")
    if row.named is not None and (other := unexpected(health, row.named.kind)):
        return Cell("another kind of server", Tone.BAD, small=other)
    return None


def moment(at: datetime, now: datetime, zone: tzinfo | None) -> str:
    """`14:02`, with the day where it is not today's."""
    at, now = at.astimezone(zone), now.astimezone(zone)
    return f"{at:%H:%M}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M}"


def _place(row: Row) -> str:
    parts = []
    if row.named is not None:
        parts += [row.named.url.removeprefix("http://"), *row.named.labels]
        if row.named.baseline_of:
            parts.append(f"baseline of {row.named.baseline_of}")
    if row.slot is not None:
        parts.append("started here")
        if row.named is None and row.url:
            parts.append(row.url.removeprefix("http://"))
    return " · ".join(parts)


def _drafts_with(row: Row, health: Health | None) -> Cell:
    method, k = row.asked_for
    tone = Tone.PLAIN if health and health.is_up else Tone.MUTED
    found = health.found if health else None
    if found is not None:
        method, k = found.capabilities.settled(method, k)
        if method is None and found.capabilities.speculates:
            return Cell("a method it does not report", Tone.MUTED)
    if method is None:
        return UNREPORTED if found else MISSING
    if method is Method.BASELINE:
        return Cell("nothing", Tone.MUTED)
    return Cell(f"{method.value} · K {k}" if k else method.value, tone)


def _lossless(health: Health) -> Cell:
    rule = health.found.capabilities.verifier if health.found else None
    hint = rule.note if rule else ""
    verdict = is_lossless(health)
    if verdict is None:
        return Cell(f"not known: {rule.name}", Tone.MUTED, hint=hint) if rule else UNREPORTED
    if verdict:
        return Cell("yes", Tone.GOOD, hint=hint)
    return Cell(f"no: {rule.name}" if rule else "no", Tone.BAD, hint=hint)


def _acceptance(health: Health) -> Cell:
    if health.found is not None and health.found.capabilities.speculates is False:
        return Cell(NOTHING, Tone.MUTED, hint="It drafts nothing.")
    if not health.counts:
        return UNREPORTED
    found = health.acceptance
    if found is None:
        return Cell("measuring", Tone.MUTED, hint="The second check has the first difference.")
    over = f"last {duration(found.over_s)}" if found.over_s < 0.95 * WINDOW_S else ""
    rate = found.draft_acceptance_rate
    if rate is None:
        idle = "nothing drafted" if found.output_tokens else "no requests"
        return Cell(idle, Tone.MUTED, small=over)
    hint = f"{found.num_accepted_tokens:,} of {found.num_draft_tokens:,} drafted tokens"
    return Cell(f"{rate:.2f}", small=over, hint=hint, curve=found.curve)
