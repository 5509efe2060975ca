"""Run the command line: `main` picks a command of `commands`; the other modules are shared by the commands."""
