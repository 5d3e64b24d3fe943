"""A page with nothing but the token strip: `?source=/ws/…&mode=live`."""

import streamlit as st

from specviz.views.shared.token_strip import token_strip

st.set_page_config(layout="wide")
source = st.query_params.get("source", "")
mode = "replay" if st.query_params.get("mode") == "replay" else "live"
height = int(st.query_params.get("height", 360))
token_strip(source, mode=mode, key="strip", height=height, link=st.query_params.get("link"))
st.session_state.runs = st.session_state.get("runs", 0) + 1
st.write(f"reruns: {st.session_state.runs - 1}")
