"""A place in a configuration file, and what is wrong there."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct, field

Path = tuple[str | int, ...]
Severity = Literal["error", "warning", "info"]


def _nowhere(_path: Path) -> int | None:
    return None


class Where(Struct, frozen=True):
    """A place in a file. The line is looked up on demand, in the text that was loaded."""

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


class Diagnostic(Struct, frozen=True):
    """A problem in a configuration: where it is, what is wrong, how to fix it."""

    severity: Severity
    #: A short stable name of the kind of mistake, such as `unknown-event`.
    code: str
    message: str
    where: Where = NOWHERE
    hook: str | None = None
    fix: str | None = None

    def __str__(self) -> str:
        place = f"{self.where}: " if str(self.where) else ""
        hook = f" (hook {self.hook})" if self.hook else ""
        fix = f"; fix: {self.fix}" if self.fix else ""
        return f"{place}{self.severity}: {self.message}{hook}{fix}"
