"""Whether a call that passed every check may run: permission rules, then hooks, then the user."""

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.messages import ToolUse
from hookline.agent.ports import Asker, Question
from hookline.agent.turn.checks import (
    RECHECKS,
    CallRules,
    Refusal,
    arguments_of,
    facts_of,
    first_refusal,
    mcp_server_of,
)
from hookline.agent.turn.turn import AgentParts
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import ContextItem, Outcome, Vote
from hookline.model.payloads import JsonObject
from hookline.permissions.decide import CallFacts, Decision, answered, decide
from hookline.permissions.suggest import suggestions

_DENIED_BY_HOOKS = frozenset({"hook_deny", "request_deny"})


class PermittedCall(Struct, frozen=True, kw_only=True):
    """The call as it may run, or why it may not."""

    use: ToolUse
    refusal: Refusal | None = None
    #: The user said no: the turn ends unless a hook asks to go on.
    by_user: bool = False
    stop: str | None = None
    context: tuple[ContextItem, ...] = ()


class PermissionCheck:
    """Decides for one agent. Questions to the user are asked one at a time."""

    def __init__(self, parts: AgentParts) -> None:
        self._hooks = parts.hooks
        self._permissions = parts.permissions
        self._user = parts.user

    @property
    def attended(self) -> bool:
        return self._user.asker is not None

    async def permit(self, use: ToolUse, rules: CallRules, vote: Vote | None) -> PermittedCall:
        """`vote` is the decision of the PreToolUse hooks."""
        facts = facts_of(use, rules)
        decision = decide(facts, self._permissions, vote, self.attended)
        if decision.verdict == "allow":
            return PermittedCall(use=use)
        if not decision.question:
            return PermittedCall(use=use, refusal=_denied(decision))
        outcome = await self._hooks.dispatch(
            e.PERMISSION_REQUEST,
            p.PermissionAsked(
                tool_name=use.name,
                tool_input=facts.tool_input,
                tool_use_id=use.id,
                mcp_server=mcp_server_of(use, rules),
                permission_suggestions=self._suggestions(facts),
            ),
        )
        await self._apply(outcome)
        permitted = await self._after_hooks(use, rules, vote, decision, outcome)
        stop = (outcome.stop_reason or "a hook stopped the turn") if outcome.stop else None
        return replace(permitted, stop=stop, context=outcome.context_items)

    async def _after_hooks(
        self, use: ToolUse, rules: CallRules, vote: Vote | None, decision: Decision, outcome: Outcome
    ) -> PermittedCall:
        """Apply what PermissionRequest hooks said: another input is checked again, an allow answers the question."""
        before = facts_of(use, rules)
        if outcome.updated_input is not None:
            use = ToolUse(id=use.id, name=use.name, input=outcome.updated_input)
            refusal = first_refusal(use, rules, RECHECKS)
            if refusal is not None:
                return PermittedCall(use=use, refusal=refused_rewrite(refusal))
            vote = _holding_back(vote)
        after = facts_of(use, rules)
        settled = answered(decision, before, after, self._permissions, outcome.deciding_vote, self.attended)
        if settled.question and outcome.permission_updates:
            # Rules that hooks added may answer the question.
            settled = decide(after, self._permissions, vote, self.attended)
        if settled.verdict == "ask" and self._user.asker is not None:
            return await self._ask_user(self._user.asker, use, rules, vote)
        return PermittedCall(use=use, refusal=None if settled.verdict == "allow" else _denied(settled))

    def _suggestions(self, facts: CallFacts) -> tuple[JsonObject, ...]:
        return suggestions(facts, self._permissions.reach(facts.cwd), self._permissions.reader.shell)

    async def _apply(self, outcome: Outcome) -> None:
        old = self._permissions.mode
        for update in outcome.permission_updates:
            applied = self._permissions.apply(update, e.PERMISSION_REQUEST.name, update.by)
            if applied.why:
                self._user.show("notice" if applied.ok else "warning", applied.why)
        if self._permissions.mode != old:
            self._hooks.update(permission_mode=self._permissions.mode)
            await self._hooks.dispatch(
                e.MODE_CHANGED, p.ModeMove(old_mode=old, new_mode=self._permissions.mode)
            )

    async def _ask_user(
        self, asker: Asker, use: ToolUse, rules: CallRules, vote: Vote | None
    ) -> PermittedCall:
        async with self._user.dialog:
            # The answer to an earlier question may have settled this one.
            decision = decide(facts_of(use, rules), self._permissions, vote, attended=True)
            if decision.verdict != "ask":
                refusal = None if decision.verdict == "allow" else _denied(decision)
                return PermittedCall(use=use, refusal=refusal)
            return await self._question(asker, use, rules, decision)

    async def _question(
        self, asker: Asker, use: ToolUse, rules: CallRules, decision: Decision
    ) -> PermittedCall:
        message = f"{use.name} needs your permission"
        await self._hooks.dispatch(
            e.NOTIFICATION, p.Notice(message=message, notification_type="permission_prompt")
        )
        await self._hooks.dispatch(e.USER_INPUT_WAITING, p.InputAwaited(reason="permission", message=message))
        reply = await asker.ask(
            Question(
                tool_name=use.name,
                tool_input=arguments_of(use),
                reason=decision.reason,
                suggestions=self._suggestions(facts_of(use, rules)),
                agent=None if rules.caller == "main" else rules.caller,
            )
        )
        if not reply.allow:
            said = reply.message or "the user said no"
            return PermittedCall(use=use, refusal=Refusal("user", said), by_user=True)
        if reply.always:
            self._permissions.grant(use.name, arguments_of(use), rules.cwd)
        return PermittedCall(use=use)


def _holding_back(vote: Vote | None) -> Vote | None:
    """A vote on the old input may still hold a changed call back; it cannot let it through."""
    return vote if vote is not None and vote.kind != "allow" else None


def refused_rewrite(refusal: Refusal) -> Refusal:
    """A hook changed the input to something that may not run: the reason says that it was a hook."""
    return Refusal(refusal.step, f"a hook changed the input, and then: {refusal.reason}", refusal.by_rule)


def _denied(decision: Decision) -> Refusal:
    """By the user's rules or mode, unless a hook denied it."""
    return Refusal(decision.step, decision.reason, by_rule=decision.step not in _DENIED_BY_HOOKS)
