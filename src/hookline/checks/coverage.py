"""Find which tools of which agents each guard sees, and which it should see and does not."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.kinds import FURTHER, KINDS, ToolKind
from hookline.checks.commands.answers import judges
from hookline.checks.context import CheckContext, entries
from hookline.checks.matchers import plain_names
from hookline.config.load import Loaded
from hookline.dialects.registry import OWN_FORMAT
from hookline.dialects.report import about
from hookline.engine.lanes import Lane
from hookline.engine.memory import once_marks_of
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.select_hooks import select
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import PERMISSION_REQUEST, PRE_TOOL_USE, Capability
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.engine.session import Session

#: The events at which a call of a tool can be stopped.
GUARDED: Final = (PRE_TOOL_USE, PERMISSION_REQUEST)
_FILE: Final = {"file_path": "README.md"}
#: A sample call of each kind that a guard may be for, in canonical terms.
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


class CallingAgent(Struct, frozen=True, eq=False):
    """An agent that calls Hookline here."""

    title: str
    #: The name of its dialect; empty for Hookline's own agent.
    dialect: str
    #: Its tools; None where these have canonical names.
    tools: "ToolTable | None"
    #: A session in which it calls them.
    session: "Session"
    #: The events at which it asks Hookline's guards; it runs its own itself.
    events: frozenset[str]
    #: The events at which it also asks those that were written for other agents.
    events_of_others: frozenset[str]

    def asks(self, hook: Hook) -> bool:
        """Return True if the hook runs for its calls."""
        events = self.events if hook.dialect == OWN_FORMAT else self.events_of_others
        return self.dialect == hook.dialect or hook.event.name in events


class Covered(Struct, frozen=True, eq=False):
    """Coverage of a guard in one agent."""

    asker: CallingAgent
    #: The kinds of the agent's tools that it sees, and those that it does not see.
    kinds: tuple[str, ...]
    others: tuple[str, ...]
    #: Of the latter, those that it sees in its own agent.
    missing: tuple[str, ...] = ()


class GuardCoverage(Struct, frozen=True, eq=False):
    """Kinds of tools that a guard sees, by agent."""

    hook: Hook
    by_agent: tuple[Covered, ...]
    #: A condition that no sample fulfils, so it was not asked.
    only_if: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(each.kinds for each in self.by_agent)


def guards(loaded: Loaded, context: CheckContext, is_call: Callable[[Hook], bool]) -> Iterator[Hook]:
    """Yield the hooks that may stop a tool call; not those known only to watch, nor calls of Hookline."""
    for hook in entries(loaded):
        may_block = hook.event in GUARDED and hook.policy.may & hook.event.may & Capability.BLOCK
        if not may_block or hook.waiting != "wait" or hook.mode != "enforce" or hook.broken is not None:
            continue
        if not is_call(hook) and judges(hook, context) is not False:
            yield hook


def coverage(hook: Hook, askers: Sequence[CallingAgent]) -> GuardCoverage:
    """Test the hook with sample calls of each kind by each agent, as a dispatch would."""
    asked = [each for each in askers if each.asks(hook)]
    ask = partial(_is_asked, Lane(hook.policy, [PreparedHook(hook, None)]), hook)
    found = [Covered(asker, *_kinds(asker, hook, ask)) for asker in asked]
    if hook.condition is not None and not any(each.kinds for each in found):
        # It may concern something that no sample has: a mode, an agent, a rare command.
        return replace(
            coverage(replace(hook, condition=None), askers), hook=hook, only_if=hook.condition.text
        )
    # Hooks of Hookline's own format are at home in its agent.
    own = next((each.kinds for each in found if each.asker.dialect in (hook.dialect, "")), ())
    return GuardCoverage(hook, tuple(_with_missing(each, own) for each in found))


def _with_missing(found: Covered, own: Sequence[str]) -> Covered:
    missing = tuple(kind for kind in own if kind in found.others)
    return replace(found, missing=missing) if missing else found


Ask = Callable[[CallingAgent, str, Mapping[str, Any]], bool]


def _kinds(asker: CallingAgent, hook: Hook, ask: Ask) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the kinds of an agent's tools that a hook sees, and those that it does not see."""
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


