"""Running things: one request on several arms now, whole benchmark plans later."""
