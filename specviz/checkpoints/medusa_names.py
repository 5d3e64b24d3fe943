"""Names of Medusa's tensors: those of the authors' files become those that are served.

vLLM 0.32, models/medusa.py: `0.0.linear.weight` is `blocks.0.layers.0.weight`, `0.1.weight`
`lm_heads.0.weight`.
"""

from __future__ import annotations


def served_name(name: str) -> str:
    """`name` as vLLM serves it."""
    name = name.replace("medusa_heads.", "")
    head, _, rest = name.partition(".")
    layer, _, last = rest.partition(".")
    if not (head.isdigit() and layer.isdigit() and last):
        return name
    if "linear" in last.split("."):
        return f"blocks.{head}.layers.{layer}.{last.partition('linear.')[2]}"
    return f"lm_heads.{head}.{last}"
