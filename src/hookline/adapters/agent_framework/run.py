"""Follow one run of an agent: its prompt, its requests and its end."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agent_framework import (
    AgentContext,
    ChatContext,
    ChatResponse,
    ChatResponseUpdate,
    Message,
    ResponseStream,
)

from hookline import Session
from hookline.adapters.agent_framework import messages as h
from hookline.events import POST_MODEL_CALL, PRE_MODEL_CALL


class AgentRun:
    """A run, and text of hooks that stays in its conversation."""

    def __init__(self, session: Session, kept: list[tuple[int, Message]]) -> None:
        self.session = session
        #: Text of hooks and where it is among the messages; -1: at their end.
        self.kept = kept
        #: Why no more requests are made.
        self.held: str | None = None

    async def prompt(self, context: AgentContext) -> str | None:
        """Submit the user's message; return why it is blocked."""
        last = context.messages[-1] if context.messages else None
        if last is None or last.role != "user" or not last.text:  # it continues where it was
            return None
        prompt = await self.session.prompt(last.text)
        if prompt.blocked is None and prompt.changed:
            others = [each for each in last.contents if each.type != "text"]
            context.messages = [*context.messages[:-1], Message("user", [*prompt.texts, *others])]
        return prompt.blocked

    async def request(self, context: ChatContext) -> bool:
        """Announce a request, and change it as hooks want; return False if it is not made."""
        messages = list(context.messages)
        self.kept[:] = [(len(messages) if at < 0 else at, message) for at, message in self.kept]
        for at, message in reversed(self.kept):
            messages.insert(at, message)
        options = dict(context.options or {})
        instructions = options.get("instructions")
        shown = h.shown_messages(instructions, messages) if self.session.has(PRE_MODEL_CALL) else []
        asked = await self.session.model(
            shown, options.get("model") or getattr(context.client, "model", None)
        )
        if asked.blocked is not None:
            self.held = asked.blocked
            context.result = _response(context, h.said(asked.blocked))
            return False
        if asked.rewritten:
            system, messages = h.read_messages(asked.messages)
            if isinstance(instructions, str):
                context.options = {**options, "instructions": system}
        kept = [h.said(item.text, "user") for item in asked.context]
        self.kept += [(len(messages), message) for message in kept]
        context.messages = [*messages, *kept, *(h.said(text, "user") for text in asked.transient)]
        return True

    async def answered(self, context: ChatContext) -> None:
        """Report the model's answer, and change it as hooks want. Text that may still change is held back."""
        result: Any = context.result
        if isinstance(result, ResponseStream):
            updates = self._judged_stream(result)
            context.result = ResponseStream(updates, finalizer=ChatResponse.from_updates)
        elif result is not None:
            await self._judge(result)

    async def _judge(self, response: Any) -> bool:
        """Return True if hooks changed the answer."""
        contents = [content for message in response.messages for content in message.contents]
        text = "".join(each.text or "" for each in contents if each.type == "text")
        answer = await self.session.answer(text, h.calls_of(contents), h.usage_of(response))
        if answer.rewritten:
            response.messages[:] = [Message("assistant", h.with_text(contents, answer.text))]
        return answer.rewritten

    async def _judged_stream(self, stream: Any) -> AsyncGenerator[ChatResponseUpdate]:
        held: list[ChatResponseUpdate] | None = [] if self.session.has(POST_MODEL_CALL) else None
        async for update in stream:
            if held is None:
                yield update
            else:
                held.append(update)
        response = await stream.get_final_response()
        if await self._judge(response):
            held = [ChatResponseUpdate(role="assistant", contents=response.messages[0].contents)]
        for update in held or ():
            yield update

    async def goes_on(self, context: AgentContext, result: Any) -> bool:
        """End the turn; return True if a Stop hook sends the model back: `context` has its input then."""
        if result.user_input_requests:  # it continues when the user has answered
            return False
        answer = result.messages[-1].text if result.messages else ""
        over = await self.session.end("" if self.held is not None else answer)
        if not over.texts:
            if over.stop is not None and self.held is None and over.stop != answer:
                result.messages.append(h.said(over.stop))
            return False
        history = [] if context.session is not None else [*context.messages, *result.messages]
        context.messages = [*history, *(h.said(text, "user") for text in over.texts)]
        return True


def _response(context: ChatContext, message: Message) -> Any:
    if not context.stream:
        return ChatResponse(messages=[message])

    async def updates() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=message.contents)

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


#: The run whose agent works here.
_CURRENT: ContextVar[AgentRun | None] = ContextVar("hookline_agent_run", default=None)


def current_run() -> AgentRun | None:
    """Return the run whose agent works here."""
    return _CURRENT.get()


@contextmanager
def inside_run(run: AgentRun) -> Generator[None]:
    """Mark that the agent of a run works."""
    token = _CURRENT.set(run)
    try:
        yield
    finally:
        _CURRENT.reset(token)


async def steps_of(run: AgentRun, stream: Any) -> AsyncGenerator[Any]:
    """Yield the updates of a run. Its listener is outside of the run, so each step enters it anew."""
    updates = aiter(stream)
    while True:
        with inside_run(run):
            try:
                update = await anext(updates)
            except StopAsyncIteration:
                return
        yield update
