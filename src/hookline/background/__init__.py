"""Hooks nobody waits for: who owns them while they run, and where their word arrives later."""
