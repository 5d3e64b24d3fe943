"""Where the time of an engine step goes, and what that makes of a method."""
