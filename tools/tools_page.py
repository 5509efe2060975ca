"""Write docs/reference/tools.md: what tools do, and what every agent calls them, from the tables."""

from collections.abc import Iterable, Iterator

from hookline.actions.kinds import KINDS
from hookline.actions.table import ToolTable
from hookline.actions.tool import Argument, Tool
from hookline.actions.units import SAME
from hookline.actions.usual_names import USUAL
from hookline.dialects.dialect import Dialect
from hookline.dialects.registry import every_dialect
from tools.markdown import GENERATED, code, page, table, words

_INTRO = """\
Agents name the same tool in different ways: a shell is `Bash`, `bash` or `shell`, its command `command` or `cmd`.
Hookline knows what the tools of each agent do, so a hook that was written for one agent works in the others:
Hookline translates each call into the hook's format, and a rewrite back into the caller's arguments. If the caller's
format cannot express a rewrite, Hookline denies the call, and the reason says so. Hooks of the calling agent get the
call unchanged."""

_KINDS = """\
Native hooks and rules see a call in *canonical* terms: these names and arguments. Times are in milliseconds, lines
count from 1, paths are absolute. One call may do several things (a patch of several files, a list of addresses):
hooks see each of them, and one denial denies the call. Hookline treats an unreadable call as the most dangerous
thing it could be."""

_AGENTS = """\
Which tools of an agent are of which kind, and which of its arguments is which canonical one. If an argument has
several names, the first one with a value counts. Hooks of the agent get calls of other agents under the first name
in the table that they match. A *narrow* tool does less than its kind: Hookline reads its calls as that kind, but a
hook for it does not see every call of the kind."""

_OWN = f"""\
## Other programs

A program that embeds Hookline declares its own tools: see [Add hooks to your own agent](../how-to/embed.md). Without
a declaration, Hookline knows {len(USUAL)} common names (`run_command`, `read_file`, `fetch_url` ...), each only in a
call with its main argument."""

_MCP = {
    "mcp__server__tool": "Tools of MCP servers are called `mcp__server__tool`.",
    "mcp_server_tool": "Tools of MCP servers are called `mcp_server_tool`. A name that can be split in several ways "
    "counts as each of them.",
    "server-tool": "Tools of MCP servers are called `server-tool`.",
    "MCP:tool": "Tools of MCP servers are called `MCP:tool`. Guards for all servers see them; a guard for one server "
    "does not, because the call does not name the server.",
    "plain": "Names of tools of MCP servers do not say which server they are of.",
}


def tools_page() -> str:
    dialects = list(every_dialect())
    canonical = [dialect.title for dialect in dialects if dialect.own_tools is None and dialect.has_agent]
    own = [dialect for dialect in dialects if dialect.own_tools is not None]
    return page(
        GENERATED,
        "# Tools",
        _INTRO,
        "## Kinds",
        _KINDS,
        table(["Kind", "Canonical name", "Arguments", "Files"], _kinds()),
        "## The tools of each agent",
        _AGENTS,
        f"Tools of {' and '.join(canonical)} have canonical names and arguments.",
        *(block for dialect in own for block in _section(dialect)),
        _OWN,
    )


def _kinds() -> Iterator[list[str]]:
    access = {"read": "read", "write": "written", "": ""}
    for kind in KINDS.values():
        names = words((kind.tool, *kind.also))
        yield [kind.name.replace("_", " "), names, words(kind.arguments), access[kind.access]]


def _section(dialect: Dialect) -> Iterator[str]:
    tools = dialect.tools
    yield f"### {dialect.title}"
    yield table(
        ["Tool", "Kind", "Its arguments"],
        (row for name, tool in tools.tools.items() for row in _rows(_names(name, tools), tool)),
    )
    yield _MCP[tools.mcp]


def _names(name: str, tools: ToolTable) -> str:
    return words((name, *(alias for alias, other in tools.aliases.items() if other == name)))


def _rows(name: str, tool: Tool) -> Iterator[list[str]]:
    """One row for each thing that a tool may do."""
    if tool.choice is not None:
        for value, inner in tool.choice.tools.items():
            yield from _rows(f"{name}, {code(tool.choice.key)} {code(value)}", inner)
    elif tool.each_of:
        for inner in tool.each_of:
            yield from _rows(name, inner)
    elif tool.items is not None:
        key, inner = tool.items
        yield from ([first, kind, f"each of {code(key)}: {rest}"] for first, kind, rest in _rows(name, inner))
    elif tool.calls is not None:
        inside = (f"each of {code(tool.calls.key)}: " if tool.calls.key else "") + (
            f"{code(tool.calls.name)} with {code(tool.calls.arguments)}"
        )
        yield [name, "other calls", inside]
    elif tool.patch:
        form = "a unified diff" if tool.unified else "a patch"
        yield [
            name,
            "write, edit, delete, move",
            "; ".join((f"{code(tool.patch)}: {form}", *_arguments(tool))),
        ]
    elif tool.urls_in:
        yield [name, tool.kind, f"{code(tool.urls_in)}: a text with addresses"]
    elif tool.kind:
        kind = tool.kind.replace("_", " ") + (", narrow" if tool.narrow else "")
        yield [name, kind, "; ".join(_arguments(tool))]


def _arguments(tool: Tool) -> Iterator[str]:
    yield from _each(tool.arguments.items())
    if tool.edits is not None:
        order = "one after another" if tool.edits.in_sequence else "all in the original text"
        inner = ", ".join(_each(tool.edits.each.arguments.items()))
        yield f"{code(tool.edits.key)}: a list, made {order}, of {inner}"
    if tool.cwd is not None:
        yield f"{_keys(tool.cwd)} = the directory"
    for name, fact in tool.extra.items():
        if isinstance(fact, tuple):
            yield f"{code(fact[0])} {code(fact[1])} = {name.replace('_', ' ')}"
    for name, value in tool.means.items():
        yield f"always {name.replace('_', ' ')} {value if isinstance(value, str) else ''}".rstrip()


def _each(arguments: Iterable[tuple[str, Argument]]) -> Iterator[str]:
    for name, argument in arguments:
        unit = "" if argument.unit is SAME else f" ({argument.unit.name})"
        several = " (a list)" if argument.many else ""
        below = " (from the project's root)" if argument.below_root else ""
        yield f"{_keys(argument)}{f' = {name}' if argument.keys != (name,) else ''}{unit}{several}{below}"


def _keys(argument: Argument) -> str:
    return " or ".join(code(key) for key in argument.keys)
