"""Check that an agent can make a typed tool call: its tool exists, with these arguments."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from hookline.actions.kinds import FURTHER, KIND_OF, KINDS, ToolKind
from hookline.actions.standard_tools import CANONICAL
from hookline.cli.describe import redactor
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import field_of
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.actions.tool import Tool
    from hookline.config.engine import Engine
    from hookline.dialects.dialect import Dialect
    from hookline.model.wire import EventRequest

#: Arguments of canonical tools that are not translated. With these the lists are complete.
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "shell": ("dangerouslyDisableSandbox",),
    "shell_output": ("bash_id", "shell_id", "agentId", "filter", "block", "timeout", "wait_up_to"),
    "shell_stop": ("shell_id", "bash_id"),
    "grep": ("-A", "-B", "-C", "-i", "-n", "-o", "context", "head_limit", "multiline", "offset", "type"),
    "search": ("allowed_domains", "blocked_domains"),
    "agent": ("isolation", "max_turns", "mode", "model", "name", "resume", "run_in_background", "team_name"),
    "ask": ("answers", "annotations", "metadata"),
}
_LONGEST: Final = 100
_MOST_NAMED: Final = 8


def doubts(engine: "Engine", request: "EventRequest") -> Iterator[Diagnostic]:
    """Warn of a tool that no agent has, and of arguments that the tool does not take."""
    name = field_of(request.payload, "tool_name")
    if not isinstance(name, str) or not name:
        return
    redact = redactor(engine.journal)

    def shown(text: str) -> str:
        return f"'{one_line(redact(text), _LONGEST)}'"

    dialect = None if request.dialect is None else engine.loader.dialect(request.dialect)
    table = engine.tool_table if dialect is None else dialect.tools
    if name in FURTHER or name.startswith("mcp__") or table.mcp_names(name) != (name,):
        return
    tool = table.tool(name)
    if tool is None:
        problem = _no_such_tool(engine, dialect, table, name, shown(name))
        if problem is not None:
            yield problem
        return
    given: Any = field_of(request.payload, "tool_input")
    canonical = KIND_OF.get(name) if dialect is None or dialect.own_tools is None else None
    if dialect is None:
        # A program may have tools with other arguments under names that are usual.
        tool = CANONICAL.tool(name)
    if tool is not None and isinstance(given, Mapping):
        yield from _wrong_arguments(name, tool, list(cast("Mapping[str, Any]", given)), canonical, shown)


def _no_such_tool(
    engine: "Engine", dialect: "Dialect | None", table: "ToolTable", name: str, shown: str
) -> Diagnostic | None:
    if dialect is not None:
        usual = engine.tool_table.tool(name)
        own = table.tools_of(next(_kinds(usual), "")) if usual is not None else ()
        known, meant = table.names, own[0][0] if own else None
        message = f"Hookline knows no tool of {dialect.title} called {shown}"
    else:
        agents = [engine.loader.dialect(each) for each in engine.loader.names]
        known, meant = [*table.names, *(each for agent in agents for each in agent.tools.names)], None
        message = f"Hookline knows no agent with a tool called {shown}"
    if name in known:
        return None
    meant = meant or nearest(name[:_LONGEST], known)
    if meant is None and table.mcp == "plain":
        return None  # a server may bring it, under whatever name
    return Diagnostic("warning", "unknown-tool", message, fix=f"did you mean {meant}?" if meant else None)


def _wrong_arguments(
    name: str, tool: "Tool", given: list[str], canonical: ToolKind | None, shown: Callable[[str], str]
) -> Iterator[Diagnostic]:
    first = [key for argument in tool.arguments.values() for key in argument.keys]
    keys = list(dict.fromkeys([*first, *sorted(tool.own_keys)]))
    beside = _BESIDE.get(canonical.name, ()) if canonical is not None else ()
    unknown = [key for key in given if key not in keys and key not in beside]
    main = _main_keys(tool)
    silent = bool(main) and not any(key in given for key in main)
    if not keys:
        return
    for key in unknown:
        close = nearest(key[:_LONGEST], keys)
        # Other tables have what can be translated: an agent may know more arguments, but hardly ones so much alike.
        if close is not None or silent or canonical is not None:
            message = f"{name} has no argument {shown(key)}"
            fix = f"did you mean {close}?" if close else f"it takes {', '.join(keys[:_MOST_NAMED])}"
            yield Diagnostic("warning", "unknown-argument", message, fix=fix)
    if silent and not unknown:
        message = f"{name} is called without {' or '.join(main)}"
        yield Diagnostic("warning", "missing-argument", message)


def _main_keys(tool: "Tool") -> tuple[str, ...]:
    """Return keys of which every call has one; none where that is not certain."""
    needs = KINDS[tool.kind].needs if tool.kind else ""
    argument = tool.arguments.get(needs)
    return argument.keys if argument is not None and tool.choice is None else ()


def _kinds(tool: "Tool") -> Iterator[str]:
    if tool.kind:
        yield tool.kind
    for each in (*tool.each_of, *(tool.choice.tools.values() if tool.choice is not None else ())):
        yield from _kinds(each)
