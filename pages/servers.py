"""Servers: what runs where, what it drafts with, and how much of it can be seen."""

import streamlit as st

from specviz.runtime import current
from specviz.views.servers.launch_form.view import start_one
from specviz.views.servers.view import show_fleet

show_fleet(current())
st.subheader("Start one")
start_one(current().servers)
