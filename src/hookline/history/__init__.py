"""Replay today's hooks on past sessions, and find the tool calls that hooks missed."""
