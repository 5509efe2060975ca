"""Translate tool calls for hooks of other agents, and their answers back.

Hooks of the calling agent get the call as it is. Others get each action of the call that matches them, in
their own agent's terms (`actions.translate`), and `TranslatedCall.outcome` merges their answers, in the caller's
terms.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.action import PathContext
from hookline.actions.rewrite import IrreversibleError
from hookline.actions.translate import ReadCall, TranslatedAction, Way
from hookline.engine.memory import HookedSession, tool_table_of
from hookline.model.events import EventSpec
from hookline.model.hook import Doubt
from hookline.model.outcome import PASS, Outcome, Rewrite, Vote, edited, merged

if TYPE_CHECKING:
    from hookline.actions.action import Action
    from hookline.actions.table import ToolTable
    from hookline.engine.lanes import Lane
    from hookline.engine.prepared_hook import PreparedHook
    from hookline.matching.rule_index import RuleIndex
    from hookline.model.hook import Hook
    from hookline.model.session_info import SessionInfo

#: The payload field that says which tool is called, and the one with its arguments.
_NAME, _ARGUMENTS = "tool_name", "tool_input"
_CATEGORY = "tool_category"
_NO_TOOL = "NoToolOfThisName"


class HookInput(Struct, frozen=True, eq=False):
    """One translated action, as a hook gets it."""

    payload: Any
    info: "SessionInfo"
    view: "TranslatedAction"
    #: Why the match is uncertain, if it is.
    doubt: str = ""


class TranslatedCall(Struct, frozen=True, eq=False):
    """One call, translated for one hook."""

    #: The call as it was made.
    payload: Any
    call: ReadCall
    #: The actions that match the hook.
    actions: tuple[HookInput, ...]
    #: How many answers it takes to have judged the whole call.
    answers_needed: int = 1

    def checked(
        self, translated: HookInput, outcome: Outcome, hook: "Hook", event: EventSpec[Any]
    ) -> Outcome:
        """Check an answer about one action: it becomes a denial if its rewrite cannot be put into the call."""
        if not outcome.edits or event.rewrites != _ARGUMENTS:
            return outcome
        denial, _, put_back = self._put_back(translated, outcome, getattr(self.payload, _ARGUMENTS), hook)
        return outcome if put_back else denial

    def outcome(self, hook: "Hook", event: EventSpec[Any], answers: Sequence[Outcome]) -> Outcome:
        """Merge the answers about each action into one answer about the call, in the caller's terms."""
        if all(answer is PASS for answer in answers):
            return PASS
        now = getattr(self.payload, _ARGUMENTS)
        parts: list[Outcome] = []
        changed = False
        for translated, answer in zip(self.actions, answers, strict=True):
            outcome = answer
            if outcome.edits and event.rewrites == _ARGUMENTS:
                outcome, now, edits = self._put_back(translated, outcome, now, hook)
                changed |= edits
            parts.append(outcome)
        total = parts[0] if len(parts) == 1 else _said_once(merged(parts)) if parts else PASS
        if changed:
            total = replace(total, edits=(Rewrite(now, field=_ARGUMENTS, by=hook.name),))
        return total if self._allowed(answers) else _without_allows(total)

    def _put_back(
        self, translated: HookInput, outcome: Outcome, now: Any, hook: "Hook"
    ) -> tuple[Outcome, Any, bool]:
        new: Any = translated.view.arguments
        for edit in outcome.edits:
            new = edited(new, edit)
        try:
            rewritten = self.call.rewritten(translated.view, new, now)
        except IrreversibleError as problem:
            reason = (
                f"the rewrite by {hook.name} cannot be put into the call of {self.call.tool_name}: {problem}"
            )
            votes = (*outcome.votes, Vote("block", reason, by=hook.name))
            return replace(outcome, edits=(), votes=votes), now, False
        return replace(outcome, edits=()), rewritten.arguments, True

    def _allowed(self, answers: Sequence[Outcome]) -> bool:
        """Return True if each action of the call is allowed, and the hook has seen all of the call."""
        if self.call.is_widened:
            return False
        allowed = sum(
            outcome.permission == "allow" and not translated.view.action.implied
            for translated, outcome in zip(self.actions, answers, strict=True)
        )
        return allowed >= self.answers_needed or (allowed == 1 and self.actions[0].view is self.call.whole)


