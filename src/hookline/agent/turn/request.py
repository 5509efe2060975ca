"""One request to the model and its answer, as hooks leave them."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec.structs import asdict, replace

from hookline.agent.conversation import Conversation
from hookline.agent.hooks import Hooks
from hookline.agent.messages import Assistant, ToolUse, as_json, from_json
from hookline.agent.models.port import ModelPort, Request, Response, ToolOffer
from hookline.agent.ports import Listener, Shown
from hookline.agent.tools.base import Tool, Workplace
from hookline.agent.turn.turn import Ending, Gates, Turn, Warner, means, with_own_ids
from hookline.dialects.surrogates import whole_text, whole_texts
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import Outcome

_TOO_DEEP = "(arguments that are nested too deeply to be read)"


def whole_response(response: Response) -> Response:
    """The answer as it is, unless hooks, transcripts and the next request could not carry it."""
    try:
        msgspec.json.encode(response)
    except (UnicodeEncodeError, RecursionError):
        return replace(
            response,
            text=whole_text(response.text),
            reasoning=None if response.reasoning is None else whole_text(response.reasoning),
            tool_calls=tuple(_whole_use(use) for use in response.tool_calls),
        )
    return response


def _whole_use(use: ToolUse) -> ToolUse:
    return ToolUse(id=whole_text(use.id), name=whole_text(use.name), input=_whole_input(use.input))


def _whole_input(given: Any) -> Any:
    try:
        msgspec.json.encode(given)
    except UnicodeEncodeError:
        return whole_texts(given)
    except RecursionError:
        # Text stands for arguments that are no object, and is refused as such.
        return _TOO_DEEP
    return given


#: Hooks without a limit of their own that hold one request back so often end the turn.
_MOST_HELD_BACK = 10


class Asking:
    """Asks the model for one agent, and stores and shows what it says."""

    def __init__(
        self,
        *,
        model: ModelPort,
        hooks: Hooks,
        conversation: Conversation,
        tools: Mapping[str, Tool],
        place: Workplace,
        listener: Listener,
        gates: Gates,
    ) -> None:
        self._model = model
        self._hooks = hooks
        self._talk = conversation
        self._tools = tools
        self._place = place
        self._listener = listener
        self._warner = Warner(listener, place.agent_type)
        self._gates = gates

    async def prepared(self, turn: Turn) -> Request | Ending:
        """The request as hooks want it. They are asked again while they block, until their limit ends the turn."""
        turn.iteration += 1
        await self._gates.before_request(turn)
        offers = await self._offers(turn)
        for _ in range(_MOST_HELD_BACK):
            request = self._talk.request(turn.model, offers, self._place.agent_type)
            before = await self._hooks.dispatch(e.PRE_MODEL_CALL, self._asked(turn, request))
            if before.stop or (before.blocked and means(before) == "end_turn"):
                return self._warner.blocked(before, "a PreModelCall hook ended the turn")
            if before.blocked:
                self._warner.warn(f"the request was held back: {before.reason or 'a hook blocked it'}")
                continue
            return self._changed(turn, request, before)
        return Ending(status="blocked", why=f"hooks held the request back {_MOST_HELD_BACK} times")

    def _asked(self, turn: Turn, request: Request) -> p.ModelRequest:
        # Messages as JSON cost as much as the conversation is long: only for who reads them.
        messages = as_json(request.messages) if self._hooks.has(e.PRE_MODEL_CALL) else ()
        return p.ModelRequest(
            model=request.model,
            messages=messages,
            transient=self._talk.passing,
            iteration=turn.iteration,
            turn=turn.number,
        )

    def _changed(self, turn: Turn, request: Request, before: Outcome) -> Request:
        """With the text hooks add to this request, and the messages they put in place of ours."""
        known = len(request.messages)
        self._talk.place(before.context_items)
        if before.context_items:
            request = self._talk.request(turn.model, request.tools, request.agent_type)
        rewritten = before.updated_messages
        if rewritten is None:
            return request
        try:
            # Who rewrote the messages had not seen the text that was added beside.
            return replace(request, messages=(*from_json(rewritten), *request.messages[known:]))
        except ValueError as problem:
            self._warner.warn(f"a hook's messages were not used: {problem}")
            return request

    async def _offers(self, turn: Turn) -> tuple[ToolOffer, ...]:
        """The tools this caller may use; hooks may choose among them."""
        mine = [
            tool
            for tool in self._tools.values()
            if tool.callers is None or self._place.caller in tool.callers
        ]
        chosen = await self._hooks.dispatch(
            e.PRE_TOOL_SELECTION, p.ToolSelection(tools=tuple(tool.name for tool in mine), model=turn.model)
        )
        named: Any = chosen.answer
        if isinstance(named, list | tuple):
            mine = [tool for tool in mine if tool.name in cast("Sequence[Any]", named)]
        return tuple(
            ToolOffer(name=tool.name, description=tool.description, schema=tool.schema) for tool in mine
        )

    async def answer(self, turn: Turn, request: Request) -> Response | Ending:
        """The model's answer as hooks leave it, stored and shown."""
        response = await self._streamed(request)
        self._talk.answered()
        turn.usage += response.usage
        self._talk.tokens = response.usage.input_tokens + response.usage.output_tokens
        after = await self._hooks.dispatch(
            e.POST_MODEL_CALL,
            p.ModelResponse(
                model=request.model,
                response=response.text,
                reasoning=response.reasoning,
                tool_calls=tuple(asdict(use) for use in response.tool_calls),
                usage=asdict(response.usage),
                cost_usd=response.usage.cost_usd,
                iteration=turn.iteration,
                turn=turn.number,
            ),
        )
        text = after.updated("response")
        uses, doubled = with_own_ids(response.tool_calls)
        if doubled:
            self._warner.warn(
                f"the model gave two calls one id ({doubled}); the later ones were given their own"
            )
        response = replace(response, text=response.text if text is None else str(text), tool_calls=uses)
        self._talk.add(Assistant(text=response.text, tool_calls=uses, reasoning=response.reasoning))
        turn.last_text = response.text or turn.last_text
        await self._display(turn, response.text)
        if after.stop:
            self._talk.close_open_calls("The turn was stopped before the call ran.")
            return self._warner.blocked(after, "a PostModelCall hook stopped the turn")
        return response

    async def _streamed(self, request: Request) -> Response:
        """Text is shown as it comes, unless a hook may still change it."""
        live = not (self._hooks.has(e.POST_MODEL_CALL) or self._hooks.has(e.MESSAGE_DISPLAY))
        response = Response()
        async for piece in self._model.stream(request):
            if isinstance(piece, Response):
                response = piece
            elif live:
                self._listener.show(Shown(kind="delta", text=piece.text, agent=self._place.agent_type))
        return whole_response(response)

    async def _display(self, turn: Turn, text: str) -> None:
        if not text:
            return
        shown = await self._hooks.dispatch(
            e.MESSAGE_DISPLAY,
            p.ShownMessage(message_id=f"{turn.number}.{turn.iteration}", delta=text, final=True),
        )
        answer: Any = shown.answer
        turn.last_shown = answer if isinstance(answer, str) else text
        self._listener.show(Shown(kind="answer", text=turn.last_shown, agent=self._place.agent_type))
