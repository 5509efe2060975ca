"""Prepare text for the terminal: clean it, lay it out, split it into blocks."""
