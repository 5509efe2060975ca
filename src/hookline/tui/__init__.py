"""The terminal app: what `hookline agent` shows at a terminal. Needs the extra `tui`."""
