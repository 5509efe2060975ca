"""Which protected file a tool call writes to, by its acts.

What a tool that nobody declared may do is read from the names of its arguments (`tools/by_names.py`).
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.config.protection.glance import Glance
from hookline.config.protection.places import (
    Hit,
    Protected,
    configuring_names,
    protected_in,
    real_path,
    whole_path,
)
from hookline.model.hook import Hook
from hookline.tools.acts import Act, Place
from hookline.tools.by_names import read_widely, widened
from hookline.tools.patches import files_named
from hookline.tools.standard import STANDARD
from hookline.trust.project import is_inside, project_root, trust_root

if TYPE_CHECKING:
    from hookline.matching.shell import ShellReader
    from hookline.tools.table import ToolTable

#: Directories of which it is remembered what is protected there.
_MOST_DIRECTORIES = 64


class CallReader:
    """Reads calls for what they write to. One per session."""

    def __init__(self, protected: Protected, shell: "ShellReader | None" = None) -> None:
        self._protected = protected
        self._shell = shell

    def written_by_call(
        self,
        tool_name: str,
        arguments: Any,
        cwd: str,
        worktree: str = "",
        tools: "ToolTable | None" = None,
        *,
        changes: bool = False,
    ) -> Hit | None:
        """The first protected file that a call may write to; it is told in the terms of these tools.

        `changes`: the call is known to change something, whatever its name says.
        """
        # Paths stay as they are written, which is how the user is asked about them.
        place = Place(root=project_root(cwd)) if tools is not None else Place()
        acts = read_widely(tools or STANDARD, tool_name, arguments, place, changes=changes)
        return self._written(acts, cwd, worktree)

    def written_by_acts(self, acts: Sequence[Act], cwd: str, worktree: str = "") -> Hit | None:
        """The same for a call that was read already."""
        return self._written(widened(acts), cwd, worktree)

    def _written(self, acts: Iterable[Act], cwd: str, worktree: str) -> Hit | None:
        found = (self._by_act(act, cwd, worktree) for act in acts)
        return next((hit for hit in found if hit is not None), None)

    def _by_act(self, act: Act, cwd: str, worktree: str) -> Hit | None:
        kind, line = act.kind, act.line
        if kind is None or kind.category not in ("run", "write"):
            return None
        directories = [cwd, os.path.normpath(os.path.join(cwd or "/", act.cwd))] if act.cwd else [cwd]
        if line is None:
            return self._written_files(act.paths, directories, worktree)
        if kind.name == "code":
            # Which of the files that it names it writes cannot be told. A pattern in code is no pattern of a shell.
            return Glance(line, directories, self._protected, worktree).hit_in(line, patterns=False)
        hit = self.written_by_line(line, directories, worktree)
        return hit or self._by_patch(line, directories, worktree)

    def _by_patch(self, line: str, directories: Sequence[str], worktree: str) -> Hit | None:
        """What a patch in a here-document is about, whichever program it is for."""
        files = files_named(line) if "\n" in line else ()
        return self._written_files(files, directories, worktree)

    def _written_files(self, paths: Sequence[str], directories: Sequence[str], worktree: str) -> Hit | None:
        """The first of these paths that is protected: as it is written, without `..`, or where links lead."""
        for path, directory in ((path, directory) for path in paths for directory in directories):
            whole = whole_path(path, directory, self._protected.home)
            # `link/..` is not what it looks like, so a name that is left again counts.
            inside = bool(worktree) and is_inside(whole, worktree)
            texts = (whole, real_path(whole), *(() if inside else (path,)))
            why = next((why for each in texts if (why := self._protected.why(each, worktree))), None)
            if why is not None:
                return Hit(path, why)
        return None

    def written_by_line(self, line: str, directories: Sequence[str], worktree: str = "") -> Hit | None:
        """The first protected file that a shell line may write to."""
        glance = Glance(line, directories, self._protected, worktree)
        if not glance.may_concern():
            return None
        # Only here: most lines need no parser.
        from hookline.config.protection.lines import protected_write  # noqa: PLC0415
        from hookline.matching.shell import ShellReader  # noqa: PLC0415

        if self._shell is None:
            self._shell = ShellReader()
        return protected_write(glance, self._shell)


class CallReaders:
    """Readers of calls for the directories in which an engine's sessions are."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._hooks: Sequence[Hook] = ()
        self._by_directory: dict[str, CallReader] = {}

    def changes_guards(self, acts: Sequence[Act], cwd: str, hooks: Sequence[Hook]) -> str | None:
        """Why a call changes what guards the agent: hooks, rules, servers, scripts of hooks, what is trusted."""
        if hooks is not self._hooks or len(self._by_directory) >= _MOST_DIRECTORIES:
            self._hooks, self._by_directory = hooks, {}
        reader = self._by_directory.get(cwd)
        if reader is None:
            protected = protected_in((cwd, project_root(cwd)), self._env, hooks, configuring_names())
            reader = self._by_directory[cwd] = CallReader(protected)
        hit = reader.written_by_acts(acts, cwd, worktree_of(cwd))
        return hit.sentence if hit is not None else None


def worktree_of(cwd: str) -> str:
    """The top of the worktree there: it may lie in an agent's directory, but its files are the project's."""
    top = project_root(cwd)
    return top if trust_root(top) != top else ""
