"""Configurations of proxies that send each request to a plain or a speculating server."""
