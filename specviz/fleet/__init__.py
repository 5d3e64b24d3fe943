"""Named servers: who they are, and how they are now."""
