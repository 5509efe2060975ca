"""Play one turn, top to bottom: from a prompt that hooks let through to the answer."""

from collections.abc import Sequence
from typing import Any

import msgspec

from hookline.agent.models.port import CompletionResponse
from hookline.agent.turn.calls import CallRunner, CallsInterrupted, SettledCall
from hookline.agent.turn.checks import CallBudget, CallRules, arguments_of
from hookline.agent.turn.request import ModelRequests
from hookline.agent.turn.turn import AgentParts, Turn, TurnEnding, TurnKind, block_means, decided_by
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.model.messages import Assistant, ToolUse, User
from hookline.model.outcome import PASS, Outcome

#: The model's prompt when a gate sends it back without a reason.
_SENT_BACK = "A check rejected the previous answer. Check it, fix what is wrong, and answer again."
_CONTINUE = "Continue with the request."
_LONGEST_SHOWN = 200


class Loop:
    """Loop over the turns of one agent. It changes the conversation; everything else is done by its parts."""

    def __init__(self, parts: AgentParts, kind: TurnKind) -> None:
        self._parts = parts
        self._kind = kind
        self._settings = parts.settings
        self._hooks = parts.hooks
        self._conversation = parts.conversation
        self._workplace = parts.workplace
        self._requests = ModelRequests(parts, kind)
        self._calls = CallRunner(parts)

    async def play(self, turn: Turn) -> TurnEnding:
        """Play the whole turn. Raises ModelError when the model gives no answer."""
        begun = await self._begin(turn)
        if begun.blocked or begun.stop:
            return self._parts.end_blocked(begun, e.TURN_START, "a TurnStart hook ended the turn")
        self._workplace.allowed = turn.allowed
        if not turn.begun:
            self._conversation.add(User(text=turn.text, late_id=turn.wake))
            turn.begun = True
        elif isinstance(self._conversation.messages[-1], Assistant):
            # Providers expect the user's words last.
            self._conversation.add(User(text=_CONTINUE, by="retry"))
        self._conversation.place((*turn.context, *begun.context_items))
        budget, repeats = CallBudget(self._settings.max_tool_calls), LoopDetector(self._settings.most_repeats)
        while True:
            if turn.iteration >= self._settings.max_iterations:
                return await self._limit_reached(f"{turn.iteration} requests to the model")
            response = await self._requests.ask(turn)
            if isinstance(response, TurnEnding):
                return response
            if not response.tool_calls:
                repeats.reset()
                ending = await self._gate(turn, response)
            else:
                ending = await self._call_tools(turn, response.tool_calls, budget, repeats)
            if ending is not None:
                return ending

    async def _begin(self, turn: Turn) -> Outcome:
        if not self._kind.is_user_turn:
            return PASS
        return await self._hooks.dispatch(
            e.TURN_START,
            p.TurnBegun(
                turn=turn.number,
                prompt=turn.text,
                session_ms=turn.session_ms,
                totals=self._hooks.spending.known(self._conversation.tokens),
            ),
        )

    async def _call_tools(
        self, turn: Turn, uses: tuple[ToolUse, ...], budget: CallBudget, repeats: "LoopDetector"
    ) -> TurnEnding | None:
        repeated = repeats.count(uses)
        if repeated is not None:
            self._conversation.close_open_calls("The call was not made: it is the same one again and again.")
            return await self._loop_detected(repeated)
        try:
            settled = await self._calls.run(uses, self._rules(turn, budget))
        except CallsInterrupted as interrupted:
            self._store(turn, interrupted.settled)
            raise
        self._store(turn, settled)
        return await self._after_calls(turn, settled, budget)

    async def run_typed(self, use: ToolUse) -> SettledCall:
        """Run a call that the user typed, outside of a turn. Hooks see it as any call."""
        turn = Turn(number=0, text="", model="")
        (settled,) = await self._calls.run((use,), self._rules(turn, CallBudget(1)), typed=True)
        return settled

    def _rules(self, turn: Turn, budget: CallBudget) -> CallRules:
        return CallRules(
            tools=self._parts.tools,
            permissions=self._parts.permissions,
            cwd=self._workplace.cwd,
            caller=self._workplace.caller,
            worktree=self._workplace.worktree,
            budget=budget,
            allowed=turn.allowed,
            guarded=self._workplace.guarded_tool,
        )

    def _store(self, turn: Turn, settled: list[SettledCall]) -> None:
        for one in settled:
            self._conversation.add(one.result)
        turn.tool_count += sum(one.ran for one in settled)
        for one in settled:
            self._conversation.place(one.context)

    async def _after_calls(
        self, turn: Turn, settled: list[SettledCall], budget: CallBudget
    ) -> TurnEnding | None:
        batch = await self._hooks.dispatch(e.POST_TOOL_BATCH, p.ToolBatch(tool_calls=_as_payload(settled)))
        self._conversation.place(batch.context_items)
        ends = next((one.ends for one in settled if one.ends is not None), None)
        if ends is not None:
            self._parts.warn(ends)
            return TurnEnding(status="blocked", why=ends)
        if batch.stop or (batch.blocked and block_means(batch) == "end_turn"):
            return self._parts.end_blocked(batch, e.POST_TOOL_BATCH, "a PostToolBatch hook ended the turn")
        if batch.blocked and batch.reason:
            self._conversation.add(User(text=batch.reason, by="PostToolBatch hook"))
        if budget.exceeded:
            return await self._limit_reached(f"{turn.tool_count} calls of tools")
        if self._kind.steer is not None:
            await self._kind.steer(turn)
        return None

    async def _gate(self, turn: Turn, response: CompletionResponse) -> TurnEnding | None:
        """Ask hooks about the answer. Returns None when they send the model back and the turn continues."""
        answer = p.TurnAnswer(
            last_assistant_message=response.text, turn=turn.number, stop_hook_active=turn.held
        )
        if not response.text.strip():
            self._parts.warn("the model gave an empty answer; the turn ends")
        elif self._kind.is_user_turn:
            gate = await self._hooks.dispatch(e.TURN_END, answer)
            if self._sent_back(gate, e.TURN_END):
                return None
            if gate.stop:
                # No gate after it may send the model back.
                return TurnEnding(why=gate.stop_reason or "a TurnEnd hook stopped the turn")
        if self._kind.last_gate is None:
            last, stop = e.STOP, await self._hooks.dispatch(e.STOP, answer)
        else:
            last, payload = self._kind.last_gate(turn, answer)
            stop = await self._hooks.dispatch(last, payload)
        if self._sent_back(stop, last):
            turn.held = True
            return None
        return TurnEnding(why=stop.stop_reason or "")

    def _sent_back(self, gate: Outcome, event: EventSpec[Any]) -> bool:
        """Return True if a gate keeps the turn alive; if so, the model gets the reason."""
        self._conversation.place(gate.context_items)
        if gate.stop or not gate.blocked:
            return False
        who = self._hooks.by(decided_by(gate), event)
        self._parts.warn(f"{who.get('label', event.name)} hook: {gate.reason or 'sent back'}", **who)
        if not any(item.placement == "user" for item in gate.context_items):
            self._conversation.add(User(text=gate.reason or _SENT_BACK, by=f"{event.name} hook"))
        return True

    async def _limit_reached(self, what: str) -> TurnEnding:
        message = f"The turn ends: it made {what}, which is its limit."
        await self._notify(message, "max_iterations", "warning")
        await self._hooks.dispatch(
            e.MAX_ITERATIONS,
            p.IterationLimit(message=message, max_iterations=self._settings.max_iterations),
        )
        self._parts.warn(message)
        return TurnEnding(status="max_iterations", why=message)

    async def _loop_detected(self, what: str) -> TurnEnding:
        message = f"The turn ends: the model made the same call again and again: {what}"
        await self._notify(message, "error", "error")
        await self._hooks.dispatch(e.ERROR, p.RunError(message=message, error_type="loop_detected"))
        self._parts.warn(message)
        return TurnEnding(status="failed", why=message)

    async def _notify(self, message: str, kind: str, level: str) -> None:
        await self._hooks.dispatch(
            e.NOTIFICATION, p.Notice(message=message, notification_type=kind, level=level)
        )


class LoopDetector:
    """Detector of a model that makes the same calls in response after response."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._last = b""
        self._times = 0

    def count(self, uses: Sequence[ToolUse]) -> str | None:
        """Return the repeated calls, once they were made too often."""
        made = msgspec.json.encode([(use.name, use.input) for use in uses])
        self._times = self._times + 1 if made == self._last else 1
        self._last = made
        if self._times <= self._most:
            return None
        return made.decode()[:_LONGEST_SHOWN]

    def reset(self) -> None:
        """Reset after a response without calls: the same call after it is not a repetition, even if a hook
        sent the model back.
        """
        self._last, self._times = b"", 0


def _as_payload(settled: list[SettledCall]) -> tuple[p.BatchedCall, ...]:
    return tuple(
        p.BatchedCall(
            tool_name=one.use.name,
            tool_input=arguments_of(one.use),
            tool_use_id=one.use.id,
            tool_response=one.result.text,
        )
        for one in settled
    )
