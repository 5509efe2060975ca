"""What the agent knows, as a hook at every event of each format gets it."""
