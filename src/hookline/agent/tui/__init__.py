"""Run `hookline agent` in the terminal, with a screen. Needs the extra `tui`."""
