"""How requests are sent: a steady load, or one that changes in phases."""
