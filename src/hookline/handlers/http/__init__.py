"""Hooks behind a URL: what may be called, and one request to it."""
