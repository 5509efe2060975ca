"""Real models for the agent and for hooks, through pydantic-ai. Nothing heavy is loaded before one is chosen."""
