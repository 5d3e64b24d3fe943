"""A policy as the servers' own schedules take it: K by batch size, a file per framework."""
