"""Answer the calls of other agents: one call (`call/`), the daemon that makes them fast, and its relay."""
