"""How a tool call is told to hooks that are written for another agent's tools, and what their rewrites make of it.

A call of an agent is told to hooks of the same agent as it is. Other hooks are told each act of the call in their own
agent's terms; `Telling.outcome` puts what they answered back into the caller's.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Edit, Outcome, Vote, edited, merged

if TYPE_CHECKING:
    from hookline.engine.lanes import PreparedHook
    from hookline.engine.session import Session
    from hookline.model.hook import Hook
    from hookline.model.scene import Scene
    from hookline.tools.table import ToolTable
    from hookline.tools.tell import ReadCall, View

#: The payload field that says which tool is called, and the one with its arguments.
_NAME, _ARGUMENTS = "tool_name", "tool_input"


class ToldAct(Struct, frozen=True, eq=False):
    """One act as a hook is told it."""

    payload: Any
    scene: "Scene"
    view: "View"


class Telling(Struct, frozen=True, eq=False):
    """What one hook is told of one call."""

    #: The call as it was made.
    payload: Any
    call: "ReadCall"
    #: The acts that concern the hook.
    acts: tuple[ToldAct, ...]

    def outcome(self, hook: "Hook", event: EventSpec[Any], answers: Sequence[Outcome]) -> Outcome:
        """The answers about each act as one answer about the call, in the caller's terms."""
        now = getattr(self.payload, _ARGUMENTS)
        parts: list[Outcome] = []
        changed = False
        for told, answer in zip(self.acts, answers, strict=True):
            outcome = answer
            if outcome.edits and event.rewrites == _ARGUMENTS:
                outcome, now, edits = self._put_back(told, outcome, now, hook)
                changed |= edits
            parts.append(outcome)
        total = parts[0] if len(parts) == 1 else merged(parts) if parts else GO_ON
        if changed:
            total = replace(total, edits=(Edit(now, field=_ARGUMENTS, by=hook.name),))
        return total if self._allowed(answers) else _without_allows(total)

    def _put_back(self, told: ToldAct, outcome: Outcome, now: Any, hook: "Hook") -> tuple[Outcome, Any, bool]:
        from hookline.tools.tell import IrreversibleError  # noqa: PLC0415 rewrites are rare

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
        """A call is allowed only if each of its acts is."""
        acts = len(self.call.acts)
        allowed = sum(outcome.permission == "allow" for outcome in answers)
        return acts == 1 or allowed >= acts or (allowed == 1 and self.acts[0].view is self.call.whole)


def _without_allows(outcome: Outcome) -> Outcome:
    if not any(vote.kind == "allow" for vote in outcome.votes):
        return outcome
    return replace(outcome, votes=tuple(vote for vote in outcome.votes if vote.kind != "allow"))


def tell(
    prepared: "PreparedHook", event: EventSpec[Any], payload: Any, call: "ReadCall", scene: "Scene"
) -> Telling:
    """What a hook is told of a call; no acts where it does not concern the hook.

    Raises what the hook's matcher or condition raises.
    """
    hook = prepared.hook
    target: ToolTable = getattr(hook.wire, "tools")  # noqa: B009 wires of hosts need not have one
    acts: list[ToldAct] = []
    for tellings in call.tellings(target):
        for views in tellings:
            told = [_told(view, call, target, payload, scene) for view in views]
            found = [one for one in told if _concerns(hook, event, one)]
            if found:
                # All of a call at once is told once, whatever it does.
                acts += [one for one in found if not any(one.view is before.view for before in acts)]
                break
    return Telling(payload, call, tuple(acts))


def _concerns(hook: "Hook", event: EventSpec[Any], told: ToldAct) -> bool:
    matcher, view = hook.matcher, told.view
    if matcher is not None and not any(map(matcher.matches, (view.tool_name, *view.also))):
        return False
    if hook.condition is None:
        return True
    # An act that cannot be read may be anything of its kind.
    return bool(view.act.doubt) or hook.condition.holds(event, told.payload, told.scene)


def _told(view: "View", call: "ReadCall", target: "ToolTable", payload: Any, scene: "Scene") -> ToldAct:
    if view.act.kind is None and view.tool_name == call.tool_name:
        return ToldAct(payload, scene, view)  # a tool that means nothing elsewhere is told as it is
    changes: dict[str, Any] = {_NAME: view.tool_name}
    if payload.tool_input or view.act.kind is None:
        changes[_ARGUMENTS] = view.arguments
    if getattr(payload, "tool_category", None) is not None and not target.canonical:
        changes["tool_category"] = None  # agents have other categories, too
    if target.canonical and "called_as" in payload.__struct_fields__:
        changes["called_as"] = {
            "agent": call.table.agent,
            _NAME: call.tool_name,
            _ARGUMENTS: call.arguments,
        }
    if view.cwd:
        scene = replace(scene, cwd=view.cwd)
    return ToldAct(replace(payload, **changes), scene, view)


def read_call(payload: Any, session: "Session") -> "ReadCall":
    """The call of a payload, read by the tools of the agent that makes it."""
    from hookline.tools.read_call import Place  # noqa: PLC0415 most calls are told as they are
    from hookline.tools.tell import ReadCall  # noqa: PLC0415 as above

    scene = session.scene
    place = Place(scene.cwd, scene.project_dir or scene.cwd, os.path.expanduser("~"))
    arguments = getattr(payload, _ARGUMENTS, None)
    if not arguments and isinstance(line := getattr(payload, "command", None), str):
        arguments = {"command": line}
    server: Any = getattr(payload, "mcp_server", None)
    name = cast("Mapping[str, Any]", server).get("name") if isinstance(server, Mapping) else None
    return ReadCall(
        session.tool_table, payload.tool_name, arguments, place, name if isinstance(name, str) else ""
    )


def explained_telling(
    prepared: "PreparedHook", event: EventSpec[Any], payload: Any, session: "Session"
) -> tuple[Any, "Scene", str]:
    """What explains whether a hook runs: the payload that it is told, and in which words."""
    telling = session.telling(prepared, event, payload)
    acts = telling.acts
    if not acts:
        target: ToolTable = getattr(prepared.hook.wire, "tools")  # noqa: B009 as above
        view = telling.call.tellings(target)[0][0][0]
        acts = (_told(view, telling.call, target, payload, session.scene),)
    first = acts[0]
    name, names = first.payload.tool_name, (first.payload.tool_name, *first.view.also)
    matcher = prepared.hook.matcher
    meant = next((each for each in names if matcher is None or matcher.matches(each)), name)
    more = f" and {len(acts) - 1} more" if len(acts) > 1 else ""
    told = f"{payload.tool_name} is told as {name}{more}; " if name != payload.tool_name or more else ""
    return (first.payload if meant == name else replace(first.payload, tool_name=meant)), first.scene, told
