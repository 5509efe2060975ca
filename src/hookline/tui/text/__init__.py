"""Text for the terminal: cleaned, laid out, in blocks."""
