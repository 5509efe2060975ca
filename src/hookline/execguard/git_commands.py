"""Spell out git commands as their settings make them: aliases replaced, and what a push adds by itself."""

import os
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

from hookline.guards.git_settings import (
    GitCall,
    GitFiles,
    GitSettings,
    UnknownSettingsError,
    git_call,
    is_alias,
)
from hookline.shell.options import readings
from hookline.shell.placeholders import Words
from hookline.shell.programs import table

#: Sub-commands that overwrite branches, in whatever repository variables name.
_ELSEWHERE: Final = frozenset(("branch", "fetch", "pull", "symbolic-ref", "update-ref"))
_DEEPEST_ALIAS: Final = 10
#: They push: settings add to what the first one overwrites.
_PUSHES: Final = ("push", "send-pack")
#: Settings that choose the remote of a push without a name.
_CHOOSE: Final = frozenset((("remote", "pushdefault"), ("branch", "pushremote"), ("branch", "remote")))


class GitCommand(NamedTuple):
    """A command as git understands it, and the setting that makes it so."""

    words: tuple[str, ...]
    why: str


def may_depend(argv: tuple[str, ...]) -> bool:
    """Return False for commands that settings and variables cannot turn into another one."""
    subcommand = git_call(_words(argv)).subcommand
    return subcommand in _ELSEWHERE or not _is_plain(subcommand)


def _is_plain(subcommand: str) -> bool:
    """Return True if no alias can replace it, and it pushes nothing: settings need not be read for it."""
    row = table().get(f"git {subcommand}") if " " not in subcommand else None
    return row is not None and not row.optional and subcommand not in _PUSHES


def _words(argv: tuple[str, ...]) -> tuple[str, ...]:
    base = os.path.basename(argv[0]) if argv else ""
    return (base.removeprefix("git-"), *argv[1:]) if base.startswith("git-") else argv[1:]


def spelled_out(argv: tuple[str, ...], view: GitFiles) -> Iterator[GitCommand]:
    """Yield what settings make of a git command, besides what its words say."""
    words = _words(argv)
    if words != argv[1:]:
        yield GitCommand(("git", *words), "")
    git_dir = view.env.get("GIT_DIR")
    if git_dir:
        yield GitCommand(("git", f"--git-dir={git_dir}", *words), "GIT_DIR")
    try:
        yield from _spelled_out(words, view, "", 0)
    except UnknownSettingsError as error:
        parsed = git_call(words)
        # Nobody can tell what it does, so it is judged as the worst that settings could make of it.
        why = f"git's settings cannot be known: {error}"
        yield GitCommand(("git", *parsed.before, "push", "--mirror", *parsed.rest), why)


def _spelled_out(words: tuple[str, ...], view: GitFiles, why: str, depth: int) -> Iterator[GitCommand]:
    parsed = git_call(words)
    if not parsed.subcommand or _is_plain(parsed.subcommand) or depth > _DEEPEST_ALIAS:
        return
    settings = GitSettings(view, parsed)
    if settings.unknown is not None:
        raise settings.unknown
    if parsed.subcommand == "push":
        yield from _pushed(parsed, settings, why)
        return
    for alias in (one for one in settings.all if is_alias(one, parsed.subcommand)):
        if alias.value.startswith("!"):
            continue  # a shell runs it, and is judged itself
        try:
            replaced = (*parsed.before, *shlex.split(alias.value), *parsed.rest)
        except ValueError:
            raise UnknownSettingsError(f"the alias {parsed.subcommand} cannot be read") from None
        because = why or alias.shown
        yield GitCommand(("git", *replaced), because)
        yield from _spelled_out(replaced, view, because, depth + 1)


def _pushed(parsed: GitCall, settings: GitSettings, why: str) -> Iterator[GitCommand]:
    """Yield a push with the refspecs and the mirroring that settings add."""
    for operands, repositories in dict.fromkeys(_operands(parsed.rest)):
        yield from _pushed_to(operands[:1] or repositories, operands[1:], parsed, settings, why)


def _pushed_to(
    repositories: Words, specs: Words, parsed: GitCall, settings: GitSettings, why: str
) -> Iterator[GitCommand]:
    for remote in sorted(repositories or _remotes(settings)):
        named = () if repositories else (remote,)
        pushes = [*settings.of("remote", remote, "push"), *settings.old_remote(remote)]
        if settings.unknown is not None:
            raise settings.unknown
        if specs and all(":" in spec for spec in specs):
            pushes = []  # a spec with both sides is pushed as it is
        for one in pushes:
            yield GitCommand(
                ("git", *parsed.before, "push", *parsed.rest, *named, one.value), why or one.shown
            )
        for mirror in settings.of("remote", remote, "mirror"):
            if mirror.is_true:
                words = ("git", *parsed.before, "push", "--mirror", *parsed.rest, *named)
                yield GitCommand(words, why or mirror.shown)


def _remotes(settings: GitSettings) -> set[str]:
    """Return the remotes that a push without a name may go to."""
    chosen = {one.value for one in settings.all if (one.section, one.name) in _CHOOSE}
    remotes = {one.subsection for one in settings.all if one.section == "remote"} - {""}
    return {"origin", *(remotes if len(remotes) == 1 else ()), *chosen}


def _operands(rest: Words) -> Iterator[tuple[Words, Words]]:
    """Yield the operands of a push, and its `--repo`, in every reading of options that are not known."""
    row = table().get("git push")
    for read in readings(rest, row.spec) if row is not None else ():
        yield read.operands, read.values("--repo")[-1:]
