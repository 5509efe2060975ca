"""Hookline in agent frameworks: one module per framework, which imports it. Each has an extra of its name."""
