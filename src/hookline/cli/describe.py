"""Hooks and diagnostics as commands show them: what a hook runs, how long it may take, where it is configured."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.journal.journal import Journal
    from hookline.model.hook import Hook

Waits = Literal["sync", "async", "rewake"]
Unit = Literal["s", "ms"]

_LONGEST = 200


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


def redactor(journal: "Journal") -> Callable[[str], str]:
    """Takes secrets out of texts of a configuration: commands, matchers, and names, which may be commands."""
    return lambda text: journal.cleaned(Run(hook="", detail=text)).detail


def what_it_runs(hook: "Hook") -> str:
    """The command, the address, the question or the tool."""
    describe = _BY_KIND.get(hook.kind)
    found = describe(hook.spec) if describe is not None and hook.spec is not None else ""
    return " ".join(found.split())[:_LONGEST] or hook.name


def waits_of(hook: "Hook") -> Waits:
    """Whether the agent waits for it; never if its policy does not wait."""
    if hook.waiting == "wait":
        return "sync" if hook.policy.waits else "async"
    return hook.waiting


def timeout_in(unit: Unit, hook: "Hook") -> float:
    """In the unit of its file, so that it can be compared with what is written there."""
    return hook.timeout * 1000 if unit == "ms" else hook.timeout


def means_hook(texts: Sequence[str], name: str, source: str) -> bool:
    """One of the texts is part of its name, or, written like a place (with / or :), of its file and line."""
    for text in texts:
        if text.casefold() in name.casefold():
            return True
        if ("/" in text or ":" in text) and text in source:
            return True
    return False


def with_tilde(file: str, env: Mapping[str, str] = os.environ) -> str:
    """A file below the user's home with ~ for it."""
    home = env.get("HOME", "").rstrip("/")
    return f"~{file[len(home) :]}" if home and file.startswith(f"{home}/") else file


def with_tildes(text: str, env: Mapping[str, str] = os.environ) -> str:
    """A sentence in which files below the user's home have ~ for it."""
    home = env.get("HOME", "").rstrip("/")
    return text.replace(f" {home}/", " ~/") if home else text


def short_source(source: str) -> str:
    """A file and line as short as it stays clear: below the working directory, below the home, or in full."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    if len(here) > 1 and source.startswith(f"{here}/"):
        return source[len(here) + 1 :]
    return with_tilde(source)


def _command(spec: Any) -> str:
    return " ".join([spec.command, *(spec.args or ())])


def _address(spec: Any) -> str:
    from hookline.dialects.report import url_label

    return url_label(spec.url)


def _prompt(spec: Any) -> str:
    return f"{spec.model}: {spec.prompt}" if spec.model else spec.prompt


_BY_KIND: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "command": _command,
        "http": _address,
        "prompt": _prompt,
        "agent": _prompt,
        "mcp_tool": lambda spec: f"{spec.server}/{spec.tool}",
        "builtin": lambda spec: " ".join([spec.name, *spec.args]),
        "function": lambda spec: spec.name,
    }
)
