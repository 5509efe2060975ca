"""How command lines are read and their mistakes reported: argparse in our terms.

A module of its own, because `hookline hook` as agents call it does without argparse.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from hookline.cli.output import ExitStatus, columns, note, show


def help_format(prog: str) -> argparse.HelpFormatter:
    """Keeps the line breaks of our texts, and does not ask shutil for the width."""
    return argparse.RawDescriptionHelpFormatter(prog, width=min(columns(100), 110))


class Parser(argparse.ArgumentParser):
    """Help goes to stdout, mistakes are one line on stderr."""

    def error(self, message: str) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] argparse says NoReturn; so do we, with our own status
        from hookline.model.safe_text import printable

        note(printable(f"{self.format_usage()}{self.prog}: {message}"))
        self.exit(ExitStatus.PROBLEM)

    def print_help(self, file: Any = None) -> None:
        del file  # help is what was asked for, so it always goes to stdout
        if status := show(self.format_help().rstrip("\n")):
            self.exit(status)

    def parse_everywhere(self, words: Sequence[str]) -> argparse.Namespace:
        """argparse takes positional words from one stretch only; those after an option count as well."""
        args, rest = self.parse_known_args(words)
        if rest and (not hasattr(args, "words") or any(word.startswith("-") for word in rest)):
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        if rest:
            args.words = [*args.words, *rest]
        return args
