"""Describe the tools of one agent: their names, what each does, and the names of MCP servers' tools."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, cast

from msgspec.structs import replace

from hookline.actions.kinds import KINDS, Category
from hookline.actions.tool import Tool

#: The form of an MCP tool's name; `plain` and `MCP:tool` do not name the server.
McpNames = Literal["mcp__server__tool", "mcp_server_tool", "server-tool", "plain", "MCP:tool"]

_STANDARD = "mcp__"
_MARKED = "MCP:"
#: Names of MCP tools have at most 128 characters; one with more separators than this could mean anything.
_MOST_SPLITS = 64
_LONGEST_NAME = 1000


class ToolTable:
    """The meaning of an agent's tools. Of several tools of one kind, hooks see the first that they match."""

    def __init__(
        self,
        agent: str,
        tools: Mapping[str, Tool],
        *,
        mcp: McpNames = "mcp__server__tool",
        aliases: Mapping[str, str] = MappingProxyType({}),
        canonical: bool = False,
        any_case: bool = False,
        usual: Mapping[str, Tool] = MappingProxyType({}),
        translated_only: Collection[str] = (),
    ) -> None:
        #: The agent's name, for people.
        self.agent = agent
        self.tools = tools
        self.mcp = mcp
        #: Further names of its tools that hooks may be written for.
        self.aliases = aliases
        #: Its hooks see calls in canonical terms, and are matched by the caller's names too.
        self.canonical = canonical
        #: Its tools find their arguments whatever the case of the keys.
        self.any_case = any_case
        #: Tools by names that are usual, however they are spelt, for names that no tool has.
        self._usual = {folded(name): tool for name, tool in usual.items()}
        #: Names under which its hooks see calls of others; its own agent has no such tools.
        self.translated_only = translated_only
        self._by_kind: dict[str, tuple[tuple[str, Tool], ...]] = {}

    def tool(self, name: str) -> Tool | None:
        found = self.tools.get(name)
        if found is None and self.aliases:
            found = self.tools.get(self.aliases.get(name, ""))
        return self._usual.get(folded(name)) if found is None and self._usual else found

    def category(self, name: str, arguments: Any) -> Category:
        """Return what a call does."""
        tool = self.tool(name)
        marks = (_STANDARD, _MARKED) if self.mcp == "MCP:tool" else (_STANDARD,)
        return "mcp" if tool is None and name.startswith(marks) else _category(tool, arguments)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name by which its hooks may mean a tool."""
        return (*self.tools, *self.aliases)

    def canonical_name(self, name: str) -> str:
        """Return the canonical name of a tool of one kind; any other keeps its name."""
        tool = self.tool(name)
        return KINDS[tool.kind].tool if tool is not None and tool.kind else name

    def tools_of(self, kind: str) -> tuple[tuple[str, Tool], ...]:
        """Return the names and forms in which this agent makes calls of a kind, in order of preference."""
        found = self._by_kind.get(kind)
        if found is None:
            found = self._by_kind[kind] = tuple(
                (name, form)
                for own, tool in self.tools.items()
                for form in _forms(tool, kind)
                for name in (own, *(alias for alias, other in self.aliases.items() if other == own))
            )
        return found

    def mcp_names(self, name: str, server: str = "") -> tuple[str, ...]:
        """Return the canonical names that an unknown name may mean: several where it can be split in several
        ways.

        None at all where there are too many.
        """
        if self.mcp == "mcp_server_tool" and name.startswith("mcp_") and not name.startswith(_STANDARD):
            return _split(name, name.removeprefix("mcp_"), "_", server)
        if self.mcp == "server-tool" and "-" in name:
            return _split(name, name, "-", server)
        if self.mcp == "MCP:tool" and name.startswith(_MARKED):
            # Without its server a guard for that server's tools cannot tell: it must not miss the call.
            return (f"{_STANDARD}{server or '*'}__{name.removeprefix(_MARKED)}",)
        return (name,)

    def mcp_name(self, canonical: str) -> str:
        """Return a canonical name of an MCP tool as this agent writes it; any other name as it is."""
        if self.mcp in ("mcp__server__tool", "plain") or not canonical.startswith(_STANDARD):
            return canonical
        server, _, tool = canonical.removeprefix(_STANDARD).partition("__")
        if self.mcp == "MCP:tool":
            return f"{_MARKED}{tool}"
        return f"mcp_{server}_{tool}" if self.mcp == "mcp_server_tool" else f"{server}-{tool}"


@lru_cache(maxsize=1024)
def folded(name: str) -> str:
    """Remove what differs from program to program: `run-shell`, `RunShell` and `run_shell` are one."""
    return name.removeprefix("functions.").translate(_SEPARATORS).lower()


_SEPARATORS = str.maketrans("", "", "_-. ")


#: The first of these counts if a tool does several things.
_FALLING: tuple[Category, ...] = ("run", "write", "web", "mcp", "agent", "read", "other")


def _category(tool: Tool | None, arguments: Any) -> Category:
    if tool is None:
        return "other"
    if tool.does is not None:
        return tool.does
    if tool.kind:
        return KINDS[tool.kind].category
    choice = tool.choice
    if choice is not None:
        chosen: Any = None
        if isinstance(arguments, Mapping):
            chosen = cast("Mapping[str, Any]", arguments).get(choice.key)
        named = choice.tools.get(chosen) if isinstance(chosen, str) else None
        return _category(named or choice.otherwise, arguments)
    inner = [*tool.each_of, *(tool.items[1:] if tool.items is not None else ())]
    found = {_category(one, arguments) for one in inner} or {"write" if tool.patch else "other"}
    return next(each for each in _FALLING if each in found)


def _forms(tool: Tool, kind: str) -> tuple[Tool, ...]:
    """Return the forms of one tool that do something of a kind: a tool with actions may have several."""
    if tool.narrow or tool.guessed:
        return ()
    if tool.choice is not None:
        forms = tuple(
            replace(form, fixed={tool.choice.key: action, **form.fixed})
            for action, inner in tool.choice.tools.items()
            for form in _forms(inner, kind)
        )
        return forms[:1]
    if tool.each_of:
        return tuple(form for inner in tool.each_of for form in _forms(inner, kind))[:1]
    if tool.patch:
        return (tool,) if kind in ("write", "edit", "delete", "move") else ()
    return (tool,) if tool.kind == kind else ()


def _split(name: str, rest: str, separator: str, server: str) -> tuple[str, ...]:
    start = server + separator
    if server and rest.startswith(start):
        return (f"{_STANDARD}{server}__{rest.removeprefix(start)}",)
    if len(rest) > _LONGEST_NAME or rest.count(separator) > _MOST_SPLITS:
        return ()
    places = [at for at, character in enumerate(rest) if character == separator and 0 < at < len(rest) - 1]
    return tuple(f"{_STANDARD}{rest[:at]}__{rest[at + 1 :]}" for at in places) or (name,)
