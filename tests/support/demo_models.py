"""The small models of the tests and the prompts that they know, see tests/models/README.md."""

from __future__ import annotations

from pathlib import Path

from specviz.config import Prompt
from specviz.methods import Method
from specviz.prompts.shipped import load_prompts

MODELS = Path(__file__).parent.parent / "models"
KNOWN_PROMPTS = MODELS / "prompts"
DEMO_TARGET = MODELS / "demo-target"
DEMO_DRAFT = MODELS / "demo-draft"
DRAFTS = {
    Method.DRAFT_MODEL: DEMO_DRAFT,
    Method.MIRROR: DEMO_DRAFT,
    Method.MEDUSA: MODELS / "demo-medusa",
    Method.EAGLE: MODELS / "demo-eagle",
    Method.EAGLE3: MODELS / "demo-eagle3",
}
"""The draft of each method that needs one."""


def known_prompts(category: str) -> tuple[Prompt, ...]:
    """40 prompts of a category that the models answer, and of which they accept drafts."""
    return load_prompts(category, KNOWN_PROMPTS)
