"""Whether a program that was written for one agent means the same in another.

Nothing is known here about any agent: what hooks are told is what their wires write for the same payload, and what they
say is what their wires read, as it counts under their policies. What is not known to be the same is not the same.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.convert.script import Script
from hookline.cli.commands.convert.trial import Side, Trial
from hookline.dialects.entry_form import Ending
from hookline.model.wire import Call, Parsed
from hookline.testing.recordings import recorded
from hookline.tools.table import ToolTable
from hookline.tools.tool import NOTHING, Argument, Tool

#: What is another thing in each agent, whatever its value: files of the agent's own, results of its own tools.
_OF_THE_AGENT: Final = frozenset(("transcript_path", "agent_transcript_path", "tool_response", "timestamp"))
_NAME, _INPUT = "tool_name", "tool_input"
_MODES: Final = ("default", "plan", "acceptEdits", "bypassPermissions")
Field = tuple[str, ...]


class Sameness(Struct, frozen=True):
    """How the entry must be written to mean the same, or why it cannot."""

    ending: Ending | None
    #: Each as the rest of a sentence that begins with "it".
    why: tuple[str, ...] = ()


def sameness(source: Side, target: Side, script: Script, tools: Sequence[tuple[str, str]]) -> Sameness:
    """`tools` are the tools that the program would be asked about, as each of the two agents calls them."""
    payloads = list(_payloads(source))
    if script.unproven:
        return Sameness(None, (script.unproven,))
    if not payloads:
        return Sameness(None, (f"is about {source.event_name}, which was never recorded",))
    found = [*_surroundings(source, target, script, payloads[0], about_tools=bool(tools))]
    found += _fields(source, target, script.fields, payloads, tools)
    calls = _call(source, payloads[0]), _call(target, payloads[0])
    trial = Trial(source, target, calls)
    tried = [
        (ending, tuple(trial.differences(script.ends, ending))) for ending in target.form.endings(source.form)
    ]
    ending, other = next((each for each in tried if not each[1]), tried[-1])
    found += other
    return Sameness(None if found else ending, tuple(dict.fromkeys(found)))


def _payloads(source: Side) -> Iterator[Parsed]:
    """Payloads of the event as the source's agent sends them."""
    for each in recorded(source.dialect.name):
        if each.event == source.event_name:
            parsed = source.dialect.wire.parse(each.payload)
            if parsed.event is source.hook.event:
                yield parsed


def _call(side: Side, parsed: Parsed, mode: str | None = None) -> Call:
    scene = parsed.scene if mode is None else replace(parsed.scene, permission_mode=mode)
    return Call(
        side.hook,
        side.hook.event,
        parsed.payload,
        replace(scene, project_dir=scene.project_dir or scene.cwd),
        1.0,
    )


# --- what it is told


def _surroundings(
    source: Side, target: Side, script: Script, parsed: Parsed, *, about_tools: bool
) -> Iterator[str]:
    title = target.dialect.title
    theirs, ours = (side.hook.wire.encode(_call(side, parsed)).env for side in (source, target))
    for name in sorted(script.variables):
        if name in source.dialect.project_variables or name in theirs:
            if name not in ours:
                yield f"uses ${name}, which {title} does not set"
        else:
            yield f"uses ${name}, which may be another one in {title}"
    if script.place and about_tools:
        yield f"{script.place}, and a call may be made in another directory in {title}"


def _fields(
    source: Side,
    target: Side,
    fields: frozenset[Field],
    payloads: Sequence[Parsed],
    tools: Sequence[tuple[str, str]],
) -> Iterator[str]:
    title = target.dialect.title
    if () in fields:
        yield f"uses the payload as a whole, which is another text in {title}"
    plain = sorted(field for field in fields if field and not (tools and field[0] in (_NAME, _INPUT)))
    for field in plain:
        if field[0] in _OF_THE_AGENT or (tools and field[0] == "cwd"):
            yield f"reads {field[0]}, which is something else in {title}"
        else:
            yield from _untold(source, target, field, payloads)
    for theirs, ours in tools:
        if theirs != ours and any(field[:1] == (_NAME,) for field in fields):
            yield f"reads {_NAME}, and {theirs} is {ours} in {title}"
        for field in sorted(fields):
            if field[:1] == (_INPUT,):
                yield from _other_argument(
                    source.dialect.tools, target.dialect.tools, (theirs, ours), field, title
                )


def _untold(source: Side, target: Side, field: Field, payloads: Sequence[Parsed]) -> Iterator[str]:
    title, known = target.dialect.title, False
    for parsed, mode in itertools.product(payloads, _MODES):
        sent, told = (
            json.loads(side.hook.wire.encode(_call(side, parsed, mode)).document) for side in (source, target)
        )
        known = known or field[0] in sent
        if _at(sent, field) == _at(told, field):
            continue
        if field[0] not in told:
            yield f"reads {field[0]}, which {title} does not send at {target.event_name}"
        else:
            yield f"reads {field[0]}, which is something else in {title}"
        return
    if not known:
        yield f"reads {field[0]}, which was never recorded at {source.event_name}"


def _at(value: Any, field: Field) -> Any:
    for key in field:
        value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
    return value


def _other_argument(
    source: ToolTable, target: ToolTable, names: tuple[str, str], field: Field, title: str
) -> Iterator[str]:
    """What is different in one argument of a tool."""
    theirs, ours = names
    told, called = source.tool(theirs), target.tool(ours)
    key = field[1] if len(field) == 2 else ""
    if not key or (told is not None and called is not None and not (_is_plain(told) and _is_plain(called))):
        yield f"reads the arguments of {theirs}, and {ours} has others in {title}"
        return
    arguments: Mapping[str, Argument] = told.arguments if told is not None else NOTHING
    name = next((name for name, each in arguments.items() if key in each.keys), None)
    if name is None:
        own = [*(told.own_keys if told else ()), *(called.own_keys if called else ())]
        if key in own:
            yield f"reads {key} of {theirs}, which is something else for {ours} in {title}"
        return
    each, other = arguments[name], called.arguments.get(name) if called is not None else None
    if other is None or other.keys[0] != key or each.keys[0] != key or other.unit is not each.unit:
        yield f"reads {key}, which {ours} does not have in {title}"
    elif told is not None and name in told.of.paths:
        yield f"reads {key}, and one of the two agents may send relative paths where the other does not"


def _is_plain(tool: Tool) -> bool:
    return bool(tool.kind) and not (tool.patch or tool.edits or tool.choice or tool.each_of or tool.urls_in)


def tool_names(source: ToolTable, target: ToolTable) -> list[tuple[str, str]]:
    """Every tool of the target, with each name by which the source tells its hooks of such a call."""
    pairs: list[tuple[str, str]] = []
    for name, tool in target.tools.items():
        if tool.narrow or name in target.told_only:
            continue
        kinds = ("write", "edit", "delete", "move") if tool.patch else (tool.kind,)
        told = [own for kind in kinds if kind for own, _form in source.tools_of(kind)]
        pairs += [(own, name) for own in dict.fromkeys(told or [name])]
    return pairs
