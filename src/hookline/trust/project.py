"""The project a directory belongs to, whether the user vouches for all of it, and where trust in it is kept."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from hookline.dialects.dialect import upward
from hookline.dialects.files import read_file, settings_files

#: No line of git's own small files is longer.
_MOST = 4096


def project_root(cwd: str) -> str:
    """The root of the repository, as a real path; outside of one the directory itself."""
    return os.path.realpath(upward(os.path.abspath(cwd))[-1])


def lookup_directory(cwd: str, markers: Sequence[str], home: str) -> str | None:
    """The directory whose hooks count for `cwd`; None where it is in no project. Real paths.

    In a repository that is the directory itself, because loading looks upward from there. Elsewhere it is the nearest
    directory above with one of the markers: the files and folders of agents. From inside the home directory nothing
    at or above it counts, because the markers there are the user's own folders. Above the directory itself, markers
    count only if they belong to its owner, to this user or to root: every user can write to /tmp.
    """
    start = os.path.realpath(cwd)
    if os.path.lexists(os.path.join(upward(start)[-1], ".git")):
        return start
    home = os.path.realpath(home) if os.path.isabs(home) else ""
    owners = {0, os.geteuid(), *_owners(start)}
    directory = start
    while True:
        found = [path for name in markers if os.path.lexists(path := os.path.join(directory, name))]
        if found and (directory == start or owners.issuperset(_owners(directory, *found))):
            return directory
        parent = os.path.dirname(directory)
        if directory == home or parent in (directory, home):
            return None
        directory = parent


def trust_root(root: str) -> str:
    """The directory that trust is kept under: worktrees share that of their repository.

    Any directory can claim to be a worktree of a trusted repository, so the repository has to name it, too.
    """
    named = _line(os.path.join(root, ".git")).removeprefix("gitdir:").strip()
    if not named:
        return root
    own = os.path.realpath(os.path.join(root, named))
    back = _line(os.path.join(own, "gitdir"))
    common = os.path.realpath(os.path.join(own, _line(os.path.join(own, "commondir")) or "."))
    listed = os.path.dirname(own) == os.path.join(common, "worktrees")
    known = back and os.path.realpath(os.path.join(own, back)) == os.path.join(root, ".git")
    if not (listed and known and os.path.basename(common) == ".git"):
        return root
    return os.path.dirname(common)


def is_inside(file: str, directory: str) -> bool:
    """Whether a path is the directory or below it. Both are absolute, and links are not followed."""
    return file == directory or file.startswith(directory.rstrip(os.sep) + os.sep)


def _owners(*paths: str) -> Iterator[int]:
    for path in paths:
        with suppress(OSError):
            yield os.lstat(path).st_uid


def _line(file: str) -> str:
    """The first line of a small regular file; nothing for anything else."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, _MOST).decode("utf-8", "replace")
    except OSError:  # a directory
        return ""
    finally:
        os.close(descriptor)
    return text.partition("\n")[0].strip()


def vouches_for(root: str, env: Mapping[str, str]) -> bool:
    """Whether `trusted = [...]` of the user's settings names the project or a directory above it."""
    home = os.path.realpath(env.get("HOME", "") or os.sep)
    return any(
        is_inside(root, os.path.realpath(os.path.join(home, os.path.expanduser(directory))))
        for file in settings_files(env)
        # Settings inside the project are the project's own, also where a link leads to them.
        if home == root or not is_inside(os.path.realpath(file), root)
        for directory in _trusted_directories(read_file(file).value)
        if directory.strip()
    )


def _trusted_directories(settings: Any) -> list[str]:
    if not isinstance(settings, Mapping):
        return []
    table = cast("Mapping[str, Any]", settings)
    agent: Any = table.get("agent")
    lists: list[Any] = [table.get("trusted")]
    if isinstance(agent, Mapping):
        lists.append(cast("Mapping[str, Any]", agent).get("trusted"))
    return [
        each
        for some in lists
        if isinstance(some, list)
        for each in cast("list[Any]", some)
        if isinstance(each, str)
    ]
