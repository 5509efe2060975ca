"""Choose a shell under the exec guard in an agent's settings, where the agent lets its user choose one."""

import os
from collections.abc import Iterator, Mapping
from typing import Final

from hookline.config.install.files import snapshot
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import InstallError, Site, located, without
from hookline.documents.document import format_of, read_document
from hookline.documents.edit import found_at, read_value, with_value

#: The programs that are a shell under the exec guard, by the name of the shell.
OWN_SHELLS: Final = {"bash": "hookline-bash", "zsh": "hookline-zsh"}
_SHELL: Final = "SHELL"


def is_own_shell(program: str) -> bool:
    """Return True for a shell of Hookline's."""
    return os.path.isabs(program) and os.path.basename(program) in OWN_SHELLS.values()


def shell_in(dialect: Dialect, file: str, text: str | None) -> str:
    """Return the shell that a file of the agent chooses; empty if it chooses none."""
    if not dialect.shell_setting or not text:
        return ""
    value = read_document(text, format_of(file) or "json", file, comments=True).value
    found = found_at(value, dialect.shell_setting)
    return found if isinstance(found, str) else ""


def own_shell(dialect: Dialect, site: Site, directory: str) -> str:
    """Return our program for the shell that the user has, in the directory of Hookline's programs.

    Raises InstallError where there is none, or the agent has no setting for it.
    """
    if not dialect.shell_setting:
        raise InstallError("it has no setting for its shell: leave --exec-guard out")
    if site.scope not in ("user", "managed"):
        raise InstallError(
            "a shell is only chosen for all your projects (--user) or for everybody (--managed): leave --exec-guard out"
        )
    usual = os.path.basename(site.env.get(_SHELL, ""))
    name = next((name for name in OWN_SHELLS if name in usual), "bash")
    program = os.path.join(directory, OWN_SHELLS[name])
    if not os.access(program, os.X_OK):
        raise InstallError(f"{program} is not there: install Hookline again")
    return program


def with_shell(dialect: Dialect, file: str, text: str | None, program: str) -> str:
    """Return a file of the agent with our shell. Raises InstallError if the user has chosen another."""
    known = shell_in(dialect, file, text)
    if known and not is_own_shell(known):
        setting = ".".join(dialect.shell_setting)
        raise InstallError(
            f"{setting} in {file} is {known[:200]!r}, your own choice: remove it, or leave --exec-guard out"
        )
    if known == program:
        return text or ""
    text, form = text or "{}\n", format_of(file) or "json"
    *table, name = dialect.shell_setting
    with located(file):
        if found_at(read_value(text, form), tuple(table)) is None:
            return with_value(text, form, tuple(table), {name: program})
        return with_value(text, form, dialect.shell_setting, program)


def without_shell(
    dialect: Dialect, texts: Mapping[str, str | None], originals: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the agent's files without our shell."""
    result = dict(texts)
    for file, text in texts.items():
        if text and is_own_shell(shell_in(dialect, file, text)):
            form, before = format_of(file) or "json", originals.get(file)
            kept = read_document(before, form, file, comments=True).value if before else None
            with located(file):
                result[file] = without(text, form, dialect.shell_setting, kept, file in originals)
    return result


def other_shells(dialect: Dialect, project: str) -> Iterator[tuple[str, str]]:
    """Yield files of the project that choose a shell, which replaces the user's, and that shell."""
    for name in dialect.project_files if dialect.shell_setting else ():
        file = os.path.join(project, name)
        try:
            found = shell_in(dialect, file, snapshot(file).text)
        except InstallError:
            continue
        if found:
            yield file, found
