"""What the form of a launch remembers: every control under a key, those of a link in the URL."""

from __future__ import annotations

FRAMEWORK = "launch_framework"
BACKEND = "launch_backend"
METHOD = "launch_method"
TARGET = "launch_target"
DRAFT = "launch_draft"
K = "launch_k"
TOPK, DEPTH = "launch_topk", "launch_depth"
TENSOR, PIPELINE, DATA = "launch_tp", "launch_pp", "launch_dp"
PORT = "launch_port"
USES = "launch_uses"
FLAGS = "launch_flags"


def version_key(framework: str, backend: str | None) -> str:
    """A version is chosen for each framework by itself, and behind Triton for its back end."""
    return "_".join(
        ["launch_version", framework.replace(".", "_"), *([backend] if backend else [])]
    )
