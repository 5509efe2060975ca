"""Where a check-up takes place, and what its checks are."""

import os
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from hookline.config.load import Loaded
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.hook import Hook


class Here(Struct, frozen=True, eq=False):
    """The directory, the user's environment, and who reads shell lines."""

    cwd: str
    env: Mapping[str, str]
    shell: ShellReader


#: Reads and looks at files; runs nothing, changes nothing.
Check = Callable[[Loaded, Here], Iterator[Diagnostic]]

#: What people call the agents whose hooks these are.
AGENTS: Mapping[str, str] = {
    "claude-code": "Claude Code",
    "gen-code": "gen-code",
    "codewhale": "CodeWhale",
    "reasonix": "Reasonix",
    "docker-agent": "Docker Agent",
    "native": "Hookline",
}


def agent_of(hook: Hook) -> str:
    return AGENTS.get(hook.dialect, hook.dialect)


def about(
    hook: Hook, severity: Severity, code: str, message: str, *path: str | int, fix: str | None = None
) -> Diagnostic:
    """Something about one hook, at its entry or at a field of it."""
    return Diagnostic(severity, code, message, hook.where.at(*path), hook.name, fix)


def entries(loaded: Loaded) -> Iterator[Hook]:
    """One hook per entry of a file: some entries stand for hooks at several moments."""
    seen: set[object] = set()
    for hook in loaded.hooks:
        place = (hook.where.file, hook.where.path) if hook.where.file else id(hook)
        if place not in seen:
            seen.add(place)
            yield hook


def project_of_file(file: str, cwd: str) -> str:
    """The project a configuration file stands in; the working directory where it stands in none."""
    folder = os.path.dirname(os.path.abspath(file)) if file else cwd
    return os.path.dirname(folder) if os.path.basename(folder).startswith(".") else folder
