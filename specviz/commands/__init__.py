"""The commands, one per file with its options; `specviz.cli` adds them to the app."""
