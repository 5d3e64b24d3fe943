"""JSON and YAML: it parses as what was asked for, and holds the facts of the reference."""

from __future__ import annotations

import json
from typing import Any

import yaml

from specviz.training.corpus import Document

_Pairs = list[tuple[str, Any]]


def wrong_structure(document: Document, text: str) -> str | None:
    """Why `text` does not hold the facts. Order of keys and layout do not count, types do."""
    is_json = document.answer.startswith(("{", "["))
    parse = parsed_json if is_json else parsed_yaml
    wanted = parse(document.answer)
    try:
        got = parse(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        first_line = str(error).partition("\n")[0]
        return f"It is not {'JSON' if is_json else 'YAML'}: {first_line}."
    return difference(got, wanted, "it")


def parsed_json(text: str) -> Any:
    """Raises ValueError, for a key that comes twice too."""
    return json.loads(text, object_pairs_hook=_unique)


def parsed_yaml(text: str) -> Any:
    """Raises YAMLError or ValueError.

    An alias is refused: a few lines of them describe more than fits into memory.
    """
    if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
        raise ValueError("it has an alias")
    _check_keys(yaml.compose(text, Loader=yaml.SafeLoader))
    return yaml.safe_load(text)


def _check_keys(node: yaml.Node | None) -> None:
    """PyYAML keeps the last of two equal keys and says nothing."""
    if isinstance(node, yaml.MappingNode):
        _unique([(str(key.value), value) for key, value in node.value])
        for _, value in node.value:
            _check_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _check_keys(value)


def difference(got: Any, wanted: Any, place: str) -> str | None:
    """A sentence on the first value that differs, None if there is none; `place` says where."""
    if type(got) is not type(wanted):
        return f"{place} is {_shown(got)} instead of {_shown(wanted)}."
    if isinstance(wanted, dict):
        if missing := [key for key in wanted if key not in got]:
            return f"{place} has no {missing[0]}."
        if further := [key for key in got if key not in wanted]:
            return f"{place} has {further[0]!r}, which is not asked for."
        pairs = [(got[key], wanted[key], str(key)) for key in wanted]
    elif isinstance(wanted, list):
        if len(got) != len(wanted):
            return f"{place} has {len(got)} entries instead of {len(wanted)}."
        numbered = enumerate(zip(got, wanted, strict=True), start=1)
        pairs = [(one, other, f"{place} {at}") for at, (one, other) in numbered]
    else:
        return None if got == wanted else f"{place} is {_shown(got)} instead of {_shown(wanted)}."
    found = (difference(one, other, where) for one, other, where in pairs)
    return next(filter(None, found), None)


def _unique(pairs: _Pairs) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value)[:80]
