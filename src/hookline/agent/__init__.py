"""Run a coding agent in the terminal: the executable specification of when each event fires."""
