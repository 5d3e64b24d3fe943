"""How dollars are written, on the page and in the terminal."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from specviz.analysis.cost.interval import Interval


def dollars(value: float | None) -> str | None:
    """Three significant digits, half up, without exponent: $0.00408, $41.2, $1,240, -$12.5."""
    if value is None:
        return None
    size = Decimal(repr(float(abs(value))))  # 0.004075 as it is written, not as it is stored
    decimals = 0 if not size else max(0, 2 - size.adjusted())
    rounded = size.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    if rounded.adjusted() > size.adjusted() and decimals:  # 9.996 became 10.00
        rounded = rounded.quantize(Decimal(1).scaleb(1 - decimals))
    return f"{'-' if value < 0 and rounded else ''}${rounded:,f}"


def dollars_with(figure: Interval | None) -> str | None:
    """`$0.00170 ($0.00160 to $0.00182)`; the figure alone where it has no interval."""
    if figure is None or figure.low is None or figure.high is None:
        return None if figure is None else dollars(figure.value)
    return f"{dollars(figure.value)} ({dollars(figure.low)} to {dollars(figure.high)})"


def percent_with(share: Interval) -> str:
    """`58 %`, or `58 % (52 to 63)`."""
    text = f"{100 * share.value:.0f} %"
    if share.low is None or share.high is None:
        return text
    return f"{text} ({100 * share.low:.0f} to {100 * share.high:.0f})"
