"""Find the project of a directory, if the user trusts all of it, and where trust in it is stored."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, cast

from hookline.dialects.dialect import upward
from hookline.dialects.files import read_file, settings_files
from hookline.disk import DISK, Disk
from hookline.model.hook import Scope
from hookline.trust.items import shown_path

#: No line of git's own small files is longer.
_MOST = 4096
#: Scopes that only the user or the system can give.
_TRUSTED_SCOPES: frozenset[Scope] = frozenset(("managed", "flag"))


class ProjectFiles:
    """The project of a directory: the files that belong to it, and how items name them."""

    def __init__(self, cwd: str, home: str, disk: Disk = DISK) -> None:
        self._disk = disk
        self.root = project_root(cwd, disk)
        #: The home directory as the environment names it; `real_home` is its real path.
        self.home = home
        self.real_home = disk.realpath(home or os.sep)
        #: The directories of plugins, by the files they bring.
        self._plugins: dict[str, str] = {}
        #: Files that the user named one by one.
        self._named: frozenset[str] = frozenset()

    @cached_property
    def key(self) -> str:
        """The root under which trust in the project is stored."""
        return trust_root(self.root, self._disk)

    def add_plugin(self, file: str, directory: str) -> None:
        """Note that a plugin in this directory brings a file."""
        self._plugins[file] = self._disk.realpath(directory)

    def name_files(self, files: Iterable[str]) -> None:
        """Note that the user named these files."""
        self._named |= frozenset(files)

    def is_foreign(self, file: str, scope: Scope) -> bool:
        """Return True if a file needs the user's trust: the project brought it, or a plugin."""
        if not file or scope in _TRUSTED_SCOPES or file in self._named:
            return False
        if scope in ("plugin", "project"):
            return True
        if self._holds_home:
            # Then the user's own files are below the root, too.
            return scope in ("local", "session")
        path = os.path.abspath(file)
        return is_inside(path, self.root) or is_inside(self._disk.realpath(path), self.root)

    @cached_property
    def _holds_home(self) -> bool:
        """True if the root is the home directory, or above it and not a repository, as / is."""
        if self.root == self.real_home:
            return True
        git = os.path.join(self.root, ".git")
        return is_inside(self.real_home, self.root) and not self._disk.lexists(git)

    def owner(self, file: str, scope: Scope) -> str:
        """Return the root under which trust in a file is stored: the plugin's, or the project's."""
        if scope != "plugin":
            return self.key
        if file in self._plugins:
            return self._plugins[file]
        directory = os.path.dirname(self._disk.realpath(file))
        return os.path.dirname(directory) if os.path.basename(directory) == "hooks" else directory

    def shown(self, path: str) -> str:
        """Return the path as items name it."""
        return shown_path(path, self.root, self.real_home)

    def path_of(self, shown: str) -> str:
        """Return the file that an item means by a path."""
        directory, name = (self.real_home, shown[2:]) if shown.startswith("~/") else (self.root, shown)
        path = os.path.join(directory, name)
        if "\\udc" in name and not self._disk.lexists(path):
            # Bytes that are not UTF-8 are spelled out in an item.
            return os.path.join(
                directory, re.sub(r"\\u(dc[89a-f][0-9a-f])", lambda found: chr(int(found[1], 16)), name)
            )
        return path


def project_root(cwd: str, disk: Disk = DISK) -> str:
    """Return the root of the repository, as a real path; outside of one the directory itself."""
    return disk.realpath(upward(os.path.abspath(cwd), disk)[-1])


def lookup_directory(cwd: str, markers: Sequence[str], home: str, disk: Disk = DISK) -> str | None:
    """Return the directory whose hooks apply to `cwd`, as a real path; None outside of any project.

    In a repository that is the directory itself, because loading searches upward from there. Elsewhere it is
    the nearest directory above with one of the markers: the files and directories of agents. Inside the home
    directory, nothing at or above it is used, because the markers there are the user's own directories. Above
    the directory itself, markers are used only if they belong to its owner, to this user or to root: every
    user can write to /tmp.
    """
    start = disk.realpath(cwd)
    if disk.lexists(os.path.join(upward(start, disk)[-1], ".git")):
        return start
    home = disk.realpath(home) if os.path.isabs(home) else ""
    owners = {0, os.geteuid(), *_owners(disk, start)}
    directory = start
    while True:
        found = [path for name in markers if disk.lexists(path := os.path.join(directory, name))]
        if found and (directory == start or owners.issuperset(_owners(disk, directory, *found))):
            return directory
        parent = os.path.dirname(directory)
        if directory == home or parent in (directory, home):
            return None
        directory = parent


def trust_root(root: str, disk: Disk = DISK) -> str:
    """Return the directory under which trust is stored: worktrees share that of their repository.

    Any directory can claim to be a worktree of a trusted repository, so the repository has to name it, too.
    """
    named = _line(os.path.join(root, ".git"), disk).removeprefix("gitdir:").strip()
    if not named:
        return root
    own = disk.realpath(os.path.join(root, named))
    back = _line(os.path.join(own, "gitdir"), disk)
    common = disk.realpath(os.path.join(own, _line(os.path.join(own, "commondir"), disk) or "."))
    listed = os.path.dirname(own) == os.path.join(common, "worktrees")
    known = back and disk.realpath(os.path.join(own, back)) == os.path.join(root, ".git")
    if not (listed and known and os.path.basename(common) == ".git"):
        return root
    return os.path.dirname(common)


def is_inside(file: str, directory: str) -> bool:
    """Return True if a path is the directory or below it. Both are absolute, and links are not followed."""
    return file == directory or file.startswith(directory.rstrip(os.sep) + os.sep)


def _owners(disk: Disk, *paths: str) -> Iterator[int]:
    for path in paths:
        with suppress(OSError):
            yield disk.lstat(path).st_uid


def _line(file: str, disk: Disk) -> str:
    """Return the first line of a small regular file; nothing for anything else."""
    try:
        descriptor = disk.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, _MOST).decode("utf-8", "replace")
    except OSError:  # a directory
        return ""
    finally:
        os.close(descriptor)
    return text.partition("\n")[0].strip()


def is_trusted_directory(root: str, env: Mapping[str, str], disk: Disk = DISK) -> bool:
    """Return True if `trusted = [...]` of the user's settings names the project or a directory above it."""
    home = disk.realpath(env.get("HOME", "") or os.sep)
    return any(
        is_inside(root, disk.realpath(os.path.join(home, os.path.expanduser(directory))))
        for file in settings_files(env, disk)
        # Settings inside the project are the project's own, also where a link leads to them.
        if home == root or not is_inside(disk.realpath(file), root)
        for directory in _trusted_directories(read_file(file, disk=disk).value)
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
