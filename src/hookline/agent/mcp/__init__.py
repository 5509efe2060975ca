"""Configure, start and call the MCP servers of a session, for tools and hooks, and handle their questions."""
