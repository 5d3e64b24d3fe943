"""Starting servers, watching them load, and stopping them."""
