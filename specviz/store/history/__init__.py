"""What was run: lists, edits, comparisons."""
