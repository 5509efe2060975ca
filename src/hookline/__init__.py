"""Hookline lets code outside an AI agent see, change or stop what the agent does."""
