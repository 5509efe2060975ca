"""The conversation on disk: its records, written, read back and found again."""
