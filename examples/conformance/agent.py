"""A small agent: a loop, a model, some tools. It calls its hooks at every event through the host API."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hookline import Session

Message = dict[str, Any]
#: Messages in; text, and calls with id, name and input, out.
Model = Callable[[Sequence[Message]], tuple[str, Sequence[Message]]]


class Agent:
    """One conversation. `tools` are by name, each a function of its arguments and a check of them."""

    def __init__(self, model: Model, tools: Mapping[str, tuple[Any, Any]], session: Session | None) -> None:
        self.model = model
        self.tools = tools
        self.session = session
        self.messages: list[Message] = []

    async def ask(self, prompt: str) -> str:
        """The answer to a prompt, or what hooks say in place of one."""
        if self.session is None:
            return await self._without_hooks(prompt)
        begun = await self.session.prompt(prompt)
        if begun.blocked is not None:
            return begun.blocked
        self._say("user", *begun.texts)
        try:
            return await self._loop(self.session)
        except Exception as error:
            await self.session.failed(error)
            raise

    async def _loop(self, session: Session) -> str:
        while True:
            request = await session.model(self.messages)
            if request.blocked is not None:
                return await self._over(request.blocked)
            self.messages = [dict(message) for message in request.messages]  # as hooks left them
            self._say("user", *(item.text for item in request.context))
            once = [{"role": "user", "content": text} for text in request.transient]
            text, calls = self.model([*self.messages, *once])
            answer = await session.answer(text, calls)
            self._say("assistant", answer.text)
            if answer.stop is not None:
                return await self._over(answer.stop)
            for call in calls:
                stop = await self._call(session, call)
                if stop is not None:
                    return await self._over(stop)
            if not calls:
                end = await session.end(answer.text)
                if end.send_back is None:
                    return end.stop or answer.text
                self._say("user", *end.texts)

    async def _call(self, session: Session, call: Message) -> str | None:
        """Make a call and keep its result; why the run stops, if it does."""
        if call["name"] not in self.tools:
            self._say("tool", f"Unknown tool {call['name']}", id=call["id"])
            return None
        run, check = self.tools[call["name"]]
        done = await session.tool(call["name"], call["input"], run=run, check=check, id=call["id"])
        self._say("tool", done.text, id=call["id"])
        self._say("user", *(item.text for item in done.context))
        return done.stop

    async def _over(self, why: str) -> str:
        if self.session is not None:
            await self.session.end("")
        return why

    def _say(self, role: str, *texts: str, **more: str) -> None:
        self.messages += [{"role": role, "content": text, **more} for text in texts]

    async def _without_hooks(self, prompt: str) -> str:
        """Run the loop as it was before it had hooks."""
        self._say("user", prompt)
        while True:
            text, calls = self.model(self.messages)
            self._say("assistant", text)
            if not calls:
                return text
            for call in calls:
                self._say("tool", await self._result(call), id=call["id"])

    async def _result(self, call: Message) -> str:
        if call["name"] not in self.tools:
            return f"Unknown tool {call['name']}"
        try:
            value = await self.tools[call["name"]][0](call["input"])
        except Exception as error:  # noqa: BLE001 - a tool may raise anything; the model gets it
            return f"{call['name']} failed: {type(error).__name__}: {error}"
        return value if isinstance(value, str) else value.model_dump_json()
