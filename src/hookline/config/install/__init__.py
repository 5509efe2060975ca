"""Hookline in the files of other agents: what would change, how files are written, and what was there before."""
