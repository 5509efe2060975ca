"""What guards of every dialect are told of the same acts by every agent: docs/reference/reach.md."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hookline import Engine
from hookline.dialects.registry import standard_dialects
from hookline.events import PRE_TOOL_USE
from hookline.events import ToolCall as Payload
from hookline.model.hook import Hook
from tests.reach.calls import CALLERS, FILES, GUARDS, Caller, Guard, MadeCall
from tools.markdown import GENERATED, code, page, table

_GUARDS = "tests/reach/guards"
#: Nothing of this machine: the page is the same everywhere.
_HOME, _PROJECT = "/home/you", "/home/you/work"

_HEAD = f"""# Which guard holds where

Three guards, each written once for every agent: in its own file, for its own tools, with a script that reads the field
which that agent documents and passes if the field is not there. Each is asked about the same act by every agent that
Hookline speaks to, by `hookline agent`, and by programs that embed Hookline, one that
[declares its tools](../how-to/one-guard-everywhere.md) and one whose tools have usual names. Every cell denies the act,
and lets a harmless one pass (one file is deleted, a file of the project is read or written).

A cell says which tool and argument the guard is told; hooks of the calling agent itself are told the call as it is. In
`make test` each cell is tested in process, with the real scripts; `make soak` (part `reach`) asks about every call by
the real commands.

The guards are in [{_GUARDS}](../../{_GUARDS}), the calls in [tests/reach/calls.py](../../tests/reach/calls.py)."""

_MORE = """## Every tool

The tools that each of them is asked about. Paths are told from the root, from the project, with `..` and with `~`.
Of the tools in italics the guards of the agent itself are not asked: they are told such a call as it is, and a guard
that does not read it has that hole in its own agent."""


def reach_page(root: Path) -> str:
    hooks = {dialect: _hooks(root, dialect) for dialect in FILES}
    titles = [standard_dialects()[dialect].build().title for dialect in FILES]
    sections = [_HEAD]
    for guard in GUARDS:
        rows = [
            (caller.title, code(_shown(call.tool, call.at(_HOME, _PROJECT))), *_told(caller, call, hooks))
            for caller in CALLERS.values()
            for call in _first(caller, guard)
        ]
        sections += [f"## {guard.name.capitalize()}", table(("asked by", "about", *titles), rows)]
    every = [(caller.title, *_calls(caller)) for caller in CALLERS.values()]
    return page(GENERATED, *sections, _MORE, table(("asked by", *(guard.name for guard in GUARDS)), every))


def _hooks(root: Path, dialect: str) -> tuple[Hook, ...]:
    folder = root / _GUARDS / dialect
    return Engine().load(str(folder), [str(folder / FILES[dialect])], [dialect], trust=True).hooks


def _first(caller: Caller, guard: Guard) -> Iterator[MadeCall]:
    yield next(call for call in caller.calls if call.guard is guard and call.denied)


def _told(caller: Caller, call: MadeCall, hooks: dict[str, tuple[Hook, ...]]) -> Iterator[str]:
    """What the guard of each dialect is told of the call."""
    payload = Payload(tool_name=call.tool, tool_input=call.at(_HOME, _PROJECT))
    for found in hooks.values():
        session = Engine(found, tools=caller.tools).session("s", cwd=_PROJECT, project_dir=_PROJECT)
        if caller.dialect:
            session.tools = standard_dialects()[caller.dialect].build().own_tools
        (verdict,) = (one for one in session.explain(PRE_TOOL_USE, payload) if one.selected)
        told = payload if verdict.told is None else verdict.told.acts[0].payload
        key = next(key for key in told.tool_input if key not in ("action", "content"))
        yield f"denied: {code(told.tool_name)} {code(key)}"


def _shown(tool: str, arguments: dict[str, Any]) -> str:
    """A call by what it is about, which is its first argument."""
    key, value = next(iter(arguments.items()))
    return f"{tool} {key}={value}"


def _calls(caller: Caller) -> Iterator[str]:
    """The tools that each guard is asked about."""
    for guard in GUARDS:
        calls = [call for call in caller.calls if call.guard is guard and call.denied]
        own = {call.tool for call in calls if not call.for_others}
        names = dict.fromkeys(call.tool for call in calls)
        yield ", ".join(code(name) if name in own else f"_{code(name)}_" for name in names)
