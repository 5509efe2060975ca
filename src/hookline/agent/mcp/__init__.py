"""MCP servers of a session: configured, started, called by tools and by hooks, and their questions."""
