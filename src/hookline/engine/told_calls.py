"""What hooks are told of a tool call that is made with another agent's tools, and what their answers mean for it.

Hooks of the calling agent get the call as it is. Others are told each act of the call that concerns them, in their own
agent's terms (`tools.tell`), and `ToldCall.outcome` puts their answers together, in the caller's terms.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import EventSpec
from hookline.model.hook import Doubt
from hookline.model.outcome import GO_ON, Edit, Outcome, Vote, edited, merged
from hookline.tools.acts import Place
from hookline.tools.rewrite import IrreversibleError
from hookline.tools.tell import ReadCall

if TYPE_CHECKING:
    from hookline.engine.lanes import Lane, PreparedHook
    from hookline.engine.session import Session
    from hookline.matching.rule_index import RuleIndex
    from hookline.model.hook import Hook
    from hookline.model.scene import Scene
    from hookline.tools.table import ToolTable
    from hookline.tools.tell import View

#: The payload field that says which tool is called, and the one with its arguments.
_NAME, _ARGUMENTS = "tool_name", "tool_input"
_CATEGORY = "tool_category"
_NO_TOOL = "NoToolOfThisName"


class ToldAct(Struct, frozen=True, eq=False):
    """One act as a hook is told it."""

    payload: Any
    scene: "Scene"
    view: "View"
    #: What could not be told, where it concerns the hook only in doubt.
    doubt: str = ""


class ToldCall(Struct, frozen=True, eq=False):
    """What one hook is told of one call."""

    #: The call as it was made.
    payload: Any
    call: ReadCall
    #: The acts that concern the hook.
    acts: tuple[ToldAct, ...]
    #: How many answers it takes to have judged all of the call.
    answers_needed: int = 1

    def checked(self, told: ToldAct, outcome: Outcome, hook: "Hook", event: EventSpec[Any]) -> Outcome:
        """An answer about one act: a denial if what it rewrites cannot be put into the call."""
        if not outcome.edits or event.rewrites != _ARGUMENTS:
            return outcome
        denial, _, put_back = self._put_back(told, outcome, getattr(self.payload, _ARGUMENTS), hook)
        return outcome if put_back else denial

    def outcome(self, hook: "Hook", event: EventSpec[Any], answers: Sequence[Outcome]) -> Outcome:
        """The answers about each act as one answer about the call, in the caller's terms."""
        if all(answer is GO_ON for answer in answers):
            return GO_ON
        now = getattr(self.payload, _ARGUMENTS)
        parts: list[Outcome] = []
        changed = False
        for told, answer in zip(self.acts, answers, strict=True):
            outcome = answer
            if outcome.edits and event.rewrites == _ARGUMENTS:
                outcome, now, edits = self._put_back(told, outcome, now, hook)
                changed |= edits
            parts.append(outcome)
        total = parts[0] if len(parts) == 1 else _said_once(merged(parts)) if parts else GO_ON
        if changed:
            total = replace(total, edits=(Edit(now, field=_ARGUMENTS, by=hook.name),))
        return total if self._allowed(answers) else _without_allows(total)

    def _put_back(self, told: ToldAct, outcome: Outcome, now: Any, hook: "Hook") -> tuple[Outcome, Any, bool]:
        new: Any = told.view.arguments
        for edit in outcome.edits:
            new = edited(new, edit)
        try:
            rewritten = self.call.rewritten(told.view, new, now)
        except IrreversibleError as problem:
            reason = (
                f"the rewrite by {hook.name} cannot be put into the call of {self.call.tool_name}: {problem}"
            )
            votes = (*outcome.votes, Vote("block", reason, by=hook.name))
            return replace(outcome, edits=(), votes=votes), now, False
        return replace(outcome, edits=()), rewritten.arguments, True

    def _allowed(self, answers: Sequence[Outcome]) -> bool:
        """A call is allowed only if each of its acts is, and if it asks for nothing that the hook is not told."""
        if self.call.is_widened:
            return False
        allowed = sum(
            outcome.permission == "allow" and not told.view.act.implied
            for told, outcome in zip(self.acts, answers, strict=True)
        )
        return allowed >= self.answers_needed or (allowed == 1 and self.acts[0].view is self.call.whole)


