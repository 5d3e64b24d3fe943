"""The token strip: scripts, styles and messages, for pages and reports."""
