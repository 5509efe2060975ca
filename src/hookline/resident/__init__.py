"""Calls of other agents: answered by one process each, or by the resident, a server of the user."""
