"""Describe a position in a configuration file, and a mistake there."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct, field

Path = tuple[str | int, ...]
Severity = Literal["error", "warning", "info"]


def _nowhere(_path: Path) -> int | None:
    return None


class Where(Struct, frozen=True):
    """A position in a file. The line is computed on demand, from the text that was loaded."""

    file: str = ""
    path: Path = ()
    locate: Callable[[Path], int | None] = field(default=_nowhere)

    @property
    def line(self) -> int | None:
        return self.locate(self.path)

    def at(self, *more: str | int) -> "Where":
        return Where(self.file, (*self.path, *more), self.locate)

    def __str__(self) -> str:
        line = self.line
        return f"{self.file}:{line}" if line is not None else self.file


NOWHERE = Where()


class Repair(Struct, frozen=True):
    """A change that certainly mends a finding; `hookline doctor --fix` makes it."""

    how: Literal[
        "rename", "set", "remove", "join", "group", "list", "move", "escape", "executable", "line-ends"
    ]
    #: The value in the file that is changed.
    path: Path = ()
    #: The new key of `rename`, the new value of `set`, the new path of `move`.
    value: Any = None
    #: Another file than the finding's, as a script.
    file: str = ""


class Diagnostic(Struct, frozen=True):
    """A finding in a configuration: where it is, what is wrong, how to fix it.

    ::

        for diagnostic in engine.load(cwd).diagnostics:
            print(diagnostic)
    """

    severity: Severity
    #: A short stable name of the kind of mistake, such as `unknown-event`.
    code: str
    message: str
    where: Where = NOWHERE
    hook: str | None = None
    fix: str | None = None
    repair: Repair | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if str(self.where) else ""
        hook = f" (hook {self.hook})" if self.hook else ""
        fix = f"; fix: {self.fix}" if self.fix else ""
        return f"{place}{self.severity}: {self.message}{hook}{fix}"
