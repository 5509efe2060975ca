"""MCP servers of the session: found in configuration, started, called, asked for by hooks."""
