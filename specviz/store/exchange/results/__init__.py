"""Results of other tools: one file per format, what is read from them, and how it is stored."""
