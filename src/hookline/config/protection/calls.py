"""Find the protected file that a tool call writes to, by its actions.

The actions of an undeclared tool are read from the names of its arguments (`actions/by_names.py`).
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.actions.action import Action, PathContext
from hookline.actions.by_names import read_widely
from hookline.actions.patches import files_named
from hookline.actions.standard_tools import STANDARD
from hookline.config.protection.protected_paths import (
    Protected,
    ProtectedWrite,
    configuring_names,
    home_in,
    protected_in,
    real_path,
    whole_path,
)
from hookline.disk import DISK, Disk
from hookline.model.hook import Hook
from hookline.trust.project import is_inside, project_root, trust_root

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.config.protection.lines import ProtectedLine
    from hookline.shell import ShellReader

#: The most directories whose protected files are remembered.
_MOST_DIRECTORIES = 64


class CallReader:
    """A reader of the files that calls write to. What is protected is found out once a call writes something."""

    def __init__(
        self, find_protected: Callable[[], Protected], home: str, shell: "Callable[[], ShellReader]"
    ) -> None:
        self._find_protected = find_protected
        self._home = home
        self._shell = shell

    def written_by_call(
        self,
        tool_name: str,
        arguments: Any,
        cwd: str,
        tools: "ToolTable | None" = None,
        *,
        changes: bool = False,
    ) -> ProtectedWrite | None:
        """Return the first protected file that a call, in the terms of these tools, may write to.

        `changes`: the call is known to change something, whatever its name suggests.
        """
        # Paths stay as they are written: the question to the user shows them so.
        path_context = PathContext(root=project_root(cwd)) if tools is not None else PathContext()
        actions = read_widely(tools or STANDARD, tool_name, arguments, path_context, changes=changes)
        return self.written_by_actions(actions, cwd)

    def written_by_actions(self, actions: Iterable[Action], cwd: str) -> ProtectedWrite | None:
        """Return the same for a call that was read widely already."""
        return next(filter(None, (self._by_action(action, cwd) for action in actions)), None)

    def _by_action(self, action: Action, cwd: str) -> ProtectedWrite | None:
        kind, line = action.kind, action.line
        if kind is None or kind.category not in ("run", "write"):
            return None
        directories = [cwd, os.path.normpath(os.path.join(cwd or "/", action.cwd))] if action.cwd else [cwd]
        if line is None:
            return self._written_files(action.paths, directories)
        if kind.name == "code":
            # It is unknown which of its files it writes. A pattern in code is not a pattern of a shell.
            return self._line(line, directories).hit_in(line, patterns=False)
        hit = self.written_by_line(line, directories)
        # A patch may come in a here-document, whichever program it is for.
        files = files_named(line) if hit is None and "\n" in line else ()
        return hit or self._written_files(files, directories)

    def written_by_line(self, line: str, directories: Sequence[str]) -> ProtectedWrite | None:
        """Return the first protected file that a shell line may write to."""
        found = self._line(line, directories)
        return found.written(self._shell().read(found.line))

    def _line(self, line: str, directories: Sequence[str]) -> "ProtectedLine":
        from hookline.config.protection.lines import ProtectedLine  # noqa: PLC0415 only calls with a line

        return ProtectedLine(line, directories, self._find_protected, self._home)

    def _written_files(self, paths: Sequence[str], directories: Sequence[str]) -> ProtectedWrite | None:
        """Return the first of these paths that is protected: as it is written, without `..`, or with links
        followed."""
        if not paths:
            return None
        protected = self._find_protected()
        for path, directory in ((path, directory) for path in paths for directory in directories):
            whole = whole_path(path, directory, self._home)
            # `link/..` is not what it looks like, so a name that is left again is checked.
            inside = bool(protected.worktree) and is_inside(whole, protected.worktree)
            texts = (whole, real_path(whole), *(() if inside else (path,)))
            why = next((why for each in texts if (why := protected.why(each))), None)
            if why is not None:
                return ProtectedWrite(path, why)
        return None


class CallReaders:
    """Readers of calls for the directories in which an engine's sessions are."""

    def __init__(self, env: Mapping[str, str], shell: "Callable[[], ShellReader]") -> None:
        self._env = env
        self._shell = shell
        self._hooks: Sequence[Hook] = ()
        self._by_directory: dict[str, Protected] = {}

    def changes_guards(self, actions: Sequence[Action], cwd: str, hooks: Sequence[Hook]) -> str | None:
        """Return why a call changes what guards the agent: hooks, rules, servers, scripts of hooks, the
        user's trust."""

        def find_protected() -> Protected:
            if hooks is not self._hooks or len(self._by_directory) >= _MOST_DIRECTORIES:
                self._hooks, self._by_directory = hooks, {}
            found = self._by_directory.get(cwd)
            if found is None:
                found = protected_in((cwd, project_root(cwd)), self._env, hooks, configuring_names())
                self._by_directory[cwd] = found
            return found.within(worktree_of(cwd))

        reader = CallReader(find_protected, home_in(self._env), self._shell)
        hit = reader.written_by_actions(actions, cwd)
        return hit.sentence if hit is not None else None


def worktree_of(cwd: str, disk: Disk = DISK) -> str:
    """Return the top of the worktree there: it may lie in an agent's directory, but its files are the
    project's."""
    top = project_root(cwd, disk)
    return top if trust_root(top, disk) != top else ""
