"""One file per way to draft. `open_proposer` makes the one that a configuration names."""
