"""Users' SQL on the store."""
