"""How a figure is written, on every page and in the terminal."""

from __future__ import annotations


def digits(value: float | None) -> str | None:
    """Three significant digits, without exponent: 0.637, 4.10, 41.3, 1,240."""
    if value is None:
        return None
    rounded = float(f"{value:.3g}")  # 9.996 has one digit before the point, 10.0 has two
    if rounded >= 100:
        return f"{value:,.0f}"
    if rounded >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if rounded >= 1 else f"{value:.3f}"


def probability_text(value: float | None) -> str | None:
    """Three decimals; what is smaller than that and not 0 says so."""
    if value is None:
        return None
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"
