"""A command line, where it is run, and what it did."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from tests.cli.run_cli import Ran, Workspace, run_cli


class Command(Struct, frozen=True):
    where: Workspace
    words: Sequence[str]
    stdin: str = ""
    env: Mapping[str, str] = {}

    def run(self) -> Ran:
        return run_cli(self.words, self.where.project, self.where.home, env=self.env, stdin=self.stdin)


def command(where: Workspace, line: str, **given: Any) -> Command:
    """Of a line as it is typed into a shell."""
    return Command(where, shlex.split(line), **given)
