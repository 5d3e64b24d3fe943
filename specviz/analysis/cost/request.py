"""What one request and a million output tokens cost.

$ per request = $/h / requests/h; $ per million output tokens = $/h / 3600 / tok/s * 10^6.
"""

from __future__ import annotations

from specviz.errors import UsageError


def cost_per_request(usd_per_hour: float, requests_per_hour: float) -> float:
    """Raises UsageError for a price or a rate that is not above 0."""
    _check_price(usd_per_hour)
    if not 0 < requests_per_hour < float("inf"):
        raise UsageError(f"Requests per hour are above 0, not {requests_per_hour:g}.")
    return usd_per_hour / requests_per_hour


def cost_per_million_tokens(usd_per_hour: float, output_throughput: float) -> float:
    """Throughput in output tokens per second. Raises UsageError as `cost_per_request` does."""
    _check_price(usd_per_hour)
    if not 0 < output_throughput < float("inf"):
        raise UsageError(f"Throughput is above 0 tok/s, not {output_throughput:g}.")
    return usd_per_hour / 3600 / output_throughput * 1e6


def _check_price(usd_per_hour: float) -> None:
    if not 0 < usd_per_hour < float("inf"):
        raise UsageError(f"The price of the hardware is above 0 $/h, not {usd_per_hour:g}.")
