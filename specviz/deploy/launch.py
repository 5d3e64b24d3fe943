"""What starts a server: a command, files, and what to know before."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

INDENT = " \\\n  "


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to know before the launch.

    `text`: a sentence. `source`: where it was read. `url`: of the source, None if it was not read
    on the web. `effect`: what happens, a word of `specviz.deploy.problems.EFFECTS`; empty if this
    is a note and nothing happens.
    """

    text: str
    source: str
    url: str | None = None
    effect: str = ""

    def to_dict(self) -> dict[str, str]:
        return {
            "text": self.text,
            "source": self.url or self.source,
            "read_in": self.source,
            "effect": self.effect,
        }


@dataclass(frozen=True, slots=True)
class Launch:
    """A server that can be started.

    `argv`: the command. `prepare`: commands before it. `files`: text by path, relative to where
    the files go. `remarks`: known problems and notes, what breaks first.
    """

    framework: str
    version: str
    argv: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "framework": self.framework,
            "version": self.version,
            "prepare": [list(command) for command in self.prepare],
            "argv": list(self.argv),
            "env": dict(self.env),
            "files": dict(self.files),
            "warnings": [remark.to_dict() for remark in self.remarks],
        }

    @property
    def script(self) -> str:
        """The commands as one pastes them into a shell, an option per line."""
        before = [shlex.join(command) for command in self.prepare]
        env = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        return "\n".join([*before, INDENT.join([*env, *_lines(self.argv)])])


def _lines(argv: Sequence[str]) -> list[str]:
    """The program with what it serves, then each option with its values."""
    lines: list[list[str]] = [[]]
    for word in argv:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return [shlex.join(line) for line in lines if line]
