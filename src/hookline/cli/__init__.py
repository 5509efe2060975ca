"""The command line: `main` picks a command of `commands`; the other modules are what the commands share."""
