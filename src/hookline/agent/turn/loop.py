"""One turn, top to bottom: from a prompt that hooks let through to the moment nothing is left to do."""

from collections.abc import Mapping
from typing import Any

from hookline.agent.conversation import Conversation
from hookline.agent.hooks import Hooks
from hookline.agent.messages import ToolUse, User
from hookline.agent.models.port import ModelPort, Response
from hookline.agent.ports import Listener
from hookline.agent.settings import AgentSettings
from hookline.agent.tools.base import Tool, Workplace
from hookline.agent.turn.calls import Calls, CallsInterrupted, Settled
from hookline.agent.turn.checks import Budget, Rules
from hookline.agent.turn.permission import Permitting
from hookline.agent.turn.request import Asking
from hookline.agent.turn.turn import Ending, Gates, Repeats, Turn, Warner, means
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import GO_ON, Outcome
from hookline.permissions.state import Permissions

#: What the model is told when a gate sends it back without a word of its own.
NOT_YET = "A check rejected the previous answer. Look at it again, mend what is wrong, and answer anew."


class Loop:
    """Plays turns of one agent. It changes the conversation; everything else it only asks for."""

    def __init__(
        self,
        *,
        asking: Asking,
        hooks: Hooks,
        calls: Calls,
        conversation: Conversation,
        tools: Mapping[str, Tool],
        permissions: Permissions,
        place: Workplace,
        settings: AgentSettings,
        listener: Listener,
        gates: Gates | None = None,
    ) -> None:
        self._asking = asking
        self._hooks = hooks
        self._calls = calls
        self._talk = conversation
        self._tools = tools
        self._permissions = permissions
        self._place = place
        self._settings = settings
        self._warner = Warner(listener, place.agent_type)
        self._gates = gates if gates is not None else Gates()

    async def play(self, turn: Turn) -> Ending:
        """The whole turn. Raises ModelError when the model gives no answer."""
        begun = await self._begun(turn)
        if begun.blocked or begun.stop:
            return self._warner.blocked(begun, "a TurnStart hook ended the turn")
        self._place.allowed = turn.allowed
        self._talk.add(User(text=turn.text))
        self._talk.place((*turn.context, *begun.context_items))
        budget, repeats = Budget(self._settings.max_tool_calls), Repeats(self._settings.most_repeats)
        while True:
            if turn.iteration >= self._settings.max_iterations:
                return await self._too_many(f"{turn.iteration} requests to the model")
            request = await self._asking.prepared(turn)
            if isinstance(request, Ending):
                return request
            response = await self._asking.answer(turn, request)
            if isinstance(response, Ending):
                return response
            if not response.tool_calls:
                repeats.answered()
                ending = await self._gate(turn, response)
            else:
                ending = await self._call_tools(turn, response.tool_calls, budget, repeats)
            if ending is not None:
                return ending

    async def _begun(self, turn: Turn) -> Outcome:
        if not self._gates.own_turn:
            return GO_ON
        return await self._hooks.dispatch(e.TURN_START, p.TurnBegun(turn=turn.number, prompt=turn.text))

    async def _call_tools(
        self, turn: Turn, uses: tuple[ToolUse, ...], budget: Budget, repeats: Repeats
    ) -> Ending | None:
        looping = repeats.count(uses)
        if looping is not None:
            self._talk.close_open_calls("The call was not made: it is the same one again and again.")
            return await self._loops(looping)
        try:
            settled = await self._calls.batch(uses, self._rules(turn, budget))
        except CallsInterrupted as interrupted:
            self._store(turn, interrupted.settled)
            raise
        self._store(turn, settled)
        return await self._batch_done(turn, settled, budget)

    def _store(self, turn: Turn, settled: list[Settled]) -> None:
        for one in settled:
            self._talk.add(one.result)
        turn.tool_count += sum(one.ran for one in settled)
        for one in settled:
            self._talk.place(one.context)

    async def _batch_done(self, turn: Turn, settled: list[Settled], budget: Budget) -> Ending | None:
        batch = await self._hooks.dispatch(e.POST_TOOL_BATCH, p.ToolBatch(tool_calls=_told(settled)))
        self._talk.place(batch.context_items)
        ends = next((one.ends for one in settled if one.ends is not None), None)
        if ends is not None:
            self._warner.warn(ends)
            return Ending(status="blocked", why=ends)
        if batch.stop or (batch.blocked and means(batch) == "end_turn"):
            return self._warner.blocked(batch, "a PostToolBatch hook ended the turn")
        if batch.blocked and batch.reason:
            self._talk.add(User(text=batch.reason, by="PostToolBatch hook"))
        if budget.missed:
            return await self._too_many(f"{turn.tool_count} calls of tools")
        return None

    def _rules(self, turn: Turn, budget: Budget) -> Rules:
        return Rules(
            tools=self._tools,
            permissions=self._permissions,
            cwd=self._place.cwd,
            caller=self._place.caller,
            worktree=self._place.worktree,
            budget=budget,
            allowed=turn.allowed,
        )

    async def _gate(self, turn: Turn, response: Response) -> Ending | None:
        """The answer is there. Hooks may send the agent back; None means that it goes on."""
        answer = p.TurnAnswer(
            last_assistant_message=response.text, turn=turn.number, stop_hook_active=turn.held
        )
        if not response.text.strip():
            self._warner.warn("the model gave an empty answer; the turn ends")
        elif self._gates.own_turn:
            gate = await self._hooks.dispatch(e.TURN_END, answer)
            if self._sent_back(gate, "TurnEnd hook", NOT_YET):
                return None
            if gate.stop:
                # Nobody after it may send the agent back.
                return Ending(why=gate.stop_reason or "a TurnEnd hook stopped the turn")
        last, payload = self._gates.last(turn, answer)
        stop = await self._hooks.dispatch(last, payload)
        if self._sent_back(stop, f"{last.name} hook", NOT_YET):
            turn.held = True
            return None
        return Ending(why=stop.stop_reason or "")

    def _sent_back(self, gate: Outcome, by: str, default: str) -> bool:
        """Whether a gate keeps the turn alive; what the model is told then is added."""
        self._talk.place(gate.context_items)
        if gate.stop or not gate.blocked:
            return False
        self._warner.warn(f"{by}: {gate.reason or 'sent back'}")
        if not any(item.placement == "user" for item in gate.context_items):
            self._talk.add(User(text=gate.reason or default, by=by))
        return True

    async def _too_many(self, what: str) -> Ending:
        message = f"The turn ends: it made {what}, which is its limit."
        await self._notify(message, "max_iterations", "warning")
        await self._hooks.dispatch(
            e.MAX_ITERATIONS,
            p.IterationLimit(message=message, max_iterations=self._settings.max_iterations),
        )
        self._warner.warn(message)
        return Ending(status="max_iterations", why=message)

    async def _loops(self, what: str) -> Ending:
        message = f"The turn ends: the model made the same call again and again: {what}"
        await self._notify(message, "error", "error")
        await self._hooks.dispatch(e.ERROR, p.RunError(message=message, error_type="loop_detected"))
        self._warner.warn(message)
        return Ending(status="failed", why=message)

    async def _notify(self, message: str, kind: str, level: str) -> None:
        await self._hooks.dispatch(
            e.NOTIFICATION, p.Notice(message=message, notification_type=kind, level=level)
        )


def _told(settled: list[Settled]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "tool_name": one.use.name,
            "tool_input": one.use.input,
            "tool_use_id": one.use.id,
            "tool_response": one.result.text,
        }
        for one in settled
    )


def wired_loop(
    *,
    model: ModelPort,
    hooks: Hooks,
    conversation: Conversation,
    tools: Mapping[str, Tool],
    permissions: Permissions,
    permitting: Permitting,
    place: Workplace,
    settings: AgentSettings,
    listener: Listener,
    gates: Gates,
) -> Loop:
    asking = Asking(
        model=model,
        hooks=hooks,
        conversation=conversation,
        tools=tools,
        place=place,
        listener=listener,
        gates=gates,
    )
    return Loop(
        asking=asking,
        hooks=hooks,
        calls=Calls(hooks, permitting, place, listener),
        conversation=conversation,
        tools=tools,
        permissions=permissions,
        place=place,
        settings=settings,
        listener=listener,
        gates=gates,
    )
