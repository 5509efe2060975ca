"""The command line. Each command is one file with `add_parser` and `run`; imports wait until it runs."""
