"""Walk over a parsed line: find what it runs, with the known values of its variables, functions and files."""
