"""The draft of one step as a tree: the context's end on the left, a column per depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.analysis.depths import accepted_path
from specviz.analysis.text import probability_text, shortened, token_name
from specviz.analysis.tree_layout import layout
from specviz.analysis.verdict_text import candidate_text, judgement_text
from specviz.figures.style import MONO, Ground, blended, plain, token_label
from specviz.palette import ACCEPTED, RECOVERED, REJECTED
from specviz.trace import ROOT, EmittedToken, Origin, Step, TokenDecision, Verdict

ROW_PX = 52
LEAST_ROWS = 2
BOX_PX = (120, 40)  # width and height with numbers
NARROW_PX = 24  # height without
CHART_PX = 980  # the narrowest page that the boxes are made for
CHARACTER_PX = 8
CONTEXT_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class _Node:
    """One box: a drafted token, the target's own token after the path, or the context's end."""

    column: int
    row: float
    parent: int  # in the list of nodes; -1 for the context's end itself
    name: str
    numbers: str
    hover: str
    colour: str
    faded: bool = False
    on_path: bool = False


def draft_tree(step: Step, context: str, ground: Ground, *, typical: bool = False) -> go.Figure:
    """Every drafted token of `step` with its verdict; hovering shows all that is known.

    `context` is the text before the step, empty for the first one. `typical`: the arm judges by
    typical acceptance, at temperature above 0.
    """
    nodes = _nodes(step, context, ground, typical=typical)
    columns = max(node.column for node in nodes) + 1
    rows = round(max(node.row for node in nodes)) + 1
    box_px = min(BOX_PX[0], CHART_PX // columns - 16)
    figure = go.Figure()
    for child in nodes[1:]:
        figure.add_scatter(**_edge(nodes[child.parent], child, ground))
    figure.add_scatter(**_hover_points(nodes))
    for node in nodes:
        figure.add_annotation(**_box(node, box_px, ground))
    return _laid_out(figure, columns, rows, ground)


def _nodes(step: Step, context: str, ground: Ground, *, typical: bool) -> list[_Node]:
    own = [token for token in step.emitted if token.origin is not Origin.ACCEPTED]
    path = accepted_path(step)
    last = path[-1] if path else ROOT
    parents = [token.parent for token in step.drafted] + [last] * len(own)
    placed = layout(parents)
    nodes = [_context_node(context, placed.root_row, ground)]
    for place, token in enumerate(step.drafted):
        hover = _token_hover(step, place, typical=typical)
        nodes.append(_token_node(token, placed.rows[place], hover, ground))
    column = len(path) + 1
    for added, row in zip(own, placed.rows[len(step.drafted) :], strict=True):
        nodes.append(_own_node(added, column, row, last + 1, ground))
    return nodes


def _context_node(context: str, row: float, ground: Ground) -> _Node:
    end = context[-CONTEXT_CHARACTERS:]
    shown = f"…{token_name(end[-9:])}" if end else "prompt"
    hover = f"the context ends with<br>{token_label(end)}" if end else "the end of the prompt"
    return _Node(0, row, ROOT, shown, "context", hover, ground.muted)


def _token_node(token: TokenDecision, row: float, hover: str, ground: Ground) -> _Node:
    unverified = token.verdict is Verdict.UNVERIFIED
    colours = {Verdict.ACCEPTED: ACCEPTED, Verdict.REJECTED: REJECTED}
    probabilities = [token.target_prob, token.draft_prob, token.accept_prob]
    target, draft, accept = ("–" if value is None else f"{value:.2f}" for value in probabilities)
    return _Node(
        column=token.depth,
        row=row,
        parent=token.parent + 1,
        name=token_name(token.text),
        numbers=plain(f"{target} / {draft}" + ("" if unverified else f" → {accept}")),
        hover=hover,
        colour=colours.get(token.verdict, ground.muted),
        faded=unverified,
        on_path=token.verdict is Verdict.ACCEPTED,
    )


def _own_node(token: EmittedToken, column: int, row: float, parent: int, ground: Ground) -> _Node:
    colours = {Origin.RECOVERED: RECOVERED, Origin.BONUS: ground.bonus}
    why = {
        Origin.RECOVERED: "drawn by the target in place of the rejected ones",
        Origin.BONUS: "the draft was accepted to its end, so the target adds one more",
    }
    lines = [f"<b>{token_label(token.text, 400)}</b>", f"token id {_or_unknown(token.token_id)}"]
    hover = "<br>".join([*lines, f"{token.origin.value}: {why.get(token.origin, '')}"])
    colour = colours.get(token.origin, ground.muted)
    name = token_name(token.text)
    return _Node(column, row, parent, name, token.origin.value, hover, colour, on_path=True)


def _token_hover(step: Step, place: int, *, typical: bool) -> str:
    token = step.drafted[place]
    lines = [
        f"<b>{token_label(token.text, 400)}</b>",
        f"token id {_or_unknown(token.token_id)} · depth {token.depth} · "
        f"candidate {candidate_text(step, token)}",
        f"<b>{token.verdict.value}</b>",
        *_probability_lines(token),
    ]
    if rule := judgement_text(step, place, typical=typical):
        lines.append(plain(rule))
    if token.target_top:
        lines.append("target's best here:")
        lines += [
            f"  {token_label(top.text)} {plain(probability_text(top.prob) or '')}"
            for top in token.target_top
        ]
    return "<br>".join(lines)


def _probability_lines(token: TokenDecision) -> Iterator[str]:
    for label, value in (
        ("target probability", token.target_prob),
        ("draft probability", token.draft_prob),
        ("accept probability", token.accept_prob),
        ("u", token.u),
    ):
        if value is not None:
            yield f"{label} {plain(probability_text(value) or '')}"


def _or_unknown(value: int | None) -> str:
    return "not reported" if value is None else str(value)


def _edge(parent: _Node, child: _Node, ground: Ground) -> dict[str, object]:
    """An elbow between two boxes; the accepted path is the thick one."""
    bend = parent.column + 0.5
    colour = blended(child.colour, ground.background, 0.45 if child.faded else 1.0)
    return {
        "x": [parent.column, bend, bend, child.column],
        "y": [parent.row, parent.row, child.row, child.row],
        "mode": "lines",
        "line": {
            "color": colour,
            "width": 3 if child.on_path else 1.5,
            "dash": "dot" if child.faded else "solid",
        },
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _hover_points(nodes: Sequence[_Node]) -> dict[str, object]:
    return {
        "x": [node.column for node in nodes],
        "y": [node.row for node in nodes],
        "mode": "markers",
        "marker": {"size": 36, "opacity": 0},
        "hovertext": [node.hover for node in nodes],
        "hoverinfo": "text",
        "showlegend": False,
    }


def _box(node: _Node, width_px: int, ground: Ground) -> dict[str, object]:
    """The box of a node: as wide as its neighbours, the numbers only where there is room."""
    wide = width_px >= BOX_PX[0]
    share = 0.6 if node.faded else 1.0
    most = max(2, (width_px - 8) // CHARACTER_PX)
    name = plain(shortened(node.name, most))
    struck = f"<s>{name}</s>" if node.colour == REJECTED or node.faded else name
    small = f"<br><span style='font-size:10px'>{node.numbers}</span>" if wide else ""
    return {
        "x": node.column,
        "y": node.row,
        "text": f"{struck}{small}",
        "width": width_px,
        "height": BOX_PX[1] if wide else NARROW_PX,
        "showarrow": False,
        "align": "center",
        "valign": "middle",
        "bgcolor": blended(node.colour, ground.background, 0.08 if node.faded else 0.17),
        "bordercolor": blended(node.colour, ground.background, share),
        "borderwidth": 2 if node.on_path else 1,
        "font": {
            "family": MONO,
            "size": 13,
            "color": ground.muted if node.faded else ground.ink,
        },
    }


def _laid_out(figure: go.Figure, columns: int, rows: int, ground: Ground) -> go.Figure:
    drawn, middle = max(rows, LEAST_ROWS), (rows - 1) / 2
    figure.update_layout(
        height=drawn * ROW_PX + 20,
        margin={"l": 0, "r": 0, "t": 8, "b": 8},
        hovermode="closest",
        hoverdistance=60,
        hoverlabel={
            "align": "left",
            "bgcolor": ground.background,
            "bordercolor": ground.line,
            "font": {"family": MONO, "size": 12, "color": ground.ink},
        },
        dragmode=False,
    )
    figure.update_xaxes(visible=False, range=[-0.55, max(columns, 5) - 0.45], fixedrange=True)
    figure.update_yaxes(
        visible=False, range=[middle + drawn / 2, middle - drawn / 2], fixedrange=True
    )
    return figure
