"""The HTML file: everything in one page, nothing from anywhere else, no script but its own.

A Content-Security-Policy allows exactly the one script and the one style of the page, by their
hashes, and no request at all. https://www.w3.org/TR/CSP3/
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from specviz import __version__
from specviz.report.bench_part import bench_part, elsewhere_part
from specviz.report.content import Content, Replay
from specviz.report.markup import text
from specviz.report.run_part import run_part
from specviz.report.scripts import page_style, script
from specviz.strip import assets

NAMED = 3
"""Names in the title."""

_ESCAPES = {ord(mark): f"\\u{ord(mark):04x}" for mark in ("<", ">", "&", "\u2028", "\u2029")}


def page(content: Content) -> str:
    """The whole document."""
    code = script()
    title = _title(content)
    parts = [
        "<!doctype html>\n",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(code)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{text(title)}</title><style>{page_style()}</style></head><body>",
        f'<h1>{text(title)}</h1><p class="muted">specviz {text(__version__)}, exported '
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC</p>",
        _left_out(content.left_out),
        *map(bench_part, content.benchmarks),
        _replay() if content.replays else "",
        *(run_part(shown, content.runs) for shown in content.runs),
        *map(elsewhere_part, content.results),
        f'<script type="application/json" id="replays">{_data(content.replays)}</script>',
        f'<script type="module">{code}</script></body></html>\n',
    ]
    return "".join(parts)


def _policy(code: str) -> str:
    styles = f"{_hash(page_style())} {_hash(assets.style())}"
    return (
        f"default-src 'none'; script-src {_hash(code)}; style-src {styles}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _title(content: Content) -> str:
    """`Code, eagle3 · K 5 (3 times) and 2 more`: each name once, the first three of them."""
    names = Counter(
        [
            *(found["name"] for found in content.benchmarks),
            *(shown.row["name"] or shown.run.config.title for shown in content.runs),
            *(row["name"] for row in content.results),
        ]
    )
    listed = [name if count == 1 else f"{name} ({count} times)" for name, count in names.items()]
    more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
    return ", ".join(listed[:NAMED]) + more


def _left_out(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    lines = "".join(f"<p>{text(sentence)}</p>" for sentence in sentences)
    return f'<div class="left-out">{lines}</div>'


def _replay() -> str:
    return (
        '<section><h2>Replay</h2><label class="choice">request '
        '<select id="replay-choice"></select></label>'
        '<div id="replay"><template shadowrootmode="open">'
        f"<style>{assets.style()}</style>{assets.markup()}</template></div></section>"
    )


def _data(replays: Sequence[Replay]) -> str:
    """JSON that no parser of HTML takes for a tag or a comment."""
    listed = [
        f'{{"title": {json.dumps(text_of(replay.title))}, '
        f'"messages": [{", ".join(replay.messages)}]}}'
        for replay in replays
    ]
    return f"[{', '.join(listed)}]".translate(_ESCAPES)


def text_of(title: str) -> str:
    """An option of a list keeps one line."""
    return " ".join(title.split())
