"""Problems on the command line: a request that cannot be met, and mistakes in the configuration."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from hookline.cli.output import ExitStatus, note
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.errors import ConfigError, HooklineError, UnknownEventError
from hookline.model.safe_text import one_line, printable

_LONGEST = 1000


class RequestError(HooklineError):
    """What was asked for on the command line cannot be done; the message says why and what to do."""


class DiagnosticDocument(Struct, frozen=True):
    severity: Severity
    code: str
    message: str
    #: file:line
    where: str
    hook: str | None
    fix: str | None


def diagnostic_documents(
    diagnostics: Sequence[Diagnostic], redact: Callable[[str], str]
) -> tuple[DiagnosticDocument, ...]:
    """`redact` takes secrets out of names: a hook without a name is called by its command."""
    return tuple(
        DiagnosticDocument(
            one.severity, one.code, one.message, str(one.where), one.hook and redact(one.hook), one.fix
        )
        for one in diagnostics
    )


def report_problem(command: str | None, problem: HooklineError) -> ExitStatus:
    """One clear line on stderr."""
    no_hint = isinstance(problem, UnknownEventError) and problem.nearest is None
    hint = "; `hookline events` lists them" if no_hint else ""
    text = str(problem)
    if isinstance(problem, ConfigError) and not any(one.where.file for one in problem.diagnostics):
        text = "; ".join(one.message for one in problem.diagnostics)
    note(printable(f"hookline {command}: {text}{hint}" if command else f"hookline: {text}{hint}"))
    return ExitStatus.PROBLEM


def report_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """One line each, on stderr."""
    for diagnostic in diagnostics:
        note(one_line(str(diagnostic), _LONGEST))


def any_error(diagnostics: Sequence[Diagnostic]) -> bool:
    return any(one.severity == "error" for one in diagnostics)
