"""vllm-router in front of servers where load alone decides.

None of its policies reads a request's sampling parameters (0.1.17), so it cannot follow a rule by
temperature, nor keep requests from a server that refuses them.
"""

from __future__ import annotations

from specviz.fleet.routing.route import Route

PORT = 8080


def vllm_router_command(route: Route) -> list[str]:
    """The command: of two random servers, the one with fewer requests gets the next."""
    urls = [server.url for server in (*route.plain, *route.speculating)]
    command = ["vllm-router", "--worker-urls", *urls]
    return [*command, "--policy", "power_of_two", "--host", "127.0.0.1", "--port", str(PORT)]
