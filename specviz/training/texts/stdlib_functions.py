"""Short functions from the standard library's own source: real code that every Python has."""

from __future__ import annotations

import ast
import importlib
import inspect
from dataclasses import dataclass
from functools import cache
from random import Random

MODULES = """
argparse ast bisect calendar cmd code codecs collections colorsys configparser contextlib copy csv
dataclasses difflib dis enum filecmp fileinput fnmatch fractions ftplib functools getopt glob gzip
hashlib heapq hmac html inspect ipaddress keyword linecache locale logging mimetypes numbers
operator opcode optparse os pathlib pickle pkgutil platform pprint profile pstats queue quopri
random reprlib sched secrets shelve shlex shutil smtplib socket socketserver statistics string
stringprep subprocess sysconfig tabnanny tarfile tempfile textwrap threading timeit token tokenize
traceback types typing uuid warnings wave weakref zipfile posixpath genericpath json.decoder
json.encoder urllib.parse email.utils http.cookies xml.sax.saxutils concurrent.futures
""".split()
MAX_CHARACTERS = 700


@dataclass(frozen=True)
class StdlibFunction:
    """A short function of the standard library with its source."""

    module: str
    name: str
    summary: str
    source: str


def stdlib_function(rng: Random) -> StdlibFunction:
    """One of the short public functions."""
    return rng.choice(_functions())


@cache
def _functions() -> list[StdlibFunction]:
    return [function for module in MODULES for function in _functions_of(module)]


def _functions_of(module: str) -> list[StdlibFunction]:
    source = inspect.getsource(importlib.import_module(module))
    lines = source.split("\n")
    found = []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("__"):
            continue
        # ast.get_source_segment takes the whole source apart for every function: 10 s for all
        *before, last = lines[node.lineno - 1 : node.end_lineno]
        code = "\n".join([*before, last.encode()[: node.end_col_offset].decode()])
        summary = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ").strip()
        if summary and len(code) <= MAX_CHARACTERS and len(summary) < 150:
            found.append(StdlibFunction(module, node.name, summary, code))
    return found