def _without_allows(outcome: Outcome) -> Outcome:
    """Remove allows, and what would allow more from now on, which comes with an allow."""
    if not any(vote.kind == "allow" for vote in outcome.votes):
        return outcome
    votes = tuple(vote for vote in outcome.votes if vote.kind != "allow")
    return replace(outcome, votes=votes, permission_updates=())


def _said_once(outcome: Outcome) -> Outcome:
    """Remove repetitions: a hook often says the same about each of several actions."""
    return replace(
        outcome,
        votes=tuple(dict.fromkeys(outcome.votes)),
        context_items=tuple(dict.fromkeys(outcome.context_items)),
        messages=tuple(dict.fromkeys(outcome.messages)),
        halts=tuple(dict.fromkeys(outcome.halts)),
    )


def translate_call(
    prepared: "PreparedHook", event: EventSpec[Any], payload: Any, last: "TranslationCache"
) -> TranslatedCall:
    """Translate a call for a hook; no actions if the call does not match the hook.

    Raises what the hook's matcher or condition raises.
    """
    call, info = last.call, last.info
    hook = prepared.hook
    target: ToolTable = getattr(hook.wire, "tools")  # noqa: B009 wires of hosts need not have one
    actions: list[HookInput] = []
    needed = 0
    for ways in call.ways(target):
        # What a tool of an MCP server does is judged with the call of that tool.
        implied, parts = ways[0][0].action.implied, 1
        for views in ways:
            named = [view for view in views if _names(hook, event, view)]
            translated = [last.translated_tool(view, target) for view in named]
            found = [held for one in translated if (held := _if_held(hook, event, one)) is not None]
            if found and not event.guard and actions and _same_call(found[0], actions[-1]):
                # A name that can be read in several ways is one call: a hook that only observes gets it once.
                break
            if found:
                # A whole call is passed once, whatever it does.
                actions += [one for one in found if not any(one.view is before.view for before in actions)]
                parts = len(views)
                break
            if len(ways) > 1 and _is_for_anything(hook, event, payload, info):
                break  # a hook for all tools but some must not get another name of one of those
        needed += 0 if implied else parts
    if not actions and event.guard and hook.kind == "builtin" and target.canonical:
        actions += _translate_by_names(hook, event, last, target)
    if not actions and _is_meant_by_name(hook, call):
        whole = HookInput(payload, info, call.whole)
        held = _if_held(hook, event, whole)
        return TranslatedCall(payload, call, () if held is None else (held,))
    return TranslatedCall(payload, call, tuple(actions), needed)


def _translate_by_names(
    hook: "Hook", event: EventSpec[Any], last: "TranslationCache", target: "ToolTable"
) -> list[HookInput]:
    """Translate what an undeclared tool may do, for a rule about what calls do, not about a tool alone."""
    call, condition = last.call, hook.condition
    if hook.in_doubt == "pass" or condition is None or not call.is_undeclared:
        return []
    from hookline.matching.rule_index import may_mean  # noqa: PLC0415 most calls are of known tools
    from hookline.matching.tool_rules import has_argument  # noqa: PLC0415 as above

    if not has_argument(condition):
        return []
    return [
        replace(one, doubt=one.view.action.irreversible)
        for one in last.by_names(target)
        if _names(hook, event, one.view)
        and may_mean(condition, one.view.tool_name, call.tool_name)
        and condition.holds(event, one.payload, one.info)
    ]


