"""The walk over a parsed line: what it runs, with what its variables, functions and files are known to hold."""
