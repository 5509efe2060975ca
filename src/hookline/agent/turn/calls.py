"""Run the tool calls of one model response: check them, show them to hooks, permit them, run them.

The order of one call is in `hookline.engine.host.tool_call`; here are the agent's checks, permission rules, user
and tools.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.kinds import HOOK_WORDS
from hookline.agent.conversation import INTERRUPTED
from hookline.agent.ports import CURRENT_CALL, Asker, PermissionPrompt, Shown
from hookline.agent.tools.base import ShellError
from hookline.agent.turn.checks import (
    RECHECKS,
    CallRules,
    arguments_of,
    category_of,
    facts_of,
    first_refusal,
    mcp_server_of,
)
from hookline.agent.turn.turn import AgentParts
from hookline.engine.host.tool_call import CallResult, Refusal, ToolReply, run_tool_call
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.messages import ToolMessage, ToolUse
from hookline.model.outcome import ContextItem, Outcome, Vote
from hookline.permissions.decide import CallFacts, PermissionDecision, answered, decide
from hookline.permissions.suggest import suggestions

_LONGEST_RESULT = 200_000


class SettledCall(Struct, frozen=True, kw_only=True):
    """Result of one call."""

    use: ToolUse
    result: ToolMessage
    #: Text of hooks that is placed outside the result.
    context: tuple[ContextItem, ...] = ()
    moved_to: str | None = None
    ran: bool = False
    #: Why the turn ends after this batch.
    ends: str | None = None


class CallRunner:
    """Calls of one agent. A hook sees a call once it is known to be valid, and exactly once."""

    def __init__(self, parts: AgentParts) -> None:
        self._parts = parts
        self._workplace = parts.workplace

    async def run(
        self, uses: Sequence[ToolUse], rules: CallRules, *, typed: bool = False
    ) -> list[SettledCall]:
        """Run all calls at once; the results come in the order of the calls. `typed`: the user made them."""
        tasks = [asyncio.ensure_future(self._one(use, rules, typed=typed)) for use in uses]
        try:
            # Not gather alone: when cancelled, it would wait for calls that are slow to end.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            settled = await asyncio.gather(*tasks)
            await self._follow(settled)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            raise CallsInterrupted(await _settled_so_far(uses, tasks)) from None
        finally:
            for task in tasks:  # if one raised, the others must not run on unseen
                task.cancel()
        return list(settled)

    async def _follow(self, settled: Sequence[SettledCall]) -> None:
        """Note the files the calls named, and follow them to the directory they changed to."""
        for one in settled:
            if one.ran:
                self._workplace.touch(arguments_of(one.use))
            if one.moved_to is not None and one.moved_to != self._workplace.cwd:
                await self._workplace.move(one.moved_to)

    async def _one(self, use: ToolUse, rules: CallRules, *, typed: bool) -> SettledCall:
        call = p.ToolCall(
            tool_name=use.name,
            tool_input=arguments_of(use),
            tool_use_id=use.id,
            tool_category=HOOK_WORDS.get(category := category_of(use, rules), category),
            mcp_server=mcp_server_of(use, rules),
        )
        ports = (TypedPorts if typed else AgentPorts)(self._parts, use, call, rules)
        result = await run_tool_call(self._parts.hooks, call, ports)
        if ports.counted and not result.ran:
            rules.budget.left += 1
        self._show_result(use, result)
        return _settled(ports.as_use(result.call), result, ports.moved_to)

    def _show_result(self, use: ToolUse, result: CallResult) -> None:
        by = result.refusal.by if result.refusal is not None else ""
        output: Any = result.output
        patch = (
            cast("Mapping[str, Any]", output).get("structuredPatch") if isinstance(output, Mapping) else ()
        )
        self._parts.user.listener.show(
            Shown(
                kind="result",
                text=result.plain_text,
                tool=use.name,
                tool_input=result.call.tool_input,
                tool_use_id=use.id,
                is_error=result.is_error,
                refused=not result.ran,
                patch=cast("list[Any]", patch) if isinstance(patch, list) else (),
                **self._parts.hooks.by(by, e.PRE_TOOL_USE, e.PERMISSION_REQUEST),
            )
        )
        for objection in result.feedback:
            self._parts.warn(f"{use.name}: {objection}")


class AgentPorts:
    """The agent's part in one call."""

    def __init__(self, parts: AgentParts, use: ToolUse, call: p.ToolCall, rules: CallRules) -> None:
        self._hooks = parts.hooks
        self._permissions = parts.permissions
        self._user = parts.user
        self._workplace = parts.workplace
        self._rules = rules
        self._use = use
        self._call = call
        #: The call holds a unit of the turn's budget.
        self.counted = False
        #: The working directory after the call, if it changed.
        self.moved_to: str | None = None

    def as_use(self, call: p.ToolCall) -> ToolUse:
        """Return the call as the model wrote it, also with arguments that are not an object, unless a hook
        changed it.
        """
        if call is self._call:
            return self._use
        return ToolUse(id=self._use.id, name=call.tool_name, input=call.tool_input)

    def _facts(self, call: p.ToolCall) -> CallFacts:
        return facts_of(self.as_use(call), self._rules)

    def check(self, call: p.ToolCall, *, rewritten: bool) -> Refusal | None:
        if rewritten:
            return first_refusal(self.as_use(call), self._rules, RECHECKS)
        refusal = first_refusal(self._use, self._rules)
        if refusal is None:
            self._rules.budget.left -= 1
            self.counted = True
        return refusal

    def decide(self, call: p.ToolCall, vote: Vote | None) -> PermissionDecision:
        return decide(self._facts(call), self._permissions, vote, self._attended)

    @property
    def _attended(self) -> bool:
        return self._user.asker is not None

    def suggestions(self, call: p.ToolCall) -> tuple[p.JsonObject, ...]:
        facts = self._facts(call)
        return suggestions(facts, self._permissions.reach(facts.cwd), self._permissions.reader.shell)

    async def update(self, said: Outcome) -> None:
        old = self._permissions.mode
        for update in said.permission_updates:
            applied = self._permissions.apply(update, e.PERMISSION_REQUEST.name, update.by)
            if applied.why:
                self._user.show("notice" if applied.ok else "warning", applied.why)
        if self._permissions.mode != old:
            self._hooks.update(permission_mode=self._permissions.mode)
            await self._hooks.dispatch(
                e.MODE_CHANGED, p.ModeMove(old_mode=old, new_mode=self._permissions.mode)
            )

    def answered(
        self,
        asked: PermissionDecision,
        before: p.ToolCall,
        after: p.ToolCall,
        said: Outcome,
        vote: Vote | None,
    ) -> PermissionDecision:
        settled = answered(
            asked,
            self._facts(before),
            self._facts(after),
            self._permissions,
            said.deciding_vote,
            self._attended,
        )
        if settled.question and said.permission_updates:
            # Rules that hooks added may answer the question.
            return self.decide(after, vote)
        return settled

    def refused(self, decision: PermissionDecision) -> Refusal:
        """Refuse a call by the user's rules or mode, unless a hook denied it."""
        return Refusal(decision.step, decision.reason, by_rule=decision.step != "hook_deny")

    async def approve(
        self, call: p.ToolCall, decision: PermissionDecision, vote: Vote | None
    ) -> Refusal | None:
        asker = self._user.asker
        if asker is None:
            return self.refused(decision)
        async with self._user.dialog:
            # The answer to an earlier question may have settled this one.
            decision = self.decide(call, vote)
            if decision.decision == "allow":
                return None
            return (
                await self._ask(asker, call, decision, vote)
                if decision.decision == "ask"
                else self.refused(decision)
            )

    async def _ask(
        self, asker: Asker, call: p.ToolCall, decision: PermissionDecision, vote: Vote | None
    ) -> Refusal | None:
        message = f"{call.tool_name} needs your permission"
        await self._hooks.dispatch(
            e.NOTIFICATION, p.Notice(message=message, notification_type="permission_prompt")
        )
        await self._hooks.dispatch(e.USER_INPUT_WAITING, p.InputAwaited(reason="permission", message=message))
        reply = await asker.ask(await self._question(call, decision, vote))
        if not reply.allow:
            said = reply.message or "the user said no"
            return Refusal("user", said, by_rule=True, ends=not reply.go_on)
        if reply.always:
            self._permissions.grant(call.tool_name, call.tool_input, self._rules.cwd)
        return None

    async def _question(
        self, call: p.ToolCall, decision: PermissionDecision, vote: Vote | None
    ) -> PermissionPrompt:
        hook = vote.by if vote is not None and decision.step == "hook_ask" else ""
        by = self._hooks.by(hook, e.PRE_TOOL_USE, e.PERMISSION_REQUEST)
        title: str = getattr(self._rules.tools.get(call.tool_name), "asks", "")
        return PermissionPrompt(
            title=title,
            tool_name=call.tool_name,
            tool_input=call.tool_input,
            reason=decision.reason,
            suggestions=self.suggestions(call),
            agent=None if self._rules.caller == "main" else self._rules.caller,
            hook=hook,
            source=by.get("source", "") or (decision.source or "" if decision.rule else ""),
            # One that is asked about in its own words is asked about each time.
            grants=()
            if title
            else self._permissions.would_grant(call.tool_name, call.tool_input, self._rules.cwd),
            patch=await self._preview(call),
        )

    async def _preview(self, call: p.ToolCall) -> list[dict[str, Any]]:
        preview = getattr(self._rules.tools.get(call.tool_name), "preview", None)
        return await preview(call.tool_input, self._workplace) if preview is not None else []

    async def run(self, call: p.ToolCall) -> ToolReply:
        CURRENT_CALL.set(self._use.id)  # each call is a separate task, so this applies to what it starts
        about: dict[str, Any] = {
            "tool": call.tool_name,
            "tool_input": call.tool_input,
            "tool_use_id": self._use.id,
        }
        self._user.listener.show(Shown(kind="call", **about))
        try:
            reply = await self._rules.tools[call.tool_name].run(call.tool_input, self._workplace)
        except ShellError as failure:
            self.moved_to = failure.moved_to
            raise
        self.moved_to = reply.moved_to
        return ToolReply(response=reply.text if reply.response is None else reply.response, text=reply.text)