def possible_hooks(
    lane: "Lane", index: "RuleIndex", event: EventSpec[Any], last: "TranslationCache"
) -> "Sequence[PreparedHook]":
    """Return the hooks of a lane that `translate_call` may select: those whose rules can match an
    action of the call."""
    call = last.call
    target: ToolTable = getattr(lane.hooks[0].hook.wire, "tools")  # noqa: B009 wires of hosts need not have one
    if not (target.canonical and last.payload.tool_input) or any(action.doubt for action in call.actions):
        return lane.hooks
    found: set[int] = set()
    views = [view for ways in call.ways(target) for views in ways for view in views]
    if event.guard and call.is_undeclared:
        views += [one.view for one in last.by_names(target)]
    for view in views:
        found.update(index.possible(view.tool_name, call.tool_name, view.arguments))
    name = call.tool_name
    return [
        prepared
        for at, prepared in enumerate(lane.hooks)
        # A hook that names the tool as it was called may get the call as it was made.
        if at in found or (prepared.hook.matcher is not None and name in prepared.hook.matcher.text)
    ]


def _is_meant_by_name(hook: "Hook", call: ReadCall) -> bool:
    """Return True if a hook names the tool as it was called: it was written for this agent, in another one's
    format."""
    matcher = hook.matcher
    return (
        matcher is not None
        and call.tool_name in matcher.text.strip("^$()").split("|")
        and matcher.matches(call.tool_name)
    )


def _same_call(one: HookInput, other: HookInput) -> bool:
    """Return True if two actions are one call of a tool of no kind, by two names."""
    first, second = one.view.action, other.view.action
    return (
        first.kind is None
        and second.kind is None
        and (first.called, first.base) == (second.called, second.base)
    )


def _is_for_anything(hook: "Hook", event: EventSpec[Any], payload: Any, info: "SessionInfo") -> bool:
    """Return True if a hook is for all tools but some, or for an unknown category."""
    if hook.matcher is not None and not hook.matcher.matches(_NO_TOOL):
        return False
    if hook.condition is None:
        return True
    unknown: dict[str, Any] = {_NAME: _NO_TOOL, _ARGUMENTS: {}, _CATEGORY: None}
    unknown = {name: value for name, value in unknown.items() if name in payload.__struct_fields__}
    return bool(hook.condition.holds(event, replace(payload, **unknown), info))


def _names(hook: "Hook", event: EventSpec[Any], view: "TranslatedAction") -> bool:
    """Return True if the hook's matcher means the action."""
    matcher = hook.matcher
    if matcher is None or _may_be_any(hook, event, view):
        return True
    return matcher.matches(view.tool_name) or (bool(view.also) and any(map(matcher.matches, view.also)))


def _if_held(hook: "Hook", event: EventSpec[Any], translated: HookInput) -> HookInput | None:
    """Return the action if the hook's condition holds for it. An action that cannot be read may be anything
    of its kind."""
    if hook.condition is None or translated.view.action.doubt:
        return translated
    answer = hook.condition.holds(event, translated.payload, translated.info)
    if not isinstance(answer, Doubt):
        return translated if answer else None
    return None if hook.in_doubt == "pass" else replace(translated, doubt=answer.text)


def _may_be_any(hook: "Hook", event: EventSpec[Any], view: "TranslatedAction") -> bool:
    """Return True if the action may be what any guard is about."""
    return view.action.anything and event.guard and not hook.as_called


def translated_view(
    view: "TranslatedAction", call: ReadCall, target: "ToolTable", payload: Any, info: "SessionInfo"
) -> HookInput:
    """Return an action as a hook gets it."""
    if view.action.kind is None and view.tool_name == call.tool_name:
        return HookInput(payload, info, view)  # a tool without a known meaning is passed as it is
    changes: dict[str, Any] = {_NAME: view.tool_name}
    if payload.tool_input or view.action.kind is None:
        # A copy: what a hook rewrites is compared with the view.
        changes[_ARGUMENTS] = dict(view.arguments)
    if getattr(payload, _CATEGORY, None) is not None and not target.canonical:
        changes[_CATEGORY] = None  # agents have other categories, too
    if target.canonical and "original_call" in payload.__struct_fields__:
        changes["original_call"] = {
            "agent": call.table.agent,
            _NAME: call.tool_name,
            _ARGUMENTS: call.arguments,
            **({"because": view.action.because} if view.action.because else {}),
        }
    if view.cwd:
        info = replace(info, cwd=view.cwd)
    return HookInput(replace(payload, **changes), info, view)


