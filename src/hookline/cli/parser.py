"""Read command lines and report their mistakes: argparse in our terms."""

import argparse
from typing import Any

from hookline.cli.output import ExitStatus, note, show


class CommandParser(argparse.ArgumentParser):
    """Parser that prints help to stdout, and mistakes as one line on stderr."""

    #: The parser of the one command in this one: it knows the usage that a mistake is about.
    of_command: "CommandParser | None" = None

    def error(self, message: str) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] argparse says NoReturn; so do we, with our own status
        from hookline.model.safe_text import printable

        note(printable(f"{self.format_usage()}{self.prog}: {message}"))
        self.exit(ExitStatus.PROBLEM)

    def print_help(self, file: Any = None) -> None:
        del file  # the user asked for help, so it always goes to stdout
        if status := show(self.format_help().rstrip("\n")):
            self.exit(status)
