"""Which tools of which agents each guard is asked about, and where one does not hold that should."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.checks.answers import judges
from hookline.checks.context import CheckContext, entries
from hookline.checks.matchers import plain_names
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.engine.lanes import Lane, PreparedHook, select
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import PERMISSION_REQUEST, PRE_TOOL_USE, May
from hookline.model.hook import Hook
from hookline.tools.kinds import FURTHER, KINDS, Kind

if TYPE_CHECKING:
    from hookline.engine.session import Session
    from hookline.tools.table import ToolTable

#: The events at which a call of a tool can be stopped.
GUARDED: Final = (PRE_TOOL_USE, PERMISSION_REQUEST)
_FILE: Final = {"file_path": "README.md"}
#: A call of each kind that somebody may want to guard, in canonical terms.
_SAMPLES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "shell": {"command": "ls"},
        "read": _FILE,
        "write": {**_FILE, "content": "a"},
        "edit": {**_FILE, "old_string": "a", "new_string": "b"},
        "notebook": {"notebook_path": "a.ipynb", "new_source": "a"},
        "delete": _FILE,
        "move": {"source": "a", "destination": "b"},
        "list": {"path": "."},
        "glob": {"pattern": "*.md"},
        "grep": {"pattern": "a"},
        "fetch": {"url": "https://example.org/"},
        "search": {"query": "a"},
        "agent": {"prompt": "a", "description": "a", "subagent_type": "a"},
        "code": {"language": "python", "code": "a"},
    }
)
#: A guard of commands in the background is not asked about others.
_IN_BACKGROUND: Final = "shell in the background"
_MCP: Final = re.compile(r"mcp__[A-Za-z0-9-]+(?:_{1,2}[A-Za-z0-9-]+)*")
_RULE_VALUE: Final = re.compile(r"\w\(([^()]{1,500})\)")
_MOST_VALUES: Final = 8


class Asker(Struct, frozen=True, eq=False):
    """An agent that asks the guards here."""

    title: str
    #: The name of its dialect; empty for Hookline's own agent.
    dialect: str
    #: Its tools; None where these have canonical names.
    tools: "ToolTable | None"
    #: A session in which it calls them.
    session: "Session"
    #: The events at which it asks guards of others; it runs its own itself.
    events: frozenset[str]


class Covered(Struct, frozen=True, eq=False):
    """What a guard is asked about by one agent."""

    asker: Asker
    #: The kinds of the agent's tools that it is asked about, and those that it is not.
    kinds: tuple[str, ...]
    others: tuple[str, ...]
    #: Of those, what it covers in its own agent.
    missing: tuple[str, ...] = ()


class Coverage(Struct, frozen=True, eq=False):
    """The kinds of tools that a guard is asked about, by each agent."""

    hook: Hook
    by_agent: tuple[Covered, ...]
    #: A condition that no sample fulfils, so it was not asked.
    only_if: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(each.kinds for each in self.by_agent)


def guards(loaded: Loaded, context: CheckContext, is_call: Callable[[Hook], bool]) -> Iterator[Hook]:
    """The hooks that may stop a tool call; not those that are known only to watch, nor calls of Hookline."""
    for hook in entries(loaded):
        may_block = hook.event in GUARDED and hook.policy.may & hook.event.may & May.BLOCK
        if not may_block or hook.waiting != "wait" or hook.mode != "enforce" or hook.broken is not None:
            continue
        if not is_call(hook) and judges(hook, context) is not False:
            yield hook


def coverage(hook: Hook, askers: Sequence[Asker]) -> Coverage:
    """Each agent makes sample calls of each kind, in its own terms; the hook is asked as in a dispatch."""
    asked = [each for each in askers if each.dialect == hook.dialect or hook.event.name in each.events]
    ask = partial(_is_asked, Lane(hook.policy, [PreparedHook(hook, None)]), hook)
    found = [Covered(asker, *_kinds(asker, hook, ask)) for asker in asked]
    if hook.condition is not None and not any(each.kinds for each in found):
        # It may be about what no sample has: a mode, an agent, a rare command.
        return replace(
            coverage(replace(hook, condition=None), askers), hook=hook, only_if=hook.condition.text
        )
    # Hooks of Hookline's own format are at home in its agent.
    own = next((each.kinds for each in found if each.asker.dialect in (hook.dialect, "")), ())
    return Coverage(hook, tuple(_with_missing(each, own) for each in found))


def _with_missing(found: Covered, own: Sequence[str]) -> Covered:
    missing = tuple(kind for kind in own if kind in found.others)
    return replace(found, missing=missing) if missing else found


Ask = Callable[[Asker, str, Mapping[str, Any]], bool]


def _kinds(asker: Asker, hook: Hook, ask: Ask) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds of an agent's tools that a hook is asked about, and those that it is not."""
    has: list[str] = []
    lacks: list[str] = []
    values = list(_values(hook))
    for name, sample in _SAMPLES.items():
        calls = [call for given in _given(KINDS[name], sample, values) for call in _calls(asker, name, given)]
        if calls:
            (has if any(ask(asker, *call) for call in calls) else lacks).append(name)
    if "shell" in lacks:
        given = {**_SAMPLES["shell"], "run_in_background": True}
        has += [_IN_BACKGROUND] if any(ask(asker, *call) for call in _calls(asker, "shell", given)) else []
    if any(ask(asker, _in_terms_of(asker, name), {}) for name in _mcp_names(hook)):
        has.append("mcp")
    if not has and hook.condition is None and any(ask(asker, name, {}) for name in _other_names(asker, hook)):
        has.append("other")
    return tuple(has), tuple(lacks)


