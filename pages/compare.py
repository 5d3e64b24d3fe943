"""Compare: two or more runs or arms side by side."""

import streamlit as st

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.views.compare.view import show_compare
from specviz.views.shared import pages

try:
    show_compare(current().store)
except StoreError as error:
    st.error(str(error), icon=":material/error:")
    pages.link_back(pages.COMPARE, "Compare others")
