"""Learn: why speculative decoding is lossless, when it pays, and how each method drafts."""

from specviz.views.learn.view import show_learn

show_learn()
