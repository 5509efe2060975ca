"""Spell out git commands as their settings make them: aliases replaced, and what a push adds by itself."""

import os
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

from hookline.execguard.git.settings import (
    GitFiles,
    GitSetting,
    GitSettings,
    OptionSettings,
    UnknownSettingsError,
)

#: Options before the subcommand with a value that may follow as a word.
_WITH_VALUE: Final = frozenset(
    ("-C", "-c", "--config-env", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source")
)
_PUSH_WITH_VALUE: Final = frozenset(("-o", "--push-option", "--repo", "--receive-pack", "--exec"))
#: Subcommands that no alias can replace, and that push nothing: settings need not be read for them.
_PLAIN_WORDS: Final = """
    add am apply archive bisect blame branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone
    commit commit-tree config count-objects credential describe diff diff-files diff-index diff-tree fetch fetch-pack
    for-each-ref format-patch fsck gc grep hash-object help index-pack init log ls-files ls-remote ls-tree maintenance
    merge merge-base merge-file mv name-rev notes pack-objects pack-refs prune pull range-diff read-tree rebase
    receive-pack reflog remote rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref
    sparse-checkout stage stash status submodule switch symbolic-ref tag unpack-objects update-index update-ref
    upload-pack var verify-commit version whatchanged worktree write-tree
"""
_PLAIN: Final = frozenset(_PLAIN_WORDS.split())
#: Those among them that overwrite branches, in whatever repository variables name.
_ELSEWHERE: Final = frozenset(("branch", "fetch", "pull", "symbolic-ref", "update-ref"))
_DEEPEST_ALIAS: Final = 10
#: Settings that choose the remote of a push without a name.
_CHOOSE: Final = frozenset((("remote", "pushdefault"), ("branch", "pushremote"), ("branch", "remote")))


class GitCommand(NamedTuple):
    """A command as git understands it, and the setting that makes it so."""

    words: tuple[str, ...]
    why: str


class _Parsed(NamedTuple):
    options: OptionSettings
    #: The words before the subcommand.
    before: tuple[str, ...]
    subcommand: str
    rest: tuple[str, ...]


def may_depend(argv: tuple[str, ...]) -> bool:
    """Return False for commands that settings and variables cannot turn into another one."""
    return _parsed(_words(argv)).subcommand not in _PLAIN - _ELSEWHERE


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
        parsed = _parsed(words)
        # Nobody can tell what it does, so it is judged as the worst that settings could make of it.
        why = f"git's settings cannot be known: {error}"
        yield GitCommand(("git", *parsed.before, "push", "--mirror", *parsed.rest), why)


def _spelled_out(words: tuple[str, ...], view: GitFiles, why: str, depth: int) -> Iterator[GitCommand]:
    parsed = _parsed(words)
    if not parsed.subcommand or parsed.subcommand in _PLAIN or depth > _DEEPEST_ALIAS:
        return
    settings = GitSettings(view, parsed.options)
    if parsed.subcommand == "push":
        yield from _pushed(parsed, settings, why)
        return
    for alias in (one for one in settings.all if _is_alias(one, parsed.subcommand)):
        if alias.value.startswith("!"):
            continue  # a shell runs it, and is judged itself
        try:
            replaced = (*parsed.before, *shlex.split(alias.value), *parsed.rest)
        except ValueError:
            raise UnknownSettingsError(f"the alias {parsed.subcommand} cannot be read") from None
        because = why or alias.shown
        yield GitCommand(("git", *replaced), because)
        yield from _spelled_out(replaced, view, because, depth + 1)


def _is_alias(setting: GitSetting, subcommand: str) -> bool:
    """Return True for `alias.NAME` and `alias.NAME.command`."""
    if setting.section != "alias":
        return False
    name = f"{setting.subsection}.{setting.name}".removeprefix(".").lower()
    return subcommand.lower() in (name, name.removesuffix(".command"))


def _pushed(parsed: _Parsed, settings: GitSettings, why: str) -> Iterator[GitCommand]:
    """Yield a push with the refspecs and the mirroring that settings add."""
    operands, repository = _operands(parsed.rest)
    repository = operands[0] if operands else repository
    specs = operands[1:]
    for remote in sorted({repository} if repository else _remotes(settings)):
        named = () if repository else (remote,)
        pushes = [*settings.of("remote", remote, "push"), *settings.old_remote(remote)]
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


def _operands(rest: tuple[str, ...]) -> tuple[list[str], str]:
    """Return the operands of a push, and its `--repo`."""
    found: list[str] = []
    repository = ""
    words = iter(rest)
    for word in words:
        if word == "--":
            found.extend(words)
        elif word in _PUSH_WITH_VALUE:
            value = next(words, "")
            repository = value if word == "--repo" else repository
        elif word.startswith("--repo="):
            repository = word.removeprefix("--repo=")
        elif not word.startswith("-") or word == "-":
            found.append(word)
    return found, repository


def _parsed(words: tuple[str, ...]) -> _Parsed:
    values: dict[str, list[str]] = {}
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name, equals, value = words[at].partition("=")
        if name in _WITH_VALUE and not (equals and name.startswith("--")):
            name, value = words[at], words[at + 1] if at + 1 < len(words) else ""
            at += 1
        values.setdefault(name, []).append(value)
        at += 1
    options = OptionSettings(
        tuple(values.get("-C", ())),
        (values.get("--git-dir") or [""])[-1],
        tuple(values.get("-c", ())),
        tuple(values.get("--config-env", ())),
    )
    subcommand = words[at] if at < len(words) else ""
    return _Parsed(options, words[:at], subcommand, words[at + 1 :])
