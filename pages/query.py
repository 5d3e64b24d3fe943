"""Query: questions to all stored runs, with SQL or without."""

import streamlit as st

st.subheader("Query")
