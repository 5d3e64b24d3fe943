"""The decision tree, drawn in the browser: boxes that light up, leaves that can be clicked."""

from specviz.views.technique.drawing.component import CLICKED, draw_tree

__all__ = ["CLICKED", "draw_tree"]