def _without_allows(outcome: Outcome) -> Outcome:
    """And without what would allow more from now on, which comes with an allow."""
    if not any(vote.kind == "allow" for vote in outcome.votes):
        return outcome
    votes = tuple(vote for vote in outcome.votes if vote.kind != "allow")
    return replace(outcome, votes=votes, permission_updates=())


def _said_once(outcome: Outcome) -> Outcome:
    """Without repetitions: a hook often says the same about each of several acts."""
    return replace(
        outcome,
        votes=tuple(dict.fromkeys(outcome.votes)),
        context_items=tuple(dict.fromkeys(outcome.context_items)),
        messages=tuple(dict.fromkeys(outcome.messages)),
        halts=tuple(dict.fromkeys(outcome.halts)),
    )


def tell(prepared: "PreparedHook", event: EventSpec[Any], payload: Any, last: "LastCall") -> ToldCall:
    """What a hook is told of a call; no acts where it does not concern the hook.

    Raises what the hook's matcher or condition raises.
    """
    call, scene = last.call, last.scene
    hook = prepared.hook
    target: ToolTable = getattr(hook.wire, "tools")  # noqa: B009 wires of hosts need not have one
    acts: list[ToldAct] = []
    needed = 0
    for ways in call.ways(target):
        # What a tool of an MCP server does is judged with the call of that tool.
        implied, parts = ways[0][0].act.implied, 1
        for views in ways:
            named = [view for view in views if _names(hook, event, view)]
            told = [last.told_as(view, target) for view in named]
            found = [held for one in told if (held := _if_held(hook, event, one)) is not None]
            if found and not event.guard and acts and _same_call(found[0], acts[-1]):
                break  # a name that can be read in several ways is one call: a hook that only looks on is told it once
            if found:
                # All of a call at once is told once, whatever it does.
                acts += [one for one in found if not any(one.view is before.view for before in acts)]
                parts = len(views)
                break
            if len(ways) > 1 and _is_for_anything(hook, event, payload, scene):
                break  # a hook for all tools but some must not be told another name of one of those
        needed += 0 if implied else parts
    if not acts and _is_meant_by_name(hook, call):
        whole = ToldAct(payload, scene, call.whole)
        held = _if_held(hook, event, whole)
        return ToldCall(payload, call, () if held is None else (held,))
    return ToldCall(payload, call, tuple(acts), needed)


def possible_hooks(
    lane: "Lane", index: "RuleIndex", payload: Any, call: ReadCall
) -> "Sequence[PreparedHook]":
    """The hooks of a lane to which `tell` may tell something: those whose rules can be about an act of the call."""
    target: ToolTable = getattr(lane.hooks[0].hook.wire, "tools")  # noqa: B009 wires of hosts need not have one
    if not (target.canonical and payload.tool_input) or any(act.doubt for act in call.acts):
        return lane.hooks
    found: set[int] = set()
    for view in (view for ways in call.ways(target) for views in ways for view in views):
        found.update(index.possible(view.tool_name, call.tool_name, view.arguments))
    name = call.tool_name
    return [
        prepared
        for at, prepared in enumerate(lane.hooks)
        # One that names the tool as it was called may be told the call as it was made.
        if at in found or (prepared.hook.matcher is not None and name in prepared.hook.matcher.text)
    ]


def _is_meant_by_name(hook: "Hook", call: ReadCall) -> bool:
    """Whether a hook names the tool as it was called: it was written for this agent, in another one's format."""
    matcher = hook.matcher
    return (
        matcher is not None
        and call.tool_name in matcher.text.strip("^$()").split("|")
        and matcher.matches(call.tool_name)
    )


def _same_call(one: ToldAct, other: ToldAct) -> bool:
    """Whether two acts are one call of a tool of no kind, by two names."""
    first, second = one.view.act, other.view.act
    return (
        first.kind is None
        and second.kind is None
        and (first.called, first.base) == (second.called, second.base)
    )


def _is_for_anything(hook: "Hook", event: EventSpec[Any], payload: Any, scene: "Scene") -> bool:
    """Whether a hook is for all tools but some, or for a category of which nothing is known."""
    if hook.matcher is not None and not hook.matcher.matches(_NO_TOOL):
        return False
    if hook.condition is None:
        return True
    unknown: dict[str, Any] = {_NAME: _NO_TOOL, _ARGUMENTS: {}, _CATEGORY: None}
    unknown = {name: value for name, value in unknown.items() if name in payload.__struct_fields__}
    return bool(hook.condition.holds(event, replace(payload, **unknown), scene))


