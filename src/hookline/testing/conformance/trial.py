"""Play one case: the engine with its hooks, the conversation, and the findings."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

from msgspec import Struct

from hookline import Engine, Outcome
from hookline.actions import shell
from hookline.events import (
    PERMISSION_REQUEST,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    STOP_FAILURE,
    SUBAGENT_START,
    SUBAGENT_STOP,
    TURN_SETTLED,
    USER_PROMPT_SUBMIT,
    EventSpec,
)
from hookline.host import HookOptions
from hookline.testing.conformance.harness import (
    ConversationPlan,
    Harness,
    Helper,
    ModelScript,
    ReceivedRequest,
    ScriptedCall,
    ScriptedResponse,
    ShownOutput,
    UnplayableError,
)
from hookline.testing.conformance.tools import ToolLog

Entry: TypeAlias = Literal["async", "sync", "stream"]
#: Forms of one answer of the model in a case: a text, a call, or several calls.
Said: TypeAlias = "str | ScriptedCall | Sequence[ScriptedCall] | ScriptedResponse"

#: Events that every case watches.
WATCHED: tuple[EventSpec[Any], ...] = (
    USER_PROMPT_SUBMIT, PRE_MODEL_CALL, POST_MODEL_CALL, PRE_TOOL_USE, PERMISSION_REQUEST, POST_TOOL_USE,
    POST_TOOL_USE_FAILURE, SUBAGENT_START, SUBAGENT_STOP, STOP, STOP_FAILURE, TURN_SETTLED,
)  # fmt: skip
#: Events about one tool call.
OF_A_CALL = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})

PROMPT = "please do it"


class SeenEvent(Struct, frozen=True):
    """An event that a hook received."""

    event: str
    payload: Any
    session_id: str
    agent_type: str | None


class CaseObservation(Struct, frozen=True):
    """One observation of a case. Without an `essential` one the agent cannot do the case at all."""

    what: str
    holds: bool
    essential: bool


def use(name: str, id: str = "c1", **given: Any) -> ScriptedCall:  # noqa: A002 - the word that every API has for it
    """Return a call of a tool by the model."""
    return ScriptedCall(name, given, id)


class Played(Struct, frozen=True, eq=False):
    """One conversation that was played."""

    seen: ShownOutput
    script: ModelScript
    log: ToolLog
    #: The text that the user was shown while it was streamed.
    streamed: str = ""

    @property
    def requests(self) -> list[ReceivedRequest]:
        return self.script.requests

    def read(self, number: int) -> str:
        """Return all that the model read with the request of this number, from 1; nothing, if there was none."""
        return self.requests[number - 1].text if len(self.requests) >= number else ""

    def result(self, call_id: str = "c1", number: int = 2) -> str | None:
        """Return what the model read as the result of a call."""
        return self.requests[number - 1].result(call_id) if len(self.requests) >= number else None


class Trial:
    """State of one case and one harness."""

    def __init__(self, harness: Harness, directory: Path, entry: Entry = "async") -> None:
        self.directory = directory
        self._harness = harness
        self._entry: Entry = entry
        self.engine = Engine(tools={"run_shell": shell("cmd")})
        self.fired: list[SeenEvent] = []
        self.findings: list[CaseObservation] = []
        self.conversations: list[Played] = []
        self._names = 0

    # Setup

    def watch(self) -> None:
        """Log the events of the conversation in `fired`."""
        for event in WATCHED:
            self.engine.add(event, self._logger(event.name), name=f"log {event.name}")

    def _logger(self, name: str) -> Callable[..., Awaitable[None]]:
        async def log(payload: Any, info: Any) -> None:
            self.fired.append(SeenEvent(name, payload, info.session_id, info.agent_type))

        return log

    def hook(
        self,
        event: EventSpec[Any],
        *answers: Outcome | None,
        matcher: str | None = None,
        **options: Unpack[HookOptions],
    ) -> None:
        """Add a hook that gives these answers, one each time; the last one from then on."""
        left = list(answers)

        async def answer(payload: Any) -> Outcome | None:
            del payload
            return left.pop(0) if len(left) > 1 else left[0]

        self.engine.add(event, answer, matcher, **options)

    def conversation(
        self, *said: Said, prompts: Sequence[str] = (PROMPT,), helper: Helper | None = None, name: str = ""
    ) -> tuple[ConversationPlan, ToolLog]:
        """Return a conversation to play, and the log of its tools."""
        self._names += 1
        log = ToolLog()
        conversation = ConversationPlan(
            id=name or f"conversation-{self._names}",
            prompts=tuple(prompts),
            script=ModelScript(_response(each) for each in said),
            tools=log.tools,
            helper=helper,
            cwd=str(self.directory),
            entry=self._entry,
        )
        return conversation, log

    def helper(self, *said: Said) -> tuple[Helper, ToolLog]:
        """Return a subagent whose model says this, and the log of its tools."""
        log = ToolLog()
        script = ModelScript(_response(each) for each in said)
        return Helper(name="helper", description="Give it a task.", script=script, tools=log.tools), log

    # Playing it

    async def play(self, *said: Said, may_fail: bool = False, hooked: bool = True, **options: Any) -> Played:
        """Play a conversation in which the model says this. `may_fail`: the agent may raise."""
        conversation, log = self.conversation(*said, **options)
        return await self.play_this(conversation, log, may_fail=may_fail, hooked=hooked)

    async def play_this(
        self, conversation: ConversationPlan, log: ToolLog, *, may_fail: bool = False, hooked: bool = True
    ) -> Played:
        try:
            seen = await self._harness.play(conversation, self.engine if hooked else None)
        except UnplayableError:
            raise
        except Exception as error:  # noqa: BLE001 - an agent may raise anything; the case says what is allowed
            seen = ShownOutput(error=f"{type(error).__name__}: {error}")
        played = Played(seen, conversation.script, log, "".join(conversation.streamed))
        self.conversations.append(played)
        if not may_fail:
            self.must(seen.error is None, f"nothing is raised (it was: {seen.error})")
        return played

    # Findings

    def must(self, holds: bool, what: str) -> None:
        """Record an essential finding: without it the agent does not do the case at all."""
        self.findings.append(CaseObservation(what, holds, essential=True))

    def also(self, holds: bool, what: str) -> None:
        """Record a finding without which the agent does the case in part."""
        self.findings.append(CaseObservation(what, holds, essential=False))

    def times(self, event: str) -> int:
        """Return how often an event fired."""
        return len(self.payloads(event))

    def payloads(self, event: str) -> list[Any]:
        return [fired.payload for fired in self.fired if fired.event == event]

    def about_calls(self) -> list[str]:
        """Return the events about tool calls that fired, in order."""
        return [fired.event for fired in self.fired if fired.event in OF_A_CALL]

    def account(self) -> str:
        """Describe all observations, for a person who has to find out what went wrong."""
        lines = [f"events: {', '.join(fired.event for fired in self.fired) or 'none'}"]
        for number, played in enumerate(self.conversations, 1):
            lines.append(f"conversation {number}: the user saw {list(played.seen.answers)}")
            lines += [f"  streamed: {played.streamed!r}"] if played.streamed else []
            lines += [f"  raised: {played.seen.error}"] if played.seen.error else []
            lines += [f"  {ran.name} ran with {dict(ran.input)}" for ran in played.log.ran]
            for index, request in enumerate(played.requests, 1):
                lines.append(f"  request {index}:")
                lines += [
                    f"    {said.role}{said.id and ' ' + said.id}: {said.text!r}" for said in request.messages
                ]
        return "\n".join(lines)


def _response(said: Said) -> ScriptedResponse:
    if isinstance(said, ScriptedResponse):
        return said
    if isinstance(said, str):
        return ScriptedResponse(said)
    return ScriptedResponse(calls=(said,) if isinstance(said, ScriptedCall) else tuple(said))


async def until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until a condition holds; return False if it does not within the time."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.005)
    return True