class TypedPorts(AgentPorts):
    """The agent's part in a call that the user typed: it needs no permission, but rules and hooks hold."""

    def decide(self, call: p.ToolCall, vote: Vote | None) -> PermissionDecision:
        decision = super().decide(call, vote)
        by_default = decision.question and decision.step in ("default", "unattended")
        return replace(decision, decision="allow", question=False) if by_default else decision


class CallsInterrupted(asyncio.CancelledError):
    """An interruption of the turn, with the results of its calls until then."""

    def __init__(self, settled: list[SettledCall]) -> None:
        super().__init__("interrupted")
        self.settled = settled


async def _settled_so_far(
    uses: Sequence[ToolUse], tasks: "Sequence[asyncio.Future[SettledCall]]"
) -> list[SettledCall]:
    """Return the results of the calls that ended; the others count as interrupted."""
    done, _pending = await asyncio.wait(tasks, timeout=5)
    return [
        task.result()
        if task in done and not task.cancelled() and task.exception() is None
        else SettledCall(use=use, result=_result(use, INTERRUPTED, is_error=True))
        for use, task in zip(uses, tasks, strict=True)
    ]


def _settled(use: ToolUse, result: CallResult, moved_to: str | None) -> SettledCall:
    return SettledCall(
        use=use,
        result=_result(use, result.text_up_to(_LONGEST_RESULT), is_error=result.is_error),
        context=result.context,
        moved_to=moved_to,
        ran=result.ran,
        ends=result.stop,
    )


def _result(use: ToolUse, text: str, *, is_error: bool) -> ToolMessage:
    return ToolMessage(tool_use_id=use.id, name=use.name, text=text, is_error=is_error)
