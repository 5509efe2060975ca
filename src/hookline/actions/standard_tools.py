"""Define the tables of agents whose tools have canonical names, and of programs that embed Hookline."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from msgspec.structs import replace

from hookline.actions.declare import in_background, multi_edit, narrow, read, same, shell
from hookline.actions.kinds import KINDS, USUAL_KEYS
from hookline.actions.table import ToolTable
from hookline.actions.tool import Tool
from hookline.actions.units import WORDS

#: Claude Code's tools; other agents have them under the same names.
_CANONICAL_NAMES = {
    **{kind.tool: same(kind.name) for kind in KINDS.values()},
    "MultiEdit": multi_edit(
        "file_path",
        in_sequence=True,
        old_string="old_string",
        new_string="new_string",
        replace_all="replace_all",
    ),
    **{name: same(kind.name) for kind in KINDS.values() for name in kind.also if name != "MultiEdit"},
    "TodoWrite": replace(same("plan"), does="read"),
    "PowerShell": narrow(same("shell")),
    "Monitor": narrow(in_background(shell("command", description="description"))),
    "NotebookRead": narrow(read("notebook_path")),
}
#: Kinds that only Hookline has a name for.
_OURS = frozenset(("BashInput", "Delete", "Move", "Memory", "Code"))

#: Agents whose tools have the names of Claude Code's.
STANDARD = ToolTable("", MappingProxyType({n: t for n, t in _CANONICAL_NAMES.items() if n not in _OURS}))
#: Canonical terms, which native hooks see.
CANONICAL = ToolTable("hookline", MappingProxyType(_CANONICAL_NAMES), canonical=True)


def host_table(declared: Mapping[str, Tool] = MappingProxyType({})) -> ToolTable:
    """Return the tools of a program that embeds Hookline: those it declares, canonical ones, and usual names."""
    return _host_table(declared) if declared else _undeclared_table()


@cache
def _undeclared_table() -> ToolTable:
    """Return the table of every program that declares nothing, which Hookline's own commands are."""
    return _host_table({})


def _host_table(declared: Mapping[str, Tool]) -> ToolTable:
    from hookline.actions.usual_names import USUAL  # noqa: PLC0415 agents have tables of their own

    canonical = {
        # Names that no agent has prove nothing in a program.
        name: replace(_with_usual_keys(tool), guessed=name in _OURS)
        for name, tool in _CANONICAL_NAMES.items()
    }
    return ToolTable("", {**USUAL, **canonical, **declared}, usual=USUAL)


def _with_usual_keys(tool: Tool) -> Tool:
    """Add usual keys: a tool of a program may have a canonical name and other keys for its main argument."""
    main = KINDS[tool.kind].needs if tool.kind else ""
    usual = USUAL_KEYS.get(main, ())
    if main not in tool.arguments or not usual:
        return tool
    argument = tool.arguments[main]
    # The words of a command are as usual as a line.
    unit = WORDS if tool.kind == "shell" else argument.unit
    keys = tuple(dict.fromkeys((*argument.keys, *usual)))
    more = replace(argument, keys=keys, unit=unit, unsure=True)
    return replace(tool, arguments={**tool.arguments, main: more})
