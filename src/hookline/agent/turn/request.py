"""Send one request to the model and receive its answer, with hooks before and after."""

import time
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from hookline.agent.models.port import (
    CompletionRequest,
    CompletionResponse,
    ModelError,
    ThoughtPiece,
    ToolOffer,
)
from hookline.agent.ports import Shown, ShownKind
from hookline.agent.turn.checks import is_in_mode
from hookline.agent.turn.retries import with_retries
from hookline.agent.turn.turn import AgentParts, Turn, TurnEnding, TurnKind, block_means, decided_by
from hookline.dialects.json_text import whole_text, whole_texts
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.messages import Assistant, ToolUse, Usage, own_messages
from hookline.model.outcome import ContextItem, Outcome

#: A request, its answer, and how many milliseconds that took.
_Answered = tuple[CompletionRequest, CompletionResponse, int]
#: The turn ends when hooks without their own limit block the same request this often.
_MOST_BLOCKS = 10
_TOO_DEEP = "(arguments that are nested too deeply to be read)"


class ModelRequests:
    """Requests of one agent; their answers are stored and shown."""

    def __init__(self, parts: AgentParts, kind: TurnKind) -> None:
        self._parts = parts
        self._kind = kind
        self._model = parts.model
        self._hooks = parts.hooks
        self._conversation = parts.conversation
        self._agent_type = parts.workplace.agent_type
        #: Text that hooks added to this request: they say it again before it is repeated.
        self._placed: list[ContextItem] = []

    async def ask(self, turn: Turn) -> CompletionResponse | TurnEnding:
        """Return the model's answer as hooks leave it, stored and shown. Raises ModelError.

        A request that failed for a while is repeated, and one that did not fit is sent once more with a shorter
        conversation: hooks see each of them before it is sent.
        """
        turn.iteration += 1
        self._placed.clear()
        answered = await with_retries(self._parts, lambda: self._attempt(turn))
        return answered if isinstance(answered, TurnEnding) else await self._take(turn, *answered)

    async def _attempt(self, turn: Turn) -> "_Answered | TurnEnding":
        request = await self._prepare(turn)
        if isinstance(request, TurnEnding):
            return request
        asked = time.monotonic()
        try:
            response = await self._streamed(request)
        except ModelError as error:
            if error.remedy != "compact" or turn.shortened:
                raise
            turn.shortened = True
            if not await self._kind.shorten(turn):
                raise
            return await self._attempt(turn)
        return request, response, int((time.monotonic() - asked) * 1000)

    async def _prepare(self, turn: Turn) -> CompletionRequest | TurnEnding:
        """Return the request as hooks want it. While they block it, it is prepared again, up to their limit."""
        await self._kind.before_request(turn)
        offers = await self._offers(turn)
        for _ in range(_MOST_BLOCKS):
            request = self._conversation.request(turn.model, offers, self._agent_type)
            payload = self._payload(turn, request)
            before = await self._hooks.dispatch(e.PRE_MODEL_CALL, payload)
            if before.stop or (before.blocked and block_means(before) == "end_turn"):
                return self._parts.end_blocked(before, e.PRE_MODEL_CALL, "a PreModelCall hook ended the turn")
            if before.blocked:
                who = self._hooks.by(decided_by(before), e.PRE_MODEL_CALL)
                self._parts.warn(f"the request was held back: {before.reason or 'a hook blocked it'}", **who)
                continue
            return self._changed(turn, request, payload, before)
        why = f"hooks held the request back {_MOST_BLOCKS} times"
        self._parts.warn(why)
        return TurnEnding(status="blocked", why=why)

    def _payload(self, turn: Turn, request: CompletionRequest) -> p.ModelRequest:
        transient = self._conversation.transient
        return p.ModelRequest(
            model=request.model,
            messages=request.messages[: len(request.messages) - len(transient)],
            transient=transient,
            iteration=turn.iteration,
            turn=turn.number,
        )

    def _changed(
        self, turn: Turn, request: CompletionRequest, shown: p.ModelRequest, before: Outcome
    ) -> CompletionRequest:
        """Return the request with the text that hooks add, and the messages they replace."""
        added = [item for item in before.context_items if item not in self._placed]
        self._placed += added
        self._conversation.place(added)
        if added:
            request = self._conversation.request(turn.model, request.tools, request.agent_type)
        wanted = before.effective(shown)
        if wanted is shown:
            return request
        try:
            # The hook that rewrote the messages was not shown the text for this request alone, nor what came since.
            return replace(
                request, messages=(*own_messages(wanted.messages), *request.messages[len(shown.messages) :])
            )
        except ValueError as problem:
            self._parts.warn(f"a hook's messages were not used: {problem}")
            return request

    async def _offers(self, turn: Turn) -> tuple[ToolOffer, ...]:
        """Return the tools this caller may use; hooks may choose among them."""
        caller = self._parts.workplace.caller
        mode = self._parts.permissions.mode_row
        mine = [
            tool
            for tool in self._parts.tools.values()
            if (tool.callers is None or caller in tool.callers) and is_in_mode(tool, mode)
        ]
        chosen = await self._hooks.dispatch(
            e.PRE_TOOL_SELECTION,
            p.ToolSelection(
                tools=tuple(tool.name for tool in mine),
                model=turn.model,
                messages=self._conversation.request(turn.model, ()).messages,
            ),
        )
        names: Any = chosen.answer
        if isinstance(names, list | tuple):
            mine = [tool for tool in mine if tool.name in cast("Sequence[Any]", names)]
        return tuple(
            ToolOffer(name=tool.name, description=tool.description, schema=tool.schema) for tool in mine
        )

    async def _take(
        self, turn: Turn, request: CompletionRequest, response: CompletionResponse, took: int
    ) -> CompletionResponse | TurnEnding:
        """Store and show an answer, as hooks leave it."""
        self._conversation.answered()
        turn.usage += response.usage
        self._hooks.spending.add(response.usage)
        self._conversation.count(response.usage.total_tokens)
        self._parts.user.listener.show(Shown(kind="usage", usage=turn.usage))
        after = await self._hooks.dispatch(
            e.POST_MODEL_CALL,
            p.ModelResponse(
                model=request.model,
                response=response.text,
                reasoning=response.reasoning,
                tool_calls=response.tool_calls,
                usage=response.usage if response.usage != Usage() else None,
                cost_usd=response.usage.cost_usd,
                duration_ms=took,
                messages=request.messages,
                iteration=turn.iteration,
                turn=turn.number,
            ),
        )
        text = after.updated("response")
        response = replace(
            response,
            text=response.text if text is None else str(text),
            tool_calls=self._with_own_ids(response.tool_calls),
        )
        self._conversation.add(
            Assistant(text=response.text, tool_calls=response.tool_calls, reasoning=response.reasoning)
        )
        turn.last_text = response.text or turn.last_text
        await self._display(turn, response.text)
        if after.stop:
            self._conversation.close_open_calls("The turn was stopped before the call ran.")
            return self._parts.end_blocked(after, e.POST_MODEL_CALL, "a PostModelCall hook stopped the turn")
        return response

    async def _streamed(self, request: CompletionRequest) -> CompletionResponse:
        """Show text as it arrives, unless a hook may still change it."""
        holders = [
            hook for event in (e.POST_MODEL_CALL, e.MESSAGE_DISPLAY) for hook in self._hooks.names(event)
        ]
        live = not holders
        self._show("request", request.model)
        if holders:
            self._show("held", ", ".join(holders))
        response = CompletionResponse()
        begun: list[str] = []
        thought: list[str] = []
        try:
            async for piece in self._model.stream(request):
                if isinstance(piece, CompletionResponse):
                    response = piece
                elif isinstance(piece, ThoughtPiece):
                    thought.append(piece.text)
                    if live:
                        self._show("thinking", piece.text)
                elif live:
                    self._show_thought(thought)
                    begun.append(piece.text)
                    self._show("delta", piece.text)
            if live:
                self._show_thought(thought)
        except ModelError:
            if begun:
                self._show("partial", "".join(begun))
            raise
        return storable(response)

    def _show_thought(self, pieces: list[str]) -> None:
        """Show all that the model thought before it said something."""
        if pieces:
            self._show("thought", "".join(pieces))
            pieces.clear()

    async def _display(self, turn: Turn, text: str) -> None:
        if not text:
            return
        shown = await self._hooks.dispatch(
            e.MESSAGE_DISPLAY,
            p.ShownMessage(
                turn_id=f"{self._hooks.info.session_id}.{turn.number}",
                message_id=f"{turn.number}.{turn.iteration}",
                delta=text,
                final=True,
            ),
        )
        answer: Any = shown.answer
        turn.last_shown = answer if isinstance(answer, str) else text
        self._show("answer", turn.last_shown)

    def _show(self, kind: ShownKind, text: str) -> None:
        self._parts.user.listener.show(Shown(kind=kind, text=text, agent=self._agent_type))

    def _with_own_ids(self, uses: Sequence[ToolUse]) -> tuple[ToolUse, ...]:
        """Give each call a unique id: results are matched to calls by it."""
        seen: set[str] = set()
        unique: list[ToolUse] = []
        doubled = ""
        for index, use in enumerate(uses, 1):
            if use.id in seen:
                doubled = use.id
                use = replace(use, id=f"{use.id}_{index}")  # noqa: PLW2901 - from here on the renamed one is meant
            seen.add(use.id)
            unique.append(use)
        if doubled:
            self._parts.warn(f"the model gave two calls one id ({doubled}); the later calls got new ids")
        return tuple(unique)


def storable(response: CompletionResponse) -> CompletionResponse:
    """Change a response only where hooks, transcripts and requests could not carry it as JSON."""
    try:
        msgspec.json.encode(response)
    except (UnicodeEncodeError, RecursionError):
        return replace(
            response,
            text=whole_text(response.text),
            reasoning=None if response.reasoning is None else whole_text(response.reasoning),
            tool_calls=tuple(
                ToolUse(id=whole_text(use.id), name=whole_text(use.name), input=_storable_input(use.input))
                for use in response.tool_calls
            ),
        )
    return response


def _storable_input(given: Any) -> Any:
    try:
        msgspec.json.encode(given)
    except UnicodeEncodeError:
        return whole_texts(given)
    except RecursionError:
        # Text means that the arguments are not a JSON object, and the call is refused as such.
        return _TOO_DEEP
    return given
