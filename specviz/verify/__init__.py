"""`specviz verify`: what holds of a baseline and a speculating server, line by line."""
