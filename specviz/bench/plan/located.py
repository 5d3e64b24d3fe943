"""A plan whose named servers have their addresses."""

from __future__ import annotations

from dataclasses import replace

from specviz.bench.plan.plan import Plan
from specviz.errors import UsageError
from specviz.fleet.named import find_named
from specviz.store import Store


def located(plan: Plan, store: Store) -> Plan:
    """The plan with the URL of every server that an arm names, as the fleet has it now.

    Raises UsageError for a server that the fleet does not have, StoreError.
    """
    arms = []
    for arm in plan.arms:
        if arm.server is None:
            arms.append(arm)
            continue
        try:
            url = find_named(store, arm.server).url
        except UsageError as error:
            raise UsageError(f"The plan cannot run. {error}") from error
        arms.append(replace(arm, config=replace(arm.config, server_url=url)))
    return replace(plan, arms=tuple(arms))
