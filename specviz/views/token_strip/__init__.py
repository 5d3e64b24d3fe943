"""The token strip: every accept/reject decision of up to four arms, drawn in the browser."""

from specviz.views.token_strip.component import token_strip

__all__ = ["token_strip"]
