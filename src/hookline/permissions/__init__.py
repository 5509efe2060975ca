"""Decide if a tool call may run: rules, modes, grants, and their order."""