def _in_terms_of(asker: CallingAgent, mcp_name: str) -> str:
    return mcp_name if asker.tools is None else asker.tools.mcp_name(mcp_name)


def _mcp_names(hook: Hook) -> Iterator[str]:
    """Yield names of MCP tools: of any server, and of those that a matcher names."""
    named = _MCP.findall(hook.matcher.text) if hook.matcher is not None else ()
    for found in ("mcp__server", *named):
        name = found if "__" in found.removeprefix("mcp__") else f"{found}__tool"
        if hook.matcher is None or hook.matcher.matches(name):
            yield name


def _other_names(asker: CallingAgent, hook: Hook) -> Iterator[str]:
    """Yield the agent's tools of no kind, or that do less than their kind, if the hook's matcher matches them."""
    names = FURTHER if asker.tools is None else asker.tools.names
    yield from (name for name in names if hook.matcher is not None and hook.matcher.matches(name))


def _is_asked(lane: Lane, hook: Hook, asker: CallingAgent, name: str, given: Mapping[str, Any]) -> bool:
    call = hook.event.payload(tool_name=name, tool_input=given)
    found = select(lane, hook.event, call, asker.session)
    once_marks_of(asker.session).clear()
    return bool(found)


def _values(hook: Hook) -> Iterator[str]:
    """Yield the values in the rules of a hook, as values of an argument."""
    texts = [each.text for each in (hook.matcher, hook.condition) if each is not None]
    found = [value for text in texts for value in _RULE_VALUE.findall(text)]
    for value in found[:_MOST_VALUES]:
        text = re.sub(r"^domain:", "https://", value.removeprefix("/") if value.startswith("//") else value)
        yield os.path.expanduser(text.replace(":*", " a").replace("**", "a").replace("*", "a"))


def _given(kind: ToolKind, sample: Mapping[str, Any], values: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    yield sample
    names = {name for name in (kind.needs, *kind.paths) if name}
    yield from ({**sample, **dict.fromkeys(names, value)} for value in values)


def _calls(
    asker: CallingAgent, kind: str, given: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the calls by which an agent does something; none where it has no tool for it."""
    if asker.tools is None:
        from hookline.actions.standard_tools import STANDARD  # noqa: PLC0415 as below

        # For some kinds only Hookline has a name.
        if STANDARD.tool(KINDS[kind].tool) is not None:
            yield KINDS[kind].tool, given
        return
    from hookline.actions.action import PathContext  # noqa: PLC0415 most agents' tools have canonical names
    from hookline.actions.standard_tools import CANONICAL  # noqa: PLC0415 as above
    from hookline.actions.translate import ReadCall  # noqa: PLC0415 as above

    info = asker.session.info
    path_context = PathContext(info.cwd, info.project_dir or info.cwd, os.path.expanduser("~"))
    for way in ReadCall(CANONICAL, KINDS[kind].tool, given, path_context).ways(asker.tools)[0]:
        if len(way) == 1 and way[0].tool is not None and way[0].similar is None:
            yield way[0].tool_name, way[0].arguments


def uncovered(found: GuardCoverage) -> Iterator[Diagnostic]:
    """Report the tools that a guard should see and does not."""
    hook = found.hook
    for each in found.by_agent:
        if not each.missing:
            continue
        tools = "|".join(KINDS[kind].tool for kind in each.missing)
        message = (
            f"in {each.asker.title}, which calls Hookline here too, it does not see {', '.join(each.missing)}"
        )
        fix = f'a hook in .hookline/hooks.toml with matcher "{tools}" holds in every agent'
        yield about(hook, "warning", "not-covered", message, fix=fix)
    matcher = hook.matcher
    if matcher is None or plain_names(matcher) or "mcp" in matcher.text.casefold():
        return  # names are checked separately
    if found.is_empty:
        message = (
            f'the matcher "{matcher.text}" means no tool that Hookline knows of any agent that asks here'
        )
        yield about(hook, "warning", "covers-nothing", message, "matcher")
