"""Whether a call that passed every check may run: rules, hooks and, last, the user."""

import asyncio
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.hooks import Hooks
from hookline.agent.messages import ToolUse
from hookline.agent.ports import Asker, Listener, Question, Shown
from hookline.agent.turn.checks import (
    RECHECKS,
    Refusal,
    Rules,
    arguments_of,
    facts_of,
    first_refusal,
    mcp_server_of,
)
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import ContextItem, Outcome, Vote
from hookline.model.payloads import JsonObject
from hookline.permissions.decide import CallFacts, Decision, answered, decide
from hookline.permissions.state import Permissions
from hookline.permissions.suggest import suggestions

_OF_HOOKS = frozenset({"hook_deny", "request_deny"})


class Permitted(Struct, frozen=True, kw_only=True):
    """The call as it may run, or why it does not."""

    use: ToolUse
    refusal: Refusal | None = None
    #: The user said no: the turn ends unless a hook asks to go on.
    by_user: bool = False
    stop: str | None = None
    context: tuple[ContextItem, ...] = ()


def _ignore(mode: str) -> None:
    del mode


class Permitting:
    """Answers for one session; its dialogs are shown one after another."""

    def __init__(
        self,
        hooks: Hooks,
        permissions: Permissions,
        asker: Asker | None,
        listener: Listener,
        dialog: asyncio.Lock | None = None,
    ) -> None:
        self._hooks = hooks
        self._permissions = permissions
        self._asker = asker
        self._listener = listener
        #: Told when a hook changed the mode.
        self.on_mode: Callable[[str], None] = _ignore
        #: A sub-agent shares its parent's: there is one user.
        self._dialog = dialog if dialog is not None else asyncio.Lock()

    @property
    def attended(self) -> bool:
        return self._asker is not None

    async def permit(self, use: ToolUse, rules: Rules, vote: Vote | None) -> Permitted:
        """`vote` is what PreToolUse hooks said of the call."""
        facts = facts_of(use, rules)
        decision = decide(facts, self._permissions, vote, self.attended)
        if decision.verdict == "allow":
            return Permitted(use=use)
        if not decision.question:
            return Permitted(use=use, refusal=_denied(decision))
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
        self, use: ToolUse, rules: Rules, vote: Vote | None, decision: Decision, outcome: Outcome
    ) -> Permitted:
        """What hooks said is taken in: another input is checked anew, and an allow answers the question."""
        before = facts_of(use, rules)
        if outcome.updated_input is not None:
            use = ToolUse(id=use.id, name=use.name, input=outcome.updated_input)
            refusal = first_refusal(use, rules, RECHECKS)
            if refusal is not None:
                return Permitted(use=use, refusal=rewritten_badly(refusal))
            vote = _still(vote)
        after = facts_of(use, rules)
        settled = answered(decision, before, after, self._permissions, outcome.deciding_vote, self.attended)
        if settled.question and outcome.permission_updates:
            # The rules hooks added may answer what is left of the question.
            settled = decide(after, self._permissions, vote, self.attended)
        if settled.verdict == "ask" and self._asker is not None:
            return await self._ask_user(self._asker, use, rules, vote)
        return Permitted(use=use, refusal=None if settled.verdict == "allow" else _denied(settled))

    def _suggestions(self, facts: CallFacts) -> tuple[JsonObject, ...]:
        return suggestions(facts, self._permissions.reach(facts.cwd), self._permissions.reader.shell)

    async def _apply(self, outcome: Outcome) -> None:
        old = self._permissions.mode
        for update in outcome.permission_updates:
            applied = self._permissions.apply(update, e.PERMISSION_REQUEST.name, update.by)
            if applied.why:
                self._listener.show(Shown(kind="notice" if applied.ok else "warning", text=applied.why))
        if self._permissions.mode != old:
            self.on_mode(self._permissions.mode)
            await self._hooks.dispatch(
                e.MODE_CHANGED, p.ModeMove(old_mode=old, new_mode=self._permissions.mode)
            )

    async def _ask_user(self, asker: Asker, use: ToolUse, rules: Rules, vote: Vote | None) -> Permitted:
        async with self._dialog:
            # An earlier dialog may have settled this one.
            decision = decide(facts_of(use, rules), self._permissions, vote, attended=True)
            if decision.verdict != "ask":
                refusal = None if decision.verdict == "allow" else _denied(decision)
                return Permitted(use=use, refusal=refusal)
            return await self._dialogue(asker, use, rules, decision)

    async def _dialogue(self, asker: Asker, use: ToolUse, rules: Rules, decision: Decision) -> Permitted:
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
            return Permitted(use=use, refusal=Refusal("user", said), by_user=True)
        if reply.always:
            self._permissions.grant(use.name, arguments_of(use), rules.cwd)
        return Permitted(use=use)


def _still(vote: Vote | None) -> Vote | None:
    """What a vote on the old input is worth for another one: it may hold back, it cannot let through."""
    return vote if vote is not None and vote.kind != "allow" else None


def rewritten_badly(refusal: Refusal) -> Refusal:
    """A hook changed the input to something that may not run: the reason says whose doing it is."""
    return Refusal(refusal.step, f"a hook changed the input, and then: {refusal.reason}", refusal.by_rule)


def _denied(decision: Decision) -> Refusal:
    """A denial of the user's rules and mode; what a hook denied is the hook's."""
    return Refusal(decision.step, decision.reason, by_rule=decision.step not in _OF_HOOKS)
