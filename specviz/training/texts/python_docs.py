"""What Python says about itself: the first sentence of its docstrings."""

from __future__ import annotations

import builtins
import inspect
import itertools
import math
import os.path
import random
import statistics
import string
import textwrap
from functools import cache
from typing import Any


@cache
def documented() -> list[tuple[str, str]]:
    """(qualified name, first sentence of its docstring) of Python's own functions and methods."""
    found: list[tuple[str, str]] = []
    owners: list[Any] = [
        builtins,
        str,
        list,
        dict,
        set,
        bytes,
        math,
        itertools,
        statistics,
        string,
        textwrap,
    ]
    for owner in [*owners, os.path, random]:
        for name, member in sorted(vars(owner).items()):
            if not callable(member):
                continue
            doc = inspect.getdoc(member)
            borrowed = inspect.ismodule(owner) and member.__module__ not in (
                owner.__name__,
                "genericpath",
            )
            if name.startswith("_") or not doc or borrowed:
                continue
            first = " ".join(doc.split("\n\n")[0].split())
            if 15 < len(first) < 160 and "->" not in first and "..." not in first:
                title = name if owner is builtins else f"{owner.__name__}.{name}"
                found.append((title.replace("posixpath", "os.path"), first))
    return found
