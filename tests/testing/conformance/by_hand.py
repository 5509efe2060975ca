"""The host API by hand: a small loop that asks the session at every moment, and the same loop without Hookline."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from hookline import Blocking, Engine, Session
from hookline.engine.bridge import BlockingSession
from hookline.host import CallResult
from hookline.testing.conformance import (
    Conversation,
    Helper,
    Limit,
    Response,
    Said,
    Script,
    Seen,
    Tool,
    ToolUse,
    each_prompt,
)


def _json(messages: Sequence[Said]) -> list[dict[str, Any]]:
    return [{"role": each.role, "content": each.text} for each in messages]


def _calls(response: Response) -> list[dict[str, Any]]:
    return [{"id": call.id, "name": call.name, "input": dict(call.input)} for call in response.calls]


class History:
    """What was said so far, and the tools."""

    def __init__(self, who: Conversation | Helper) -> None:
        self.script: Script = who.script
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in who.tools}
        self.helper = who.helper if isinstance(who, Conversation) else None
        self.messages: list[Said] = []

    def add(self, role: Any, *texts: str, call: str = "") -> None:
        self.messages += [Said(role, text, call) for text in texts]

    def ask_model(self, transient: Sequence[str] = ()) -> Response:
        """The model streams its answer piece by piece; this loop waits for the whole of it."""
        answer = self.script.answer([*self.messages, *(Said("user", text) for text in transient)])
        return Response("".join(answer.pieces), answer.calls)

    def problem(self, call: ToolUse) -> str | None:
        """Why the call cannot be made."""
        if call.name not in self.tools and (self.helper is None or self.helper.name != call.name):
            return f"There is no tool {call.name}"
        return None


class PlainLoop(History):
    """The agent before it had hooks."""

    async def say(self, prompt: str) -> str:
        self.add("user", prompt)
        while True:
            answer = self.ask_model()
            self.add("assistant", answer.text)
            if not answer.calls:
                return answer.text
            for call, text in zip(
                answer.calls, await asyncio.gather(*map(self._run, answer.calls)), strict=True
            ):
                self.add("tool", text, call=call.id)

    async def _run(self, call: ToolUse) -> str:
        problem = self.problem(call)
        if problem is not None:
            return problem
        try:
            return _text(await self.tools[call.name].call(call.input))
        except Exception as error:
            return f"{call.name} failed: {type(error).__name__}: {error}"


def _text(value: Any) -> str:
    from hookline.engine.tool_call import as_text

    return as_text(value)


class HookedLoop(History):
    """The same agent with hooks."""

    def __init__(self, who: Conversation | Helper, session: Session) -> None:
        super().__init__(who)
        self._session = session

    async def say(self, prompt: str) -> str:
        begun = await self._session.prompt(prompt)
        if begun.blocked is not None:
            return begun.blocked
        self.add("user", begun.text, *(item.text for item in begun.context))
        while True:
            request = await self._session.model(_json(self.messages))
            self.add("user", *(item.text for item in request.context))
            if request.blocked is not None:
                return await self._over(request.blocked)
            response = self.ask_model(request.transient)
            answer = await self._session.answer(response.text, _calls(response))
            self.add("assistant", answer.text)
            if answer.stop is not None:
                return await self._over(answer.stop)
            if response.calls:
                stop = self._store(response, await asyncio.gather(*map(self._run, response.calls)))
                if stop is not None:
                    return await self._over(stop)
                continue
            end = await self._session.end(answer.text)
            self.add("user", *(item.text for item in end.context))
            if end.send_back is None:
                return end.stop or answer.text
            self.add("user", end.send_back)

    async def _over(self, why: str) -> str:
        """A hook ended the turn; ending it says so to the session."""
        await self._session.end("")
        return why

    def _store(self, response: Response, results: Sequence[CallResult | str]) -> str | None:
        """Keep the results in the order of the calls, then what hooks say elsewhere. Why the run stops, if it does."""
        for call, done in zip(response.calls, results, strict=True):
            self.add("tool", done if isinstance(done, str) else done.text, call=call.id)
        all_done = [done for done in results if not isinstance(done, str)]
        self.add("user", *(item.text for done in all_done for item in done.context))
        return next((done.stop for done in all_done if done.stop is not None), None)

    async def _run(self, call: ToolUse) -> CallResult | str:
        problem = self.problem(call)
        if problem is not None:
            return problem
        if self.helper is not None and call.name == self.helper.name:
            return await self._session.tool(call.name, call.input, run=self._delegate, id=call.id)
        tool = self.tools[call.name]
        return await self._session.tool(call.name, call.input, run=tool.call, id=call.id, check=tool.problem)

    async def _delegate(self, given: Mapping[str, Any]) -> str:
        assert self.helper is not None
        below = self._session.engine.session(
            self._session.id, parent=self._session, agent_id="helper-1", agent_type=self.helper.name
        )
        async with below:
            return await HookedLoop(self.helper, below).say(given["task"])


class BlockingLoop(History):
    """The same agent for programs without an event loop."""

    def __init__(self, who: Conversation, session: BlockingSession) -> None:
        super().__init__(who)
        self._session = session

    def say(self, prompt: str) -> str:
        begun = self._session.prompt(prompt)
        if begun.blocked is not None:
            return begun.blocked
        self.add("user", begun.text, *(item.text for item in begun.context))
        while True:
            request = self._session.model(_json(self.messages))
            if request.blocked is not None:
                self._session.end("")
                return request.blocked
            response = self.ask_model(request.transient)
            answer = self._session.answer(response.text, _calls(response))
            self.add("assistant", answer.text)
            for call in response.calls:
                tool = self.tools[call.name]
                done = self._session.tool(
                    call.name, call.input, run=lambda given, tool=tool: tool.blocking(**given), id=call.id
                )
                self.add("tool", done.text, call=call.id)
            if not response.calls:
                end = self._session.end(answer.text)
                if end.send_back is None:
                    return answer.text
                self.add("user", end.send_back)


class ByHand:
    """Plays a conversation with these loops."""

    name = "host API"
    cannot: Mapping[str, Limit] = {}

    async def play(self, conversation: Conversation, engine: Engine | None) -> Seen:
        if engine is None:
            return await each_prompt(conversation, PlainLoop(conversation).say)
        if conversation.entry == "sync":
            with (
                Blocking(engine) as blocking,
                blocking.session(conversation.id, cwd=conversation.cwd) as session,
            ):
                return await each_prompt(conversation, BlockingLoop(conversation, session).say)
        async with engine.session(conversation.id, cwd=conversation.cwd) as session:
            return await each_prompt(conversation, HookedLoop(conversation, session).say)
