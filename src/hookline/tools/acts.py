"""Acts: what a call does, one thing at a time and in canonical terms; and the place where it does it."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.tools.kinds import Kind
from hookline.tools.tool import NOTHING, Tool

#: A place in the arguments of a call: keys of objects, and positions in lists.
Path = tuple[str | int, ...]


#: How paths begin that need a closer look.
_ODD_START = frozenset(("", "/", ".", "~"))


class Place(Struct, frozen=True):
    """Where a call is made: paths are read from there."""

    cwd: str = ""
    root: str = ""
    home: str = ""
    #: Where programs keep temporary files, if the environment says so.
    temporary: str = ""

    def path(self, path: str, *, below_root: bool = False) -> str:
        """The path from the root. `..` stays: what is before it may be a link, which nothing here can follow."""
        if path[:1] not in _ODD_START and self.cwd and not below_root:  # most paths, quickly
            return f"{self.cwd.rstrip('/')}/{path}"
        if below_root:
            return _joined(self.root or self.cwd, path.lstrip("/"))
        if path.startswith("~") and self.home and path[1:2] in {"", "/"}:
            return self.home + path[1:]
        return _joined(self.cwd, path)


class Act(Struct, frozen=True):
    """One thing that a call does, in canonical terms."""

    #: None for a tool of no known kind, which keeps its name and arguments.
    kind: Kind | None
    tool_name: str
    arguments: dict[str, Any]
    #: How the agent's own arguments say it, the name it is called by there, and where its arguments are in the call.
    tool: Tool | None = None
    called: str = ""
    base: Path = ()
    #: The position of an argument that is one of a list.
    at: Mapping[str, Path] = NOTHING
    #: The directory it happens in, where the call says so.
    cwd: str = ""
    #: What of the call the canonical form does not say.
    lost: tuple[str, ...] = ()
    #: Why it cannot be said what the act does.
    doubt: str = ""
    #: Why a rewrite of it cannot be put back into the call.
    irreversible: str = ""
    #: It is what a tool of an MCP server does, beside the call of that tool: for hooks in canonical terms alone.
    implied: bool = False
    #: What is true beside the canonical arguments: `append`, `must_be_new`, `in_sequence`.
    extra: Mapping[str, Any] = NOTHING
    #: It cannot be read and may be an act of any kind.
    anything: bool = False

    @property
    def line(self) -> str | None:
        """The line of a shell, or the code, that it runs."""
        value = self.arguments.get(self.kind.line) if self.kind is not None else None
        return value if isinstance(value, str) else None

    @property
    def paths(self) -> list[str]:
        """The files that it names."""
        names = self.kind.paths if self.kind is not None else ()
        return [value for name in names if isinstance(value := self.arguments.get(name), str)]


#: Steps at the beginning of a path that lead nowhere. A pattern, because a loop takes forever for a million of them.
_HERE = r"\A(?:\./+)+"


def _joined(directory: str, path: str) -> str:
    if path.startswith("/") or not directory:
        return path
    if path.startswith("./"):
        path = re.sub(_HERE, "", path, count=1)
    return directory if path in {"", "."} else f"{directory.rstrip('/')}/{path}"
