"""Test that a hook at every event of each format gets what the agent knows."""
