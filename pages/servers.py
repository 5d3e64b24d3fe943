"""Servers: what runs where, what it drafts with, and how much of it can be seen."""

import streamlit as st

from specviz.runtime import current
from specviz.views.servers.launch_form.view import before_you_start_one
from specviz.views.servers.view import show_fleet, show_ways_in

show_ways_in()
show_fleet(current())
st.subheader("Before you start one")
before_you_start_one()
