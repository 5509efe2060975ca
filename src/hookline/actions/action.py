"""Define actions: the single things a call does, in canonical terms; and the context of its paths."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.actions.kinds import ToolKind
from hookline.actions.tool import NOTHING, Tool

#: A path in the arguments of a call: keys of objects, and positions in lists.
Path = tuple[str | int, ...]


#: First characters of paths that need a closer check.
_ODD_START = frozenset(("", "/", ".", "~"))


class PathContext(Struct, frozen=True):
    """The context of a call: its paths are relative to it."""

    cwd: str = ""
    root: str = ""
    home: str = ""
    #: The directory of temporary files, if the environment names one.
    temporary: str = ""

    def path(self, path: str, *, below_root: bool = False) -> str:
        """Return the path from the root. `..` stays: the part before it may be a link, which nothing here can
        follow."""
        if path[:1] not in _ODD_START and self.cwd and not below_root:  # most paths, quickly
            return f"{self.cwd.rstrip('/')}/{path}"
        if below_root:
            return _joined(self.root or self.cwd, path.lstrip("/"))
        if path.startswith("~") and self.home and path[1:2] in {"", "/"}:
            return self.home + path[1:]
        return _joined(self.cwd, path)


#: Why an act is in doubt that is read by the names of arguments (`actions/by_names.py`).
BY_NAMES = "it is known by the names of its arguments alone"


class Action(Struct, frozen=True):
    """One action of a call, in canonical terms."""

    #: None for a tool of no known kind, which keeps its name and arguments.
    kind: ToolKind | None
    tool_name: str
    arguments: dict[str, Any]
    #: Describes the action in the agent's own arguments; `called` and `base` are the tool's name there and
    #: the position of its arguments in the call.
    tool: Tool | None = None
    called: str = ""
    base: Path = ()
    #: The position of an argument that is one of a list.
    at: Mapping[str, Path] = NOTHING
    #: The directory it happens in, where the call says so.
    cwd: str = ""
    #: Facts of the call that the canonical form lacks.
    lost: tuple[str, ...] = ()
    #: The reason why the action cannot be read.
    doubt: str = ""
    #: The reason why a rewrite of it cannot be put back into the call.
    irreversible: str = ""
    #: It is the effect of an MCP server's tool, beside the call of that tool: for hooks in canonical terms
    #: alone.
    implied: bool = False
    #: Facts beside the canonical arguments: `append`, `must_be_new`, `in_sequence`.
    extra: Mapping[str, Any] = NOTHING
    #: It cannot be read and may be an action of any kind.
    anything: bool = False
    #: Nothing but its value says so: no argument has the name of a file, a command or an address. Or the tool is known,
    #: and what it does is of no kind.
    guess: bool = False
    #: The reason why a call of another tool does it, as a sentence: "`sed -i s/a/b/ a.py` writes a.py".
    because: str = ""

    @property
    def line(self) -> str | None:
        """The line of a shell, or the code, that it runs."""
        if self.kind is None or not self.kind.line:
            return None
        value = self.arguments.get(self.kind.line)
        return value if isinstance(value, str) else None

    @property
    def paths(self) -> list[str]:
        """The files that it names."""
        names = self.kind.paths if self.kind is not None else ()
        return [value for name in names if isinstance(value := self.arguments.get(name), str)]


#: Steps at the beginning of a path that lead nowhere. A pattern, because a loop takes forever for a million
#: of them.
_HERE = r"\A(?:\./+)+"


def _joined(directory: str, path: str) -> str:
    if path.startswith("/") or not directory:
        return path
    if path.startswith("./"):
        path = re.sub(_HERE, "", path, count=1)
    return directory if path in {"", "."} else f"{directory.rstrip('/')}/{path}"
