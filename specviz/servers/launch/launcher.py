"""A server as asked for, and how servers of its kind are started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from specviz.config import EngineKind, check_draft_is_used, check_k
from specviz.errors import UsageError
from specviz.methods import METHODS, Method, served_by
from specviz.policy.file import read_policy

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, eq=False)
class Launcher:
    """How one kind of server is started.

    name              the product's name, as users read it
    engine            the engine that a plan or `--engine` names to get such a server; under the
                      same name `specviz.methods` lists the methods that it has
    command           the arguments that start a server
    environment       the environment of its process
    printed           a command that serves the same, for people to copy
    ready_path        answers with status 200 once the server is ready
    stage             what a server that is still loading does now, from its log
    failure_reason    why it failed, from the path of its log; None if the log does not say
    api_key_variable  the environment variable that gives a server its API key
    a_flag            one of its flags with a value, as an example of how they are written
    runs_on_cpu       whether servers started here run on the CPU
    follows_policies  whether such a server can give every request its own K
    has_schedule      whether such a server takes a K for each batch size
    """

    name: str
    engine: EngineKind
    command: Callable[[ServerSpec], list[str]]
    environment: Callable[[ServerSpec], dict[str, str]]
    printed: Callable[[ServerSpec], str]
    ready_path: str
    stage: Callable[[str], str]
    failure_reason: Callable[[Path], str | None]
    api_key_variable: str
    a_flag: str
    runs_on_cpu: Callable[[], bool]
    follows_policies: bool = False
    has_schedule: bool = False


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server as asked for: everything its command line is made of.

    `port` None takes a free one, `k` None the method's default. `extra_args` are the server's own
    flags, which go behind ours and win over them. `policy`: a file of `specviz.policy` that the
    server follows. `schedule`: K by batch size, [first, last, K], K 0 for off. Raises UsageError
    for what it cannot do.
    """

    launcher: Launcher
    model: str
    method: Method = Method.BASELINE
    draft: str | None = None
    k: int | None = None
    port: int | None = None
    trace: bool = True
    extra_args: tuple[str, ...] = ()
    policy: Path | None = None
    schedule: tuple[tuple[int, int, int], ...] = ()

    def __post_init__(self) -> None:
        _check_method(self.launcher, self.method)
        check_k(self.method, self.k)
        _check_draft(self.method, self.draft)
        if self.policy is not None:
            _check_policy(self, self.policy)
        if self.schedule and (self.method is Method.BASELINE or not self.launcher.has_schedule):
            raise UsageError(
                "A schedule of K is for a server that speculates and takes one, which "
                f"{self.launcher.name} with {self.method.value} does not: leave it out."
            )
        if self.port is not None and not 1 <= self.port <= 65535:
            raise UsageError(f"A port is a number from 1 to 65535, not {self.port}.")
        if any(argument.partition("=")[0] == "--port" for argument in self.extra_args):
            raise UsageError(
                f"Give the port with specviz's own --port, before {self.launcher.name}'s flags."
            )

    @property
    def num_speculative_tokens(self) -> int | None:
        """K as the server will use it; None for the baseline."""
        return self.k or METHODS[self.method].servers[self.launcher.engine].default_k


def _check_method(launcher: Launcher, method: Method) -> None:
    if launcher.engine not in METHODS[method].servers:
        names = ", ".join(served_by(launcher.engine))
        raise UsageError(
            f"{launcher.name} does not have the method {method.value}: choose one of {names}."
        )


def _check_policy(spec: ServerSpec, path: Path) -> None:
    if not spec.launcher.follows_policies:
        raise UsageError(f"{spec.launcher.name} has one K for all requests: leave --policy out.")
    read_policy(path).check_server(spec.num_speculative_tokens)


def _check_draft(method: Method, draft: str | None) -> None:
    check_draft_is_used(method, draft)
    if METHODS[method].needs_draft and not draft:
        raise UsageError(
            f"The method {method.value} needs a draft model: name its folder or Hugging Face id "
            "with --draft."
        )
