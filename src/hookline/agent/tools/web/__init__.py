"""Fetch pages of the web for the agent."""
