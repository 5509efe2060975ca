"""Derive file walls from guards: what `write-outside-project` and `secrets-read` forbid, the kernel refuses."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from hookline.actions.action import Action, PathContext
from hookline.actions.kinds import KINDS
from hookline.execguard.judge import ExecRules, GuardRow
from hookline.execguard.messages import FileWall
from hookline.guards.judge import GuardJudge
from hookline.guards.rows import GuardLineReader
from hookline.guards.settings import read_settings
from hookline.guards.spec import policy_of
from hookline.shell import ShellReader

_WRITES: Final = "write-outside-project"
_SECRETS: Final = "secrets-read"
_TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108 - as the guard has it
#: Directories below the home directory are searched so deep, and no more entries than this.
_DEEPEST: Final = 3
_MOST_ENTRIES: Final = 5000
_READ: Final = KINDS["read"]


def file_wall(rules: ExecRules, directories: Sequence[str] = ()) -> FileWall | None:
    """Return the wall of the guards that are active; None if neither is. `directories` may be written to."""
    by_name = {row.name: row for row in rules.guards}
    writes: tuple[str, ...] | None = None
    if _WRITES in by_name:
        allowed = read_settings(policy_of(_WRITES), by_name[_WRITES].args).allow
        named = (os.path.expanduser(path) for path in allowed)
        temporary = (*_TEMPORARY, *((rules.temporary,) if rules.temporary else ()))
        writes = tuple(filter(os.path.isabs, (rules.project, *directories, *temporary, *named)))
    hidden = tuple(secret_files(by_name[_SECRETS], rules)) if _SECRETS in by_name else ()
    return FileWall(writes, hidden) if writes is not None or hidden else None


def secret_files(row: GuardRow, rules: ExecRules) -> Iterator[str]:
    """Yield the secrets in the home directory. Those of the project stay: beside them the command makes files."""
    policy = policy_of(row.name)
    judge = GuardJudge(policy, read_settings(policy, row.args), GuardLineReader(ShellReader()))
    place = PathContext(rules.project, rules.project, rules.home, rules.temporary)
    project = os.path.realpath(rules.project)
    for path in _entries(rules.home):
        if project == path or project.startswith(path + "/"):
            continue
        found = judge.finding((Action(_READ, _READ.tool, {"file_path": path}),), place)
        if found is not None and not found.doubt:
            yield path


def _entries(home: str) -> Iterator[str]:
    """Yield files and hidden directories of a home directory, and what is in those."""
    left = [(home, 1)] if home else []
    count = 0
    while left:
        directory, depth = left.pop()
        try:
            entries = list(os.scandir(directory))
        except OSError:
            continue
        for entry in entries:
            count += 1
            if count > _MOST_ENTRIES:
                return
            yield entry.path
            inner = entry.is_dir(follow_symlinks=False) and (depth > 1 or entry.name.startswith("."))
            if inner and depth < _DEEPEST:
                left.append((entry.path, depth + 1))
