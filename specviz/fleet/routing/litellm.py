"""A LiteLLM proxy in front of plain and speculating servers: its files, and how it is started.

LiteLLM has no strategy that reads a request's temperature. A proxy hook (`data/routing`, read by
LiteLLM from the folder of its configuration) renames the model to one of two groups, and LiteLLM's
own fallbacks go to the other group where no server of a group answers. Tried with 1.100.0.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from specviz.fleet.routing.route import Route, routing_rows
from specviz.paths import DATA
from specviz.policy.policy import Policy
from specviz.store.named_servers import NamedServer

STRATEGY = "specviz_routing.py"


def litellm_files(route: Route, policy: Policy) -> dict[str, str]:
    """Texts by file name: the proxy's configuration, the strategy and its rule.

    The configuration is JSON, which is YAML too.
    """
    return {
        "config.yaml": json.dumps(_config(route), indent=2, ensure_ascii=False) + "\n",
        "routing.json": json.dumps(_rule(route, policy), indent=2, ensure_ascii=False) + "\n",
        STRATEGY: (DATA / "routing" / STRATEGY).read_text(encoding="utf-8"),
    }


def _config(route: Route) -> dict[str, Any]:
    plain, speculating = f"{route.model}/plain", f"{route.model}/speculating"
    groups = ((plain, route.plain), (speculating, route.speculating))
    return {
        "model_list": [
            _deployment(group, server, route.model)
            for group, servers in groups
            for server in servers
        ],
        "router_settings": {
            "routing_strategy": "least-busy",
            "model_group_alias": {route.model: plain},
            "num_retries": 0,
            "fallbacks": [{plain: [speculating]}, {speculating: [plain]}],
        },
        "litellm_settings": {
            "callbacks": f"{STRATEGY.removesuffix('.py')}.routing",
            "telemetry": False,
        },
    }


def _deployment(group: str, server: NamedServer, model: str) -> dict[str, Any]:
    key = f"os.environ/{server.key_env}" if server.key_env else "none"
    return {
        "model_name": group,
        "litellm_params": {
            "model": f"openai/{model}",
            "api_base": f"{server.url}/v1",
            "api_key": key,
            # what LiteLLM would refuse or drop, because OpenAI's own models lack it
            "allowed_openai_params": ["logit_bias", "top_k", "min_p"],
        },
        "model_info": {"id": server.name},
    }


def _rule(route: Route, policy: Policy) -> dict[str, Any]:
    return {
        "model": route.model,
        "speculating_servers": len(route.speculating),
        "requests_running": list(policy.requests_running),
        "rows": [asdict(row) for row in routing_rows(policy)],
        "refused": list(route.refused),
    }