def _in_terms_of(asker: Asker, mcp_name: str) -> str:
    return mcp_name if asker.tools is None else asker.tools.mcp_name(mcp_name)


def _mcp_names(hook: Hook) -> Iterator[str]:
    """Tools of any server, and of those that a matcher names, if it means them."""
    named = _MCP.findall(hook.matcher.text) if hook.matcher is not None else ()
    for found in ("mcp__server", *named):
        name = found if "__" in found.removeprefix("mcp__") else f"{found}__tool"
        if hook.matcher is None or hook.matcher.matches(name):
            yield name


def _other_names(asker: Asker, hook: Hook) -> Iterator[str]:
    """The agent's tools of no kind, or that do less than their kind, if the hook's matcher means them."""
    names = FURTHER if asker.tools is None else asker.tools.names
    yield from (name for name in names if hook.matcher is not None and hook.matcher.matches(name))


def _is_asked(lane: Lane, hook: Hook, asker: Asker, name: str, given: Mapping[str, Any]) -> bool:
    call = hook.event.payload(tool_name=name, tool_input=given)
    found = select(lane, hook.event, call, asker.session)
    asker.session.once_marks.clear()
    return bool(found)


def _values(hook: Hook) -> Iterator[str]:
    """What the rules of a hook are about, as values of an argument."""
    texts = [each.text for each in (hook.matcher, hook.condition) if each is not None]
    found = [value for text in texts for value in _RULE_VALUE.findall(text)]
    for value in found[:_MOST_VALUES]:
        text = re.sub(r"^domain:", "https://", value.removeprefix("/") if value.startswith("//") else value)
        yield os.path.expanduser(text.replace(":*", " a").replace("**", "a").replace("*", "a"))


def _given(kind: Kind, sample: Mapping[str, Any], values: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    yield sample
    names = {name for name in (kind.needs, *kind.paths) if name}
    yield from ({**sample, **dict.fromkeys(names, value)} for value in values)


def _calls(asker: Asker, kind: str, given: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The calls by which an agent does something; none where it has no tool for it."""
    if asker.tools is None:
        from hookline.tools.standard import STANDARD  # noqa: PLC0415 as below

        # For some kinds only Hookline has a name.
        if STANDARD.tool(KINDS[kind].tool) is not None:
            yield KINDS[kind].tool, given
        return
    from hookline.tools.acts import Place  # noqa: PLC0415 most agents' tools have canonical names
    from hookline.tools.standard import CANONICAL  # noqa: PLC0415 as above
    from hookline.tools.tell import ReadCall  # noqa: PLC0415 as above

    scene = asker.session.scene
    place = Place(scene.cwd, scene.project_dir or scene.cwd, os.path.expanduser("~"))
    for way in ReadCall(CANONICAL, KINDS[kind].tool, given, place).ways(asker.tools)[0]:
        if len(way) == 1 and way[0].tool is not None and way[0].similar is None:
            yield way[0].tool_name, way[0].arguments


def uncovered(found: Coverage) -> Iterator[Diagnostic]:
    """What a guard does not hold for, and should."""
    hook = found.hook
    for each in found.by_agent:
        if not each.missing:
            continue
        tools = "|".join(KINDS[kind].tool for kind in each.missing)
        message = (
            f"in {each.asker.title}, which asks here too, it does not hold for {', '.join(each.missing)}"
        )
        fix = f'a hook in .hookline/hooks.toml with matcher "{tools}" holds in every agent'
        yield about(hook, "warning", "not-covered", message, fix=fix)
    matcher = hook.matcher
    if matcher is None or plain_names(matcher) or "mcp" in matcher.text.casefold():
        return  # names are looked at by themselves
    if found.is_empty:
        message = (
            f'the matcher "{matcher.text}" means no tool that Hookline knows of any agent that asks here'
        )
        yield about(hook, "warning", "covers-nothing", message, "matcher")
