"""What is to be served, and how: the same few questions for every framework."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from specviz.errors import UsageError
from specviz.methods import METHODS, Method, record_of

MTP, DFLASH, DSPARK = "mtp", "dflash", "dspark"
"""Methods of servers that the embedded engine does not have, by vLLM's names."""

METHOD_NAMES = (*(method.value for method in METHODS), MTP, DFLASH, DSPARK)

DRAFT_OF_SERVERS = {MTP: False, DFLASH: True, DSPARK: True}
"""Whether those methods need weights besides the target's; MTP layers are inside the target."""

LOOPBACK = "127.0.0.1"
LARGEST_PORT = 65_535


class Use(StrEnum):
    """What requests ask for that does not go well with speculation everywhere."""

    SAMPLING = "sampling"
    MIN_P = "min_p"
    LOGIT_BIAS = "logit_bias"
    LOGPROBS = "logprobs"
    STRUCTURED_OUTPUT = "structured_output"
    TOOL_CALLS = "tool_calls"
    PENALTIES = "penalties"
    IMAGES = "images"


@dataclass(frozen=True, slots=True)
class Request:
    """One server to start.

    `version`: of the framework; behind Triton, of its back end; None is the newest that is known.
    `k`: draft tokens that the target verifies per step, in a tree too; None leaves it to the
    framework or the checkpoint. `topk` above 1 drafts a tree of `depth` levels. `uses`: what
    requests ask for, None if that is not known. `backend`: Triton's. `folder`: where the files
    will be, as it is to stand in the command. `extra`: arguments that are passed on.

    Raises UsageError for sizes, ports and names that cannot be.
    """

    framework: str
    model: str
    method: str = Method.DRAFT_MODEL.value
    draft: str | None = None
    version: str | None = None
    k: int | None = None
    topk: int = 1
    depth: int | None = None
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    data_parallel: int = 1
    host: str = LOOPBACK
    port: int | None = None
    backend: str | None = None
    uses: frozenset[Use] | None = None
    folder: str = ""
    extra: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise UsageError("Name the target: a folder, a file or a Hugging Face name.")
        if self.method not in METHOD_NAMES:
            names = ", ".join(METHOD_NAMES)
            raise UsageError(f"There is no method {self.method!r}: choose from {names}.")
        sizes = {
            "K": self.k,
            "top-k": self.topk,
            "depth": self.depth,
            "tensor parallel size": self.tensor_parallel,
            "pipeline parallel size": self.pipeline_parallel,
            "data parallel size": self.data_parallel,
        }
        for name, size in sizes.items():
            if size is not None and size < 1:
                raise UsageError(f"{name} is {size}, but must be 1 or more.")
        if self.port is not None and not 1 <= self.port <= LARGEST_PORT:
            raise UsageError(f"Port {self.port} is not between 1 and {LARGEST_PORT}.")
        _check_draft(self.method, self.draft)
        _check_tree(self)

    @property
    def speculates(self) -> bool:
        return self.method != Method.BASELINE

    @property
    def is_tree(self) -> bool:
        return self.topk > 1

    @property
    def gpus(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.pipeline_parallel

    def in_folder(self, path: str) -> str:
        """A file's path as the command names it."""
        return f"{self.folder.rstrip('/')}/{path}" if self.folder else path


def needs_draft(method: str) -> bool:
    """Whether a method needs weights besides the target's."""
    record = record_of(method)
    return DRAFT_OF_SERVERS[method] if record is None else record.needs_draft


def may_have_draft(method: str) -> bool:
    """Whether a method can be given weights of its own."""
    return needs_draft(method) or method == MTP


def _check_draft(method: str, draft: str | None) -> None:
    if draft is None and needs_draft(method):
        record = record_of(method)
        weights = record.draft if record else f"{method} draft"
        raise UsageError(f"{method} needs a draft: name the {weights}.")
    if draft is not None and not draft.strip():
        raise UsageError("The draft's name is empty.")
    if draft is not None and not may_have_draft(method):
        raise UsageError(f"{method} drafts without weights of its own: leave the draft out.")


def _check_tree(request: Request) -> None:
    if not request.is_tree:
        if request.depth is not None:
            raise UsageError("Depth is a tree's: give a top-k above 1, or leave depth out.")
        return
    if request.k is None or request.depth is None:
        raise UsageError("A tree needs K, the tokens verified per step, and its depth.")
    if request.k < request.depth:
        raise UsageError(f"K is {request.k}: a tree of depth {request.depth} has at least as many.")
