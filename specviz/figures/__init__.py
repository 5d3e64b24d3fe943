"""Data in, plotly figures out, in one style."""
