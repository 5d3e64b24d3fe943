"""Compare: two or more runs or arms side by side."""

from specviz.errors import StoreError
from specviz.views.compare import state
from specviz.views.compare.view import show_compare
from specviz.views.shared import pages
from specviz.views.shared.messages import show_error
from specviz.views.shared.sample import store_of_runs

try:
    show_compare(store_of_runs(state.asked()))
except StoreError as error:
    show_error(error)
    pages.link_back(pages.COMPARE, "Compare others")
