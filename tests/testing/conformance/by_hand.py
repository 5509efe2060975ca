"""Use the host API by hand: a small loop that calls the session at every step, and the same without Hookline."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from hookline import Blocking, Engine, Session
from hookline.engine.host.bridge import BlockingSession
from hookline.host import AnswerResult, CallResult, EndResult, ModelRequestResult, PromptResult
from hookline.testing.conformance import (
    CaseTool,
    ConversationPlan,
    Helper,
    KnownLimit,
    ModelScript,
    Said,
    ScriptedCall,
    ScriptedResponse,
    ShownOutput,
    each_prompt,
)


def _json(messages: Sequence[Said]) -> list[dict[str, Any]]:
    return [{"role": each.role, "content": each.text} for each in messages]


def _calls(response: ScriptedResponse) -> list[dict[str, Any]]:
    return [{"id": call.id, "name": call.name, "input": dict(call.input)} for call in response.calls]


class History:
    """The messages so far, and the tools."""

    def __init__(self, who: ConversationPlan | Helper) -> None:
        self.script: ModelScript = who.script
        self.tools: Mapping[str, CaseTool] = {tool.name: tool for tool in who.tools}
        self.helper = who.helper if isinstance(who, ConversationPlan) else None
        self.messages: list[Said] = []

    def add(self, role: Any, *texts: str, call: str = "") -> None:
        self.messages += [Said(role, text, call) for text in texts]

    def ask_model(
        self, messages: Sequence[Said] | None = None, transient: Sequence[str] = ()
    ) -> ScriptedResponse:
        sent = self.messages if messages is None else messages
        return self.script.answer([*sent, *(Said("user", text) for text in transient)])

    def problem(self, call: ScriptedCall) -> str | None:
        """Return why the call cannot be made."""
        if call.name not in self.tools and (self.helper is None or self.helper.name != call.name):
            return f"Unknown tool {call.name}"
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

    async def _run(self, call: ScriptedCall) -> str:
        problem = self.problem(call)
        if problem is not None:
            return problem
        try:
            return _text(await self.tools[call.name].call(call.input))
        except Exception as error:
            return f"{call.name} failed: {type(error).__name__}: {error}"


def _text(value: Any) -> str:
    from hookline.engine.host.tool_call import as_text

    return as_text(value)


class HookedLoop(History):
    """The same agent with hooks. Each step is a method, so that a test can break one rule and no other."""

    def __init__(self, who: ConversationPlan | Helper, session: Session) -> None:
        super().__init__(who)
        self._session = session
        self._show = who.show if isinstance(who, ConversationPlan) and who.entry == "stream" else None

    async def say(self, prompt: str) -> str:
        try:
            return await self._turn(prompt)
        except ConnectionError as error:
            await self._failed(error)
            raise

    async def _turn(self, prompt: str) -> str:
        begun = await self._session.prompt(prompt)
        if self._is_blocked(begun):
            return begun.blocked or ""
        self._begin(begun)
        while True:
            request = await self._session.model(_json(self.messages))
            if request.blocked is not None:
                return await self._held(request)
            response = self.ask_model(self._sent(request), self._once(request))
            answer = await self._answer(response)
            self._keep_answer(answer, response)
            if answer.stop is not None:
                return await self._over(answer.stop)
            if response.calls:
                stop = self._store(response, await asyncio.gather(*map(self._run, response.calls)))
                if stop is not None:
                    return await self._over(stop)
                continue
            end = await self._end(answer)
            if not self._goes_on(end):
                return end.stop or answer.text
            self._send_back(end)

    def _is_blocked(self, begun: PromptResult) -> bool:
        return begun.blocked is not None

    def _begin(self, begun: PromptResult) -> None:
        self.add("user", *begun.texts)

    def _sent(self, request: ModelRequestResult) -> Sequence[Said]:
        """Return the messages to send, as hooks left them, with the text that they added for good."""
        self.add("user", *(item.text for item in request.context))
        if not request.rewritten:
            return self.messages
        return [Said(each["role"], each["content"]) for each in request.messages]

    def _once(self, request: ModelRequestResult) -> Sequence[str]:
        return request.transient

    async def _held(self, request: ModelRequestResult) -> str:
        return await self._over(request.blocked or "")

    async def _answer(self, response: ScriptedResponse) -> AnswerResult:
        """Show the answer while it comes, if the user sees a stream."""
        stream = self._session.stream(_each(response.pieces), _calls(response))
        async for text in stream:
            if self._show is not None:
                self._show(text)
        return stream.answer

    def _keep_answer(self, answer: AnswerResult, _response: ScriptedResponse) -> None:
        self.add("assistant", answer.text)

    async def _end(self, answer: AnswerResult) -> EndResult:
        return await self._session.end(answer.text)

    def _goes_on(self, end: EndResult) -> bool:
        return end.send_back is not None

    def _send_back(self, end: EndResult) -> None:
        self.add("user", *end.texts)

    async def _failed(self, error: Exception) -> None:
        await self._session.failed(error, "server")

    async def _over(self, why: str) -> str:
        """A hook ended the turn; ending it says so to the session."""
        await self._session.end("")
        return why

    def _store(self, response: ScriptedResponse, results: Sequence[CallResult | str]) -> str | None:
        """Keep the results in the order of the calls, then what hooks say elsewhere. Why the run stops, if it does."""
        for call, done in zip(response.calls, results, strict=True):
            self.add("tool", done if isinstance(done, str) else done.text, call=call.id)
        all_done = [done for done in results if not isinstance(done, str)]
        self._place([item.text for done in all_done for item in done.context])
        return next((done.stop for done in all_done if done.stop is not None), None)

    def _place(self, texts: Sequence[str]) -> None:
        self.add("user", *texts)

    async def _run(self, call: ScriptedCall) -> CallResult | str:
        problem = self.problem(call)
        if problem is not None:
            return problem
        if self.helper is not None and call.name == self.helper.name:
            return await self._session.tool(call.name, call.input, run=self._delegate, id=call.id)
        return await self._call(call, self.tools[call.name])

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        return await self._session.tool(call.name, call.input, run=tool.call, id=call.id, check=tool.problem)

    async def _delegate(self, given: Mapping[str, Any]) -> str:
        assert self.helper is not None
        async with self._below(self.helper) as below:
            return await type(self)(self.helper, below).say(given["task"])

    def _below(self, helper: Helper) -> Session:
        return self._session.child(helper.name)


async def _each(pieces: Sequence[str]) -> AsyncIterator[str]:
    for piece in pieces:
        yield piece


class BlockingLoop(History):
    """The same agent for programs without an event loop."""

    def __init__(self, who: ConversationPlan, session: BlockingSession) -> None:
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
            response = self.ask_model(transient=request.transient)
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
    cannot: Mapping[str, KnownLimit] = {}

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
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
