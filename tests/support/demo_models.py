"""The small models of the tests, see tests/models/README.md."""

from __future__ import annotations

from pathlib import Path

from specviz.methods import Method

MODELS = Path(__file__).parent.parent / "models"
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
