"""Technique: whether to speculate, how and with which draft; rules of thumb, and what wins over."""

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.views.shared.messages import show_error
from specviz.views.technique.view import show_technique

try:
    show_technique(current().store)
except StoreError as error:
    show_error(error)
