"""K: what the number of draft tokens does, measured, predicted, by formula and published."""

import streamlit as st

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.views.k.controls import ask
from specviz.views.k.view import show_k
from specviz.views.shared.messages import show_error

controls, results = st.columns([1, 3.4], gap="medium")
try:
    with controls:
        asked = ask(current().store)
    with results:
        show_k(asked)
except StoreError as error:
    show_error(error)
