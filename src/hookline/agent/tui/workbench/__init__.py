"""Show events as they fire, and let the user read, mend, replay and test the hooks that ran (F3)."""
