"""`specviz servers`: the fleet at a shell."""
