"""Compare: two or more runs or arms side by side."""

import streamlit as st

st.subheader("Compare")
