"""Manage trust in what a project brings: its items, the stored answers of the user, and what may run."""
