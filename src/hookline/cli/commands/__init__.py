"""One package per command: `__init__` has its parser and must import fast, `run` does the work, `report` shows it."""
