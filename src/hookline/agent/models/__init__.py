"""Provide models for the agent and for hooks: a script, or a provider through pydantic-ai, which is loaded
when chosen.
"""
