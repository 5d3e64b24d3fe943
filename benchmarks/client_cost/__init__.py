"""What load generators cost, over recorded streams."""
