"""A coding agent for the terminal, and the executable specification of when each event fires."""
