"""Where the project keeps what it ships and what it writes."""

from __future__ import annotations

from pathlib import Path

from specviz.config import Method

PROJECT_ROOT = Path(__file__).resolve().parent.parent
DATA = PROJECT_ROOT / "data"
MODELS = DATA / "models"
PROMPTS = DATA / "prompts"
PLANS = DATA / "plans"
LOGS = PROJECT_ROOT / "logs"

DEMO_TARGET = MODELS / "demo-target"
DEMO_DRAFT = MODELS / "demo-draft"
DEMO_DRAFTS = {
    Method.DRAFT_MODEL: DEMO_DRAFT,
    Method.MIRROR: DEMO_DRAFT,
    Method.MEDUSA: MODELS / "demo-medusa",
    Method.EAGLE: MODELS / "demo-eagle",
    Method.EAGLE3: MODELS / "demo-eagle3",
}
"""What the methods that draft with weights of their own use on the demo target."""