def _names(hook: "Hook", event: EventSpec[Any], view: "View") -> bool:
    """Whether the hook's matcher means the act."""
    matcher = hook.matcher
    if matcher is None or _may_be_any(hook, event, view):
        return True
    return matcher.matches(view.tool_name) or (bool(view.also) and any(map(matcher.matches, view.also)))


def _if_held(hook: "Hook", event: EventSpec[Any], told: ToldAct) -> ToldAct | None:
    """The act if the hook's condition holds for it. An act that cannot be read may be anything of its kind."""
    if hook.condition is None or told.view.act.doubt:
        return told
    answer = hook.condition.holds(event, told.payload, told.scene)
    if not isinstance(answer, Doubt):
        return told if answer else None
    return None if hook.in_doubt == "pass" else replace(told, doubt=answer.text)


def _may_be_any(hook: "Hook", event: EventSpec[Any], view: "View") -> bool:
    """Whether it may be what any guard is about."""
    return view.act.anything and event.guard and not hook.as_called


def _told(view: "View", call: ReadCall, target: "ToolTable", payload: Any, scene: "Scene") -> ToldAct:
    if view.act.kind is None and view.tool_name == call.tool_name:
        return ToldAct(payload, scene, view)  # a tool that means nothing elsewhere is told as it is
    changes: dict[str, Any] = {_NAME: view.tool_name}
    if payload.tool_input or view.act.kind is None:
        # A copy: what a hook rewrites is compared with the view.
        changes[_ARGUMENTS] = dict(view.arguments)
    if getattr(payload, _CATEGORY, None) is not None and not target.canonical:
        changes[_CATEGORY] = None  # agents have other categories, too
    if target.canonical and "called_as" in payload.__struct_fields__:
        changes["called_as"] = {
            "agent": call.table.agent,
            _NAME: call.tool_name,
            _ARGUMENTS: call.arguments,
        }
    if view.cwd:
        scene = replace(scene, cwd=view.cwd)
    return ToldAct(replace(payload, **changes), scene, view)


def preferred_acts(hook: "Hook", told_call: ToldCall, scene: "Scene") -> tuple[ToldAct, ...]:
    """Each act as the hook's agent would tell it first."""
    target: ToolTable = getattr(hook.wire, "tools")  # noqa: B009 wires of hosts need not have one
    return tuple(
        _told(view, told_call.call, target, told_call.payload, scene)
        for ways in told_call.call.ways(target)
        for view in (ways[0] if ways else ())
    )


class LastCall(Struct, frozen=True, eq=False):
    """The tool call that was told last: it is read once for all its hooks, and told alike to those of one agent."""

    payload: Any
    scene: "Scene"
    call: ReadCall
    #: By hook, or for all hooks of one agent that are for any call.
    told: "dict[PreparedHook | tuple[int, str], ToldCall]"
    #: By view and the tools of the agent that it is for; both live as long as the call.
    acts: dict[tuple[int, int], ToldAct]

    def told_as(self, view: "View", target: "ToolTable") -> ToldAct:
        key = id(view), id(target)
        known = self.acts.get(key)
        if known is None:
            known = self.acts[key] = _told(view, self.call, target, self.payload, self.scene)
        return known


def call_of(payload: Any, session: "Session") -> ReadCall:
    """The call of a payload, read by the tools of the agent that makes it."""
    scene = session.scene
    home = session.engine.env.get("HOME") or os.path.expanduser("~")
    place = Place(scene.cwd, scene.project_dir or scene.cwd, home)
    arguments = getattr(payload, _ARGUMENTS, None)
    if not arguments and isinstance(line := getattr(payload, "command", None), str):
        arguments = {"command": line}
    server: Any = getattr(payload, "mcp_server", None)
    name = cast("Mapping[str, Any]", server).get("name") if isinstance(server, Mapping) else None
    return ReadCall(
        session.tool_table, payload.tool_name, arguments, place, name if isinstance(name, str) else ""
    )
