"""Hooks whose work outlives the process that fired their event."""
