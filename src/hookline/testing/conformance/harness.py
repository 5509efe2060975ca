"""Describe a harness for the conformance suite: one class with `play`, and a list of what your agent cannot do.

A case describes one conversation without naming a framework: what the user says, what the model answers, and the
suite's own tools. `play` has it played by your agent, with a model that asks `conversation.script` for its answers, and
returns what the user was shown. The suite brings the engine with the hooks, keeps the log of its tools, and reads in
the script what the model was sent, so a harness reports hardly anything. ::

    class MyHarness:
        name = "my agent"
        cannot = {"stop: cap": KnownLimit("none", "no turn can be forced", "my_agent/loop.py:12")}

        async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
            agent = MyAgent(
                model=lambda messages: scripted(conversation.script, messages),
                tools=[MyTool(t.name, t.description, t.schema, t.function) for t in conversation.tools],
            )
            if engine is not None:                       # None: play it without Hookline
                add_hookline(agent, engine, session_id=conversation.id, cwd=conversation.cwd)
            return await each_prompt(conversation, agent.run)

    def scripted(script, messages):                      # the model
        answer = script.answer([Said(m.role, m.text, m.call_id) for m in messages])
        return MyAnswer(answer.text, [MyCall(c.id, c.name, c.input) for c in answer.calls])

Rules for a harness:

- Several conversations may be played at once, also with one engine: keep nothing in the harness.
- Play the prompts one after another in one conversation, with the history of those before. Each has its answer in
  `ShownOutput.answers`; where a hook blocks or stops it, that is what your user is shown, or
  `ShownOutput.error` says it.
- An agent that streams calls `conversation.show(text)` with each piece that its user sees, as it is shown.
- `Said` is what the model reads, all of it: system text, prompts, its own answers, results of tools, text of hooks.
- `play` may be cancelled. Let `asyncio.CancelledError` through.
- The case opens and closes the engine. Sessions are yours: one per conversation, `engine.session(conversation.id)`, and
  one with `parent=` for the helper. Close them when the conversation is over.
- What you cannot play at all raises `UnplayableError`, and is declared in `cannot`.
"""

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from hookline import Engine

#: The answer of a script to more requests than its case expects.
OVER = "(the script has no answer left)"


class UnplayableError(Exception):
    """An error: the framework has no way to play this conversation, for example no synchronous entry point.

    ::

        raise UnplayableError("the framework is async only")
    """


class KnownLimit(Struct, frozen=True):
    """A case, or a group of cases, that a framework cannot do.

    `part`: what must never go wrong is right (the tool did not run), and something else is missing. `none`: not even
    that. The case is played anyway, and its result must be exactly as declared. `source` is the line of the framework
    that shows it, for example `langchain/agents/factory.py:812`.

    ::

        cannot = {"sync": KnownLimit("none", "the framework is async only", "my_agent/loop.py:12")}
    """

    level: Literal["part", "none"]
    reason: str
    source: str


class ScriptedCall(Struct, frozen=True):
    """A call that the model makes.

    ::

        use = ScriptedCall("look", {"place": "there"}, "c1")
    """

    name: str
    input: Mapping[str, Any] = {}
    id: str = ""


class ScriptedResponse(Struct, frozen=True):
    """One answer of the model: text, calls, or both.

    ::

        answer = ScriptedResponse("I look.", (ScriptedCall("look", {}, "c1"),))
    """

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    #: The model does not answer: `ModelScript.answer` raises ConnectionError with this text.
    error: str = ""

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text in two pieces, for a model that streams."""
        middle = (len(self.text) + 1) // 2
        return tuple(piece for piece in (self.text[:middle], self.text[middle:]) if piece)


class Said(Struct, frozen=True):
    """One message as the model reads it. A result of a tool has the id of its call.

    ::

        said = [Said("user", "go"), Said("assistant", ""), Said("tool", "saw here", "c1")]
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    id: str = ""


class ReceivedRequest(Struct, frozen=True):
    """A request to the model: the messages, and what the harness says of the tools.

    ::

        reads = conversation.script.requests[-1].result("c1")
    """

    messages: tuple[Said, ...]
    tools: str = ""

    @property
    def text(self) -> str:
        """The text of all its messages."""
        return "\n".join(message.text for message in self.messages)

    def result(self, call_id: str) -> str | None:
        """Return what the model reads as the result of a call."""
        texts = [each.text for each in self.messages if each.role == "tool" and each.id == call_id]
        return "\n".join(texts) if texts else None


class ModelScript:
    """The model of a conversation: it answers in order, and keeps its requests. Any thread may call it.

    ::

        answer = conversation.script.answer([Said("user", prompt)])
    """

    def __init__(self, responses: Iterable[ScriptedResponse]) -> None:
        self._left = list(responses)
        self._lock = threading.Lock()
        #: Everything that the model was sent.
        self.requests: list[ReceivedRequest] = []
        #: How often it was asked after its last answer.
        self.overruns = 0

    def answer(self, messages: Iterable[Said], tools: object = ()) -> ScriptedResponse:
        """Answer a request instead of the model. `tools` is whatever you send about them, for comparison only.

        Raises ConnectionError where the case has a model that does not answer: let it through, as that of yours.
        """
        with self._lock:
            self.requests.append(
                ReceivedRequest(tuple(messages), json.dumps(tools, default=str, sort_keys=True))
            )
            if not self._left:
                self.overruns += 1
                return ScriptedResponse(OVER)
            answer = self._left.pop(0)
        if answer.error:
            raise ConnectionError(answer.error)
        return answer


