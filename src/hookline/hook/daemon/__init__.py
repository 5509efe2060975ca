"""Answer calls of other agents: one process for each, or the daemon, a server of the user."""
