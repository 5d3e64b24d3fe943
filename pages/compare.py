"""Compare: two or more runs or arms side by side."""

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.views.compare.view import show_compare
from specviz.views.shared import pages
from specviz.views.shared.messages import show_error

try:
    show_compare(current().store)
except StoreError as error:
    show_error(error)
    pages.link_back(pages.COMPARE, "Compare others")
