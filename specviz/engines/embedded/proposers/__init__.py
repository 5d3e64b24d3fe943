"""One file per method. `open_proposer` makes the proposer that a configuration names."""
