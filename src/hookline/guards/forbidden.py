"""Judge what the options of a guard name: paths, hosts and commands that the user forbids."""

import os
from collections.abc import Iterator

from hookline.actions.action import Action, PathContext
from hookline.guards.file_actions import file_actions
from hookline.guards.paths import CallFiles
from hookline.guards.settings import GuardSettings
from hookline.matching.shell_rules import shell_argument
from hookline.model.hook import Doubt
from hookline.model.safe_text import one_line
from hookline.shell import HOLE, ShellReader, base_name

_LONGEST_SHOWN = 200
_LONGEST_HOST = 255
#: Kinds of tools that look at everything below their path.
_SEARCHES = frozenset(("grep", "glob", "list"))
#: What is seen, what is said of it, and a doubt.
Found = tuple[str, str, str]


class ForbiddenJudge:
    """The paths, hosts and commands that one guard forbids."""

    def __init__(self, settings: GuardSettings, reader: ShellReader) -> None:
        self._settings = settings
        self._reader = reader

    def findings(self, action: Action, path_context: PathContext) -> Iterator[Found]:
        settings = self._settings
        if settings.paths:
            yield from self._paths(action, path_context)
        if settings.hosts:
            yield from self._hosts(action)
        if settings.commands and (line := action.line) is not None:
            yield from self._commands(line, path_context.cwd)

    # Files

    def _paths(self, action: Action, path_context: PathContext) -> Iterator[Found]:
        files = _Forbidden(path_context, self._settings)
        for one in (action, *file_actions((action,), path_context, self._reader)):
            kind = one.kind
            if kind is None or not kind.access or kind.access not in self._settings.uses:
                continue
            below = kind.name in _SEARCHES or bool(one.extra.get("below"))
            for path in one.paths:
                forbidden = files.forbidden(path, below=below)
                if forbidden is not None:
                    yield (
                        one_line(path.replace(HOLE, "…"), _LONGEST_SHOWN),
                        f"is in {forbidden}, which may not be {_PAST[kind.access]}",
                        "",
                    )
        line = action.line
        if line is not None and self._reader.read(line).uncertain is not None:
            for forbidden in self._settings.paths:
                if base_name(forbidden.rstrip("/")) in line:
                    yield forbidden, "", f"the line names {forbidden}, and cannot be read"

    # Hosts

    def _hosts(self, action: Action) -> Iterator[Found]:
        url, line = action.arguments.get("url"), action.line
        texts = [url] if isinstance(url, str) else []
        if line is not None:
            reading = self._reader.read(line)
            words = (word for command in reading.commands for word in command.words)
            texts += (
                [*words, *reading.foreign] if action.kind is None or action.kind.name != "code" else [line]
            )
        for host in self._settings.hosts:
            for text in texts:
                for found in _hosts_in(text, host):
                    if not any(found in _hosts_in(found, one) for one in self._settings.allow):
                        yield found, f"is {host}, which may not be reached", ""

    # Commands

    def _commands(self, line: str, cwd: str) -> Iterator[Found]:
        for pattern in self._settings.commands:
            argument = shell_argument(
                pattern if " " in pattern or "*" in pattern else f"{pattern} *", self._reader
            )
            answer = argument.judge({"command": line}, cwd)
            if isinstance(answer, Doubt):
                yield pattern, "", answer.text
            elif answer:
                yield pattern, "may not be run", ""


_PAST = {"read": "read", "write": "written or deleted"}


class _Forbidden(CallFiles):
    """The paths that a guard forbids, from the directory of a call."""

    def __init__(self, path_context: PathContext, settings: GuardSettings) -> None:
        super().__init__(path_context, settings)
        base = path_context.root or path_context.cwd
        self._forbidden = [
            (pattern, each)
            for pattern in settings.paths
            if (whole := self.whole(pattern, base)) is not None
            for each in dict.fromkeys((whole, os.path.realpath(whole)))
        ]

    def forbidden(self, path: str, *, below: bool) -> str | None:
        """Return the forbidden path that a path is, is in, or leads to; with `below` also one that is in it."""
        texts = tuple(dict.fromkeys((os.path.normpath(path), os.path.realpath(path))))
        for pattern, whole in self._forbidden:
            for text in texts:
                inside = _fits(whole, text) or (below and _is_in(whole, text))
                if inside and not self._is_allowed(texts):
                    return pattern
        return None


def _fits(whole: str, path: str) -> bool:
    if any(mark in whole for mark in "*?["):
        from fnmatch import fnmatchcase  # noqa: PLC0415 few paths are patterns

        return fnmatchcase(path, whole) or fnmatchcase(path, f"{whole.rstrip('/')}/*")
    return _is_in(path, whole) or _may_be_in(path, whole)


def _is_in(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _may_be_in(path: str, whole: str) -> bool:
    """Return True if a pattern of the shell that matches no file here may match the forbidden path."""
    if "*" not in path:
        return False
    steps, wanted = path.split("/"), whole.split("/")
    if len(steps) < len(wanted):
        return False
    from fnmatch import fnmatchcase  # noqa: PLC0415 as above

    return all(fnmatchcase(one, step) for one, step in zip(wanted, steps, strict=False))


def _hosts_in(text: str, host: str) -> Iterator[str]:
    """Yield the names in a text that are this host or one below it."""
    plain, folded, end = host.casefold().removeprefix("*.").strip("."), text.casefold(), 0
    while plain and (at := folded.find(plain, end)) >= 0:
        end = at + len(plain)
        start = at
        while start and at - start < _LONGEST_HOST and _is_in_host(folded[start - 1]):
            start -= 1
        last = folded[end : end + 2]
        longer = _is_in_host(last[:1]) and not (last[:1] == "." and not _is_in_host(last[1:]))
        if not longer and (start == at or folded[at - 1] == "."):
            yield folded[start:end]


def _is_in_host(character: str) -> bool:
    return character.isalnum() or (bool(character) and character in "-._")