class CaseTool(Struct, frozen=True, eq=False):
    """A tool of the suite. It keeps its own log: your agent only has to call it.

    Take what suits your framework: `function` and `blocking` have the same annotated parameters; `call` takes the
    arguments as the model gave them.

    ::

        mine = [MyTool(t.name, t.description, t.schema, t.function) for t in conversation.tools]
    """

    name: str
    description: str
    #: JSON Schema of the arguments.
    schema: Mapping[str, Any]
    #: An async function with annotated parameters.
    function: Callable[..., Any]
    #: The same, not async.
    blocking: Callable[..., Any]

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Run it with these arguments."""
        return await self.function(**arguments)

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        """Return why these arguments do not fit, for agents without their own check."""
        known: Mapping[str, Mapping[str, str]] = self.schema["properties"]
        for name in self.schema.get("required", ()):
            if name not in arguments:
                return f"{name} is missing"
        for name, value in arguments.items():
            if name not in known:
                return f"{name} is not known"
            if type(value) is not _TYPES[known[name]["type"]]:
                return f"{name} is not a {known[name]['type']}"
        return None


_TYPES: Mapping[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


class Helper(Struct, frozen=True, kw_only=True):
    """A subagent, for the model a tool of this name with one argument, `task`; its answer is the result.

    Its hooks are those of the conversation: a session with `parent=`, `agent_type=helper.name`.

    ::

        below = engine.session(conversation.id, parent=session, agent_id="h1", agent_type=helper.name)
    """

    name: str
    description: str
    script: ModelScript
    tools: tuple[CaseTool, ...] = ()


class ConversationPlan(Struct, frozen=True, kw_only=True):
    """A conversation to play.

    ::

        agent = MyAgent(model=scripted(conversation.script), tools=conversation.tools)
        return await each_prompt(conversation, agent.run)
    """

    #: The id of its session; no other conversation has it.
    id: str
    prompts: tuple[str, ...]
    script: ModelScript
    tools: tuple[CaseTool, ...] = ()
    helper: Helper | None = None
    #: The directory of the session.
    cwd: str = ""
    #: Which entry point of the framework is played: its async one, its synchronous one, or the one that streams. For a
    #: synchronous one, `each_prompt` takes a plain function and calls it in a thread.
    entry: Literal["async", "sync", "stream"] = "async"
    #: The text that the user was shown while it was streamed, in pieces.
    streamed: list[str] = []

    def show(self, text: str) -> None:
        """Note a piece of text that the user is shown while the model streams its answer."""
        self.streamed.append(text)

    def tool(self, name: str) -> CaseTool | None:
        """Return the tool of that name, if it exists."""
        return next((tool for tool in self.tools if tool.name == name), None)


class ShownOutput(Struct, frozen=True, kw_only=True):
    """Everything that the user was shown.

    ::

        return ShownOutput(answers=("done",))
    """

    #: One per prompt; for one that a hook blocked or stopped, what is shown instead of an answer.
    answers: tuple[str, ...] = ()
    #: The exception, if any.
    error: str | None = None

    @property
    def text(self) -> str:
        """The answers, and the error if there was one."""
        return "\n".join([*self.answers, self.error or ""])


class Harness(Protocol):
    """Player of conversations with one agent framework.

    ::

        class MyHarness:
            name = "my agent"
            cannot = {}

            async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput: ...
    """

    @property
    def name(self) -> str:
        """The agent or framework, as the table calls it."""
        ...

    @property
    def cannot(self) -> Mapping[str, KnownLimit]:
        """Limits by the name of a case, or of a group."""
        ...

    async def play(self, conversation: ConversationPlan, engine: "Engine | None") -> ShownOutput:
        """Play it; `engine` has the hooks, and `engine.approve` answers questions. None: play it without Hookline."""
        ...


async def each_prompt(conversation: ConversationPlan, say: Callable[[str], Any]) -> ShownOutput:
    """Say the prompts one after another. `say` returns the answer; a plain function is called in a thread.

    What it raises ends the conversation and becomes the error.

    ::

        return await each_prompt(conversation, agent.run)
    """
    answers: list[str] = []
    for prompt in conversation.prompts:
        try:
            if inspect.iscoroutinefunction(say):
                answer = await say(prompt)
            else:
                answer = await asyncio.to_thread(say, prompt)
                answer = await answer if inspect.isawaitable(answer) else answer
        except UnplayableError:
            raise
        except Exception as error:  # noqa: BLE001 - an agent may raise anything; the suite says what is allowed
            return ShownOutput(answers=tuple(answers), error=f"{type(error).__name__}: {error}")
        answers.append(str(answer))
    return ShownOutput(answers=tuple(answers))


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON Schema of a function's parameters."""
    names = {kind: name for name, kind in _TYPES.items()}
    parameters: Sequence[inspect.Parameter] = list(inspect.signature(function).parameters.values())
    return {
        "type": "object",
        "properties": {each.name: {"type": names[each.annotation]} for each in parameters},
        "required": [each.name for each in parameters if each.default is inspect.Parameter.empty],
        "additionalProperties": False,
    }
