"""Servers: what specviz started on this machine, and a check of any other server."""

import streamlit as st

from specviz.runtime import current
from specviz.views.servers.launch_form.view import before_you_start_one
from specviz.views.servers.view import check_server, started_servers

st.subheader("Started on this machine")
started_servers(current().servers)
st.subheader("Check a server")
check_server()
st.subheader("Before you start one")
before_you_start_one()
