"""The table's rows: servers that people named, and those that were started here. Pure data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specviz.methods import Method
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import ServerPhase, Slot
from specviz.store.named_servers import NamedServer


@dataclass(frozen=True, slots=True)
class Row:
    """One server. `url` is None while one that is started here is not up; at least one of `named`
    and `slot` is there."""

    name: str
    url: str | None
    named: NamedServer | None = None
    slot: Slot | None = None

    @property
    def key(self) -> str:
        """Other rows have another one; two servers that start can have one name."""
        return f"{self.name}_{self.url or hash(self.slot and self.slot.spec)}"

    @property
    def asked_for(self) -> tuple[Method | None, int | None]:
        """Method and K with which it was started here."""
        if self.slot is None:
            return None, None
        return self.slot.spec.method, self.slot.spec.num_speculative_tokens


def rows_of(named: Sequence[NamedServer], slots: Sequence[Slot]) -> list[Row]:
    """Named servers, then the others that were started here; one that is both has one row."""
    shown = [slot for slot in slots if slot.phase is not ServerPhase.STOPPED]
    by_url = {slot.server.url: slot for slot in shown if slot.server}
    rows = [Row(one.name, one.url, one, by_url.get(one.url)) for one in named]
    urls = {row.url for row in rows}
    for slot in shown:
        url = slot.server.url if slot.server else None
        if url is None or url not in urls:
            rows.append(Row(spec_title(slot.spec), url, slot=slot))
    return rows


def spec_title(spec: ServerSpec) -> str:
    """Short name of a server: `Llama-8B · draft_model · K 5`."""
    k = spec.num_speculative_tokens
    parts = [Path(spec.model).name, spec.method.value, *([f"K {k}"] if k else [])]
    return " · ".join(parts)
