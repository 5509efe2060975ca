"""One case being played: the engine with its hooks, the conversation, and what was found out."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

from msgspec import Struct

from hookline import Engine, Outcome
from hookline.events import (
    PERMISSION_REQUEST,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    SUBAGENT_START,
    SUBAGENT_STOP,
    USER_PROMPT_SUBMIT,
    EventSpec,
)
from hookline.host import HookOptions
from hookline.testing.conformance.harness import (
    Conversation,
    Harness,
    Helper,
    Request,
    Response,
    Script,
    Seen,
    ToolUse,
    UnplayableError,
)
from hookline.testing.conformance.tools import ToolLog
from hookline.tools import shell

Entry: TypeAlias = Literal["async", "sync", "stream"]
#: What a case may write for one answer of the model: a text, a call, or several calls.
Said: TypeAlias = "str | ToolUse | Sequence[ToolUse] | Response"

#: Events that every case watches, so that it can tell what fired.
WATCHED: tuple[EventSpec[Any], ...] = (
    USER_PROMPT_SUBMIT, PRE_MODEL_CALL, POST_MODEL_CALL, PRE_TOOL_USE, PERMISSION_REQUEST, POST_TOOL_USE,
    POST_TOOL_USE_FAILURE, SUBAGENT_START, SUBAGENT_STOP, STOP,
)  # fmt: skip
#: Events about one tool call.
OF_A_CALL = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})

PROMPT = "please do it"


class Fired(Struct, frozen=True):
    """An event that a hook was told of."""

    event: str
    payload: Any
    session_id: str
    agent_type: str | None


class Finding(Struct, frozen=True):
    """One thing that a case looked at. Without an `essential` one the agent cannot do the case at all."""

    what: str
    holds: bool
    essential: bool


def use(name: str, id: str = "c1", **given: Any) -> ToolUse:  # noqa: A002 - the word that every API has for it
    """A call of a tool by the model."""
    return ToolUse(name, given, id)


class Played(Struct, frozen=True, eq=False):
    """One conversation that was played."""

    seen: Seen
    script: Script
    log: ToolLog

    @property
    def requests(self) -> list[Request]:
        return self.script.requests

    def read(self, number: int) -> str:
        """All that the model read with the request of this number, from 1; nothing, if there was none."""
        return self.requests[number - 1].text if len(self.requests) >= number else ""

    def result(self, call_id: str = "c1", number: int = 2) -> str | None:
        """What the model read as the result of a call."""
        return self.requests[number - 1].result(call_id) if len(self.requests) >= number else None


class Trial:
    """What a case has at hand. It is for one case and one harness."""

    def __init__(self, harness: Harness, folder: Path, entry: Entry = "async") -> None:
        self.folder = folder
        self._harness = harness
        self._entry: Entry = entry
        self.engine = Engine(tools={"run_shell": shell("cmd")})
        self.fired: list[Fired] = []
        self.findings: list[Finding] = []
        self.conversations: list[Played] = []
        self._names = 0

    # What the case sets up

    def watch(self) -> None:
        """Log the events of the conversation in `fired`."""
        for event in WATCHED:
            self.engine.add(event, self._logger(event.name), name=f"log {event.name}")

    def _logger(self, name: str) -> Callable[..., Awaitable[None]]:
        async def log(payload: Any, scene: Any) -> None:
            self.fired.append(Fired(name, payload, scene.session_id, scene.agent_type))

        return log

    def hook(
        self,
        event: EventSpec[Any],
        *answers: Outcome | None,
        matcher: str | None = None,
        **options: Unpack[HookOptions],
    ) -> None:
        """A hook that gives these answers, one each time; the last one from then on."""
        left = list(answers)

        async def answer(payload: Any) -> Outcome | None:
            del payload
            return left.pop(0) if len(left) > 1 else left[0]

        self.engine.add(event, answer, matcher, **options)

    def conversation(
        self, *said: Said, prompts: Sequence[str] = (PROMPT,), helper: Helper | None = None, name: str = ""
    ) -> tuple[Conversation, ToolLog]:
        """A conversation to play, and the log of its tools."""
        self._names += 1
        log = ToolLog()
        conversation = Conversation(
            id=name or f"conversation-{self._names}",
            prompts=tuple(prompts),
            script=Script(_response(each) for each in said),
            tools=log.tools,
            helper=helper,
            cwd=str(self.folder),
            entry=self._entry,
        )
        return conversation, log

    def helper(self, *said: Said) -> tuple[Helper, ToolLog]:
        """A sub-agent whose model says this, and the log of its tools."""
        log = ToolLog()
        script = Script(_response(each) for each in said)
        return Helper(name="helper", description="Give it a task.", script=script, tools=log.tools), log

    # Playing it

    async def play(self, *said: Said, may_fail: bool = False, hooked: bool = True, **options: Any) -> Played:
        """Play a conversation in which the model says this. `may_fail`: the agent may raise."""
        conversation, log = self.conversation(*said, **options)
        return await self.play_this(conversation, log, may_fail=may_fail, hooked=hooked)

    async def play_this(
        self, conversation: Conversation, log: ToolLog, *, may_fail: bool = False, hooked: bool = True
    ) -> Played:
        try:
            seen = await self._harness.play(conversation, self.engine if hooked else None)
        except UnplayableError:
            raise
        except Exception as error:  # noqa: BLE001 - an agent may raise anything; the case says what it may be
            seen = Seen(error=f"{type(error).__name__}: {error}")
        played = Played(seen, conversation.script, log)
        self.conversations.append(played)
        if not may_fail:
            self.must(seen.error is None, f"nothing is raised (it was: {seen.error})")
        return played

    # What was found out

    def must(self, holds: bool, what: str) -> None:
        """Without this the agent does not do the case at all."""
        self.findings.append(Finding(what, holds, essential=True))

    def also(self, holds: bool, what: str) -> None:
        """Without this the agent does the case in part."""
        self.findings.append(Finding(what, holds, essential=False))

    def times(self, event: str) -> int:
        """How often an event fired."""
        return len(self.payloads(event))

    def payloads(self, event: str) -> list[Any]:
        return [fired.payload for fired in self.fired if fired.event == event]

    def about_calls(self) -> list[str]:
        """The events about tool calls that fired, in order."""
        return [fired.event for fired in self.fired if fired.event in OF_A_CALL]

    def account(self) -> str:
        """All that was seen, for a person who has to find out what went wrong."""
        lines = [f"events: {', '.join(fired.event for fired in self.fired) or 'none'}"]
        for number, played in enumerate(self.conversations, 1):
            lines.append(f"conversation {number}: the user saw {list(played.seen.answers)}")
            lines += [f"  raised: {played.seen.error}"] if played.seen.error else []
            lines += [f"  {ran.name} ran with {dict(ran.input)}" for ran in played.log.ran]
            for place, request in enumerate(played.requests, 1):
                lines.append(f"  request {place}:")
                lines += [
                    f"    {said.role}{said.id and ' ' + said.id}: {said.text!r}" for said in request.messages
                ]
        return "\n".join(lines)


def _response(said: Said) -> Response:
    if isinstance(said, Response):
        return said
    if isinstance(said, str):
        return Response(said)
    return Response(calls=(said,) if isinstance(said, ToolUse) else tuple(said))


async def until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until it holds; False if it does not within the time."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.005)
    return True
