"""Files of a checkpoint, each read no further than what it says holds."""