def preferred_actions(
    hook: "Hook", translated_call: TranslatedCall, info: "SessionInfo"
) -> tuple[HookInput, ...]:
    """Return each action in the first form that the hook's agent would use."""
    target: ToolTable = getattr(hook.wire, "tools")  # noqa: B009 wires of hosts need not have one
    return tuple(
        translated_view(view, translated_call.call, target, translated_call.payload, info)
        for ways in translated_call.call.ways(target)
        for view in (ways[0] if ways else ())
    )


class TranslationCache(Struct, eq=False):
    """The last translated tool call: read once for all its hooks, translated once for those of one agent."""

    payload: Any
    info: "SessionInfo"
    call: ReadCall
    #: By hook, or for all hooks of one agent that match any call.
    translated: "dict[PreparedHook | tuple[int, str], TranslatedCall]"
    #: By view and the tools of its agent; both live as long as the call.
    actions: dict[tuple[int, int], HookInput]
    #: What it does to files in any way, once that was read.
    followed: "tuple[Action, ...] | None" = None
    #: By such an action and the tools of an agent.
    ways: "dict[tuple[int, int], tuple[Way, ...]]" = {}
    #: What an undeclared tool may do, once that was read.
    guessed: "list[HookInput] | None" = None

    def followed_ways(self, action: "Action", target: "ToolTable") -> "tuple[Way, ...]":
        key = id(action), id(target)
        known = self.ways.get(key)
        if known is None:
            known = self.ways[key] = self.call.followed_ways(action, target)
        return known

    def by_names(self, target: "ToolTable") -> "Sequence[HookInput]":
        """Return what an undeclared tool may do by the names of its arguments, in canonical terms."""
        if self.guessed is None:
            from hookline.actions.by_names import may_do  # noqa: PLC0415 most calls are of known tools

            views = [
                TranslatedAction(
                    name,
                    replace(action, implied=True, doubt="", irreversible=action.doubt),
                    None,
                    action.kind.also,
                )
                for action in may_do(self.call.tool_name, self.call.arguments)
                if not action.guess and action.kind is not None
                # A tool that writes a file may also edit it.
                for name in dict.fromkeys((action.kind.tool, action.kind.rules_of or action.kind.tool))
            ]
            self.guessed = [
                translated_view(view, self.call, target, self.payload, self.info) for view in views
            ]
        return self.guessed

    def translated_tool(self, view: "TranslatedAction", target: "ToolTable") -> HookInput:
        key = id(view), id(target)
        known = self.actions.get(key)
        if known is None:
            known = self.actions[key] = translated_view(view, self.call, target, self.payload, self.info)
        return known


def call_of(payload: Any, session: HookedSession) -> ReadCall:
    """Read the call of a payload with the tools of the agent that makes it."""
    info = session.info
    home = session.engine.env.get("HOME") or os.path.expanduser("~")
    path_context = PathContext(info.cwd, info.project_dir or info.cwd, home)
    arguments = getattr(payload, _ARGUMENTS, None)
    if not arguments and isinstance(line := getattr(payload, "command", None), str):
        arguments = {"command": line}
    server: Any = getattr(payload, "mcp_server", None)
    name = cast("Mapping[str, Any]", server).get("name") if isinstance(server, Mapping) else None
    return ReadCall(
        tool_table_of(session),
        payload.tool_name,
        arguments,
        path_context,
        name if isinstance(name, str) else "",
    )
