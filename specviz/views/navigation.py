"""The script that Streamlit runs: which pages there are, in which order."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from specviz.paths import PROJECT_ROOT

_PAGES = PROJECT_ROOT / "pages"

_HERE = Path(__file__).parent

st.set_page_config(
    page_title="specviz",
    page_icon=str(_HERE / "icon.svg"),
    layout="wide",
    initial_sidebar_state=200,  # pixels: page names are short, strips are not
)
st.html(_HERE / "page.css")
st.logo(str(_HERE / "wordmark.svg"), size="large")
st.navigation(
    {
        "": [
            st.Page(_PAGES / "live.py", title="Live", icon=":material/play_circle:", default=True),
            st.Page(_PAGES / "run.py", title="Runs", icon=":material/replay:", url_path="run"),
            st.Page(
                _PAGES / "compare.py",
                title="Compare",
                icon=":material/difference:",
                url_path="compare",
            ),
            st.Page(
                _PAGES / "query.py",
                title="Query",
                icon=":material/database_search:",
                url_path="query",
            ),
            st.Page(
                _PAGES / "benchmark.py",
                title="Benchmark",
                icon=":material/speed:",
                url_path="benchmark",
            ),
        ],
        "Decide": [
            st.Page(_PAGES / "k_explorer.py", title="K", icon=":material/tune:", url_path="k"),
            st.Page(
                _PAGES / "decision.py",
                title="Technique",
                icon=":material/account_tree:",
                url_path="decide",
            ),
            st.Page(_PAGES / "cost.py", title="Cost", icon=":material/payments:", url_path="cost"),
            st.Page(_PAGES / "learn.py", title="Learn", icon=":material/school:", url_path="learn"),
        ],
        "Data": [
            st.Page(
                _PAGES / "servers.py", title="Servers", icon=":material/dns:", url_path="servers"
            ),
        ],
    }
).run()
