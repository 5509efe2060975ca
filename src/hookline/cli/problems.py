"""What is wrong with a configuration, as commands that are about something else tell it."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from hookline.cli.output import tell
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.safe_text import one_line, printable

PROBLEM = 1
#: More than fits a sentence is nobody's message.
_LONGEST = 1000


class DiagnosticDocument(Struct, frozen=True):
    severity: Severity
    code: str
    message: str
    #: file:line
    where: str
    hook: str | None
    fix: str | None


def diagnostic_documents(
    diagnostics: Sequence[Diagnostic], named: Callable[[str], str]
) -> tuple[DiagnosticDocument, ...]:
    """`named` is how hooks are called where secrets must not stand."""
    return tuple(
        DiagnosticDocument(
            one.severity, one.code, one.message, str(one.where), one.hook and named(one.hook), one.fix
        )
        for one in diagnostics
    )


def tell_problem(command: str, problem: Exception) -> int:
    """What was asked for cannot be done: one clear line, and the status that says so."""
    lost = isinstance(problem, UnknownEventError) and problem.nearest is None
    hint = "; `hookline events` lists them" if lost else ""
    said = str(problem)
    if isinstance(problem, ConfigError) and not any(one.where.file for one in problem.diagnostics):
        said = "; ".join(one.message for one in problem.diagnostics)
    tell(printable(f"hookline {command}: {said}{hint}"))
    return PROBLEM


def tell_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """One line each, on stderr."""
    for diagnostic in diagnostics:
        tell(one_line(str(diagnostic), _LONGEST))


def any_error(diagnostics: Sequence[Diagnostic]) -> bool:
    return any(one.severity == "error" for one in diagnostics)
