"""Results of a load that changed in phases."""
