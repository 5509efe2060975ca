"""Write docs/reference/reach.md: how guards of every dialect see the same actions of every agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hookline import Engine
from hookline.dialects.registry import standard_dialects
from hookline.engine.explain import FOLLOWS
from hookline.events import PRE_TOOL_USE
from hookline.events import ToolCall as Payload
from hookline.model.hook import Hook
from tests.reach.calls import CALLERS, FILES, GUARDS, OUTSIDE, Caller, Guard, MadeCall
from tests.reach.shell_lines import READS, WRITES, made_calls
from tools.markdown import GENERATED, code, page, table

_GUARDS = "tests/reach/guards"
#: Nothing of this machine: the page is the same everywhere.
_HOME, _PROJECT = "/home/you", "/home/you/work"

_HEAD = f"""# Which guard works where

Three guards, each written once for every agent: in its own file, for its own tools, with a script that reads the
field which that agent documents and passes if the field is missing. Each guard gets the same action from every agent
that Hookline supports, from `hookline agent`, and from programs that embed Hookline, one that [declares its
tools](../how-to/one-guard-everywhere.md) and one whose tools have common names. Every cell denies the action, and
lets a harmless one pass (one file is deleted, a file of the project is read or written).

A cell shows the tool and argument that the guard gets; hooks of the calling agent itself get the call unchanged.
`make test` tests each cell in process, with the real scripts; `make soak` (part `reach`) tests every call with
the real commands.

The guards are in [{_GUARDS}](../../{_GUARDS}), the calls in [tests/reach/calls.py](../../tests/reach/calls.py)."""

_SHELL = f"""## Files that a shell line touches

The guards of reads and writes, asked about lines of a shell ([how](../how-to/guard-files.md)): native ones always,
those of other formats with `actions = "all"`. Each of the {len(READS) + len(WRITES)} lines is denied by the guards of
every format, and the same line about a file of the project passes."""

_MORE = """## Every tool

The tools that each guard sees. Paths are absolute, relative to the project, with `..` and with `~`.
The agent's own guards do not stop calls of the tools in italics: they get such a call unchanged, and a guard
that does not read it misses it in its own agent, too."""


def reach_page(root: Path) -> str:
    hooks = {dialect: _hooks(root, dialect) for dialect in FILES}
    titles = [standard_dialects()[dialect].build().title for dialect in FILES]
    sections = [_HEAD]
    for guard in GUARDS:
        rows = [
            (
                caller.title,
                code(_shown(call.tool, call.at(_HOME, _PROJECT))),
                *_translated(caller, call, hooks),
            )
            for caller in CALLERS.values()
            for call in _first(caller, guard)
        ]
        sections += [f"## {guard.name.capitalize()}", table(("asked by", "about", *titles), rows)]
    sections += [_SHELL, table(("line of a shell", *titles), _by_lines(hooks))]
    every = [(caller.title, *_calls(caller)) for caller in CALLERS.values()]
    return page(GENERATED, *sections, _MORE, table(("asked by", *(guard.name for guard in GUARDS)), every))


def _hooks(root: Path, dialect: str) -> tuple[Hook, ...]:
    directory = root / _GUARDS / dialect
    return Engine().load(str(directory), [str(directory / FILES[dialect])], [dialect], trust=True).hooks


def _first(caller: Caller, guard: Guard) -> Iterator[MadeCall]:
    yield next(call for call in caller.calls if call.guard is guard and call.denied)


def _translated(
    caller: Caller, call: MadeCall, hooks: dict[str, tuple[Hook, ...]], *, follows: bool = False
) -> Iterator[str]:
    """Yield how the guard of each dialect sees the call."""
    payload = Payload(tool_name=call.tool, tool_input=call.at(_HOME, _PROJECT))
    for found in hooks.values():
        session = Engine(found, tools=caller.tools).session("s", cwd=_PROJECT, project_dir=_PROJECT)
        if caller.dialect:
            session.tools = standard_dialects()[caller.dialect].build().own_tools
        asked = [
            one
            for one in session.explain(PRE_TOOL_USE, payload)
            if one.selected and one.why.startswith(FOLLOWS) is follows
        ]
        # A line may read one file and write another: the guard of writes is the last one.
        decision = asked[-1 if call.guard is OUTSIDE else 0]
        received = payload if decision.translated is None else decision.translated.actions[0].payload
        key = next(key for key in received.tool_input if key not in ("action", "content"))
        yield f"denied: {code(received.tool_name)} {code(key)}"


def _by_lines(hooks: dict[str, tuple[Hook, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield how the guards of files see each line."""
    for _name, call in made_calls("Bash", "command"):
        if call.denied:
            following = {
                dialect: tuple(replace(hook, actions="all") for hook in found)
                for dialect, found in hooks.items()
            }
            line = call.at(_HOME, _PROJECT)["command"].replace("\n", "⏎")
            yield (code(line), *_translated(CALLERS["native"], call, following, follows=True))


def _shown(tool: str, arguments: dict[str, Any]) -> str:
    """A call by what it is about, which is its first argument."""
    key, value = next(iter(arguments.items()))
    return f"{tool} {key}={value}"


def _calls(caller: Caller) -> Iterator[str]:
    """Return the tools that each guard sees."""
    for guard in GUARDS:
        calls = [call for call in caller.calls if call.guard is guard and call.denied]
        own = {call.tool for call in calls if not call.for_others}
        names = dict.fromkeys(call.tool for call in calls)
        yield ", ".join(code(name) if name in own else f"_{code(name)}_" for name in names)
