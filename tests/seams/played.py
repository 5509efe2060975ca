"""One session of the real agent with a hook at every event of a format; each hook keeps its stdin and environment."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from hookline.agent.hooks import FiredEvent
from hookline.agent.models.port import CompletionRequest, RequestLog
from hookline.agent.ports import PermissionPrompt, PermissionReply
from hookline.model.messages import Assistant, ToolMessage, Usage
from tests.agent.dialect_session import DialectSession
from tests.agent.models import provider_answers
from tests.agent.models.loopback_server import Loopback, error
from tests.agent.models.provider_ports import CHAT, port_to

ModelKind = Literal["scripted", "provider"]
KINDS: tuple[ModelKind, ...] = ("scripted", "provider")
#: What both models are called in the session.
MODEL = "scripted"

SECRET = "ghp_" + "a1B2c3" * 6
FIRST, SECOND, THIRD = "first, please", "second, please", "this one fails"
REASONING = "I had better look."
LOOKING, DONE, AGAIN, SUMMARY = "Looking.", "All done.", "Done again.", "They looked around."
OUTPUT = "found it"
SUB_PROMPT = f"Look for {SECRET} " + "everywhere " * 300
SUB_ANSWER = f"It was {SECRET} " + "all along " * 300
REFUSAL = "not that one"
ERROR = "too many of you"
CALLS = {
    "ok": ("Bash", {"command": f"printf '{OUTPUT}'"}),
    "broken": ("Bash", {"command": "echo oh; exit 3"}),
    "asked": ("Write", {"file_path": "made.txt", "content": "made"}),
    "refused": ("Write", {"file_path": "other.txt", "content": "not made"}),
    "agent": ("Agent", {"prompt": SUB_PROMPT, "description": "look for it"}),
}


class Said(Struct, frozen=True, kw_only=True):
    """One answer of the model."""

    text: str = ""
    calls: tuple[str, ...] = ()
    reasoning: str = ""
    #: Input, output, cached and reasoning tokens.
    counts: tuple[int, int, int, int] = (0, 0, 0, 0)

    def usage(self, kind: ModelKind) -> Usage:
        given, made, cached, thought = self.counts
        known = {"cache_write_tokens": 11, "cost_usd": given / 1000} if kind == "scripted" else {}
        return Usage(
            input_tokens=given,
            output_tokens=made,
            cache_read_tokens=cached,
            reasoning_tokens=thought,
            **cast("dict[str, Any]", known),
        )


SAID = {
    "look": Said(
        text=LOOKING,
        reasoning=REASONING,
        calls=("ok", "broken", "asked", "refused"),
        counts=(1000, 50, 600, 20),
    ),
    "delegate": Said(calls=("agent",), counts=(1100, 60, 700, 10)),
    "sub": Said(text=SUB_ANSWER, counts=(300, 90, 100, 5)),
    "done": Said(text=DONE, counts=(1200, 70, 800, 30)),
    "again": Said(text=AGAIN, counts=(1300, 80, 900, 40)),
    "summary": Said(text=SUMMARY, counts=(1400, 40, 1000, 3)),
}


def used(kind: ModelKind, *answers: str) -> Usage:
    """The tokens that these answers have used."""
    total = Usage()
    for name in answers:
        total += SAID[name].usage(kind)
    return total


FIRST_TURN = ("look", "delegate", "sub", "done")
BEFORE_COMPACTION = (*FIRST_TURN, "again")
ALL = (*BEFORE_COMPACTION, "summary")


class Dump(Struct, frozen=True):
    """The payload of one hook."""

    event: str
    stdin: bytes
    env: Mapping[str, str]

    @property
    def document(self) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self.stdin)) if self.stdin else {}


class Played(Struct, frozen=True, kw_only=True):
    """The session after it ended."""

    kind: ModelKind
    project: Path
    session_id: str
    transcript: str
    dumps: Sequence[Dump]
    fired: Sequence[FiredEvent]
    requests: Sequence[CompletionRequest]

    def of(self, event: str) -> list[Dump]:
        return [dump for dump in self.dumps if dump.event == event]

    @property
    def agent_id(self) -> str:
        """The subagent's id: its transcript has it as its name."""
        (file,) = Path(self.transcript).with_suffix("").rglob("*.jsonl")
        return file.stem

    @property
    def sub_transcript(self) -> str:
        (file,) = Path(self.transcript).with_suffix("").rglob("*.jsonl")
        return str(file)

    def result(self, call: str) -> str:
        """Return what the model got for a call."""
        for request in self.requests:
            for message in request.messages:
                if isinstance(message, ToolMessage) and message.tool_use_id == call:
                    return message.text
        raise LookupError(call)

    def request_with(self, text: str) -> CompletionRequest:
        """The request that was answered with a text."""
        for request, later in zip(self.requests, self.requests[1:], strict=False):
            last = next((m for m in reversed(later.messages) if isinstance(m, Assistant)), None)
            if last is not None and last.text == text:
                return request
        raise LookupError(text)


def dump_command(directory: Path, event: str) -> str:
    # Its stdin, a NUL, and its environment, in a file that is there when it is whole.
    file = f"{directory}/{event}.$$"
    return f"{{ cat; printf '\\0'; env -0; }} > {file}.part && mv {file}.part {file}.dump"


def _script() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for name, said in SAID.items():
        entry: dict[str, Any] = {"usage": msgspec.to_builtins(said.usage("scripted")), "text": said.text}
        if said.reasoning:
            entry["reasoning"] = said.reasoning
        entry["tool_calls"] = [
            {"id": call, "name": CALLS[call][0], "input": CALLS[call][1]} for call in said.calls
        ]
        if name == "sub":
            entry["agent"] = "general-purpose"
        entries.append(entry)
    return [*entries, {"error": "rate_limit", "message": ERROR}]


def _replies() -> list[Any]:
    found: list[Any] = []
    for said in SAID.values():
        given, made, cached, thought = said.counts
        usage = {
            "prompt_tokens": given,
            "completion_tokens": made,
            "total_tokens": given + made,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }
        calls = [(call, CALLS[call][0], json.dumps(CALLS[call][1])) for call in said.calls]
        texts = (said.text,) if said.text else ()
        found.append(
            provider_answers.chat(*texts, calls=calls, usage=usage, reasoning=said.reasoning, model="toy-1")
        )
    return [*found, error(429, {"error": {"message": ERROR}})]


def play(directory: Path, kind: ModelKind, *, dialect: str, config: str, files: Mapping[str, str]) -> Played:
    """Play the session; `files` hold the hooks."""
    return asyncio.run(_play(directory, kind, dialect=dialect, config=config, files=files))


async def _play(
    directory: Path, kind: ModelKind, *, dialect: str, config: str, files: Mapping[str, str]
) -> Played:
    if kind == "scripted":
        return await _session(directory, kind, None, dialect=dialect, config=config, files=files)
    async with Loopback(*_replies()) as server:
        port = RequestLog(port_to(CHAT, server))
        try:
            return await _session(directory, kind, port, dialect=dialect, config=config, files=files)
        finally:
            await port.close()


class _User:
    """Allows one file and refuses the other, in whichever order the questions come."""

    async def ask(self, question: PermissionPrompt) -> PermissionReply:
        allowed = str(question.tool_input.get("file_path", "")).endswith("made.txt")
        return (
            PermissionReply(allow=True)
            if allowed
            else PermissionReply(allow=False, message=REFUSAL, go_on=True)
        )


async def _session(directory: Path, kind: ModelKind, port: RequestLog | None, **session: Any) -> Played:
    script = _script() if kind == "scripted" else []
    scripted = DialectSession(directory, script, allow=("Bash", "Agent"), asker=_User(), **session)
    if port is not None:
        scripted.model = cast("Any", port)
        # The last answer is an error that passes: hooks hear of it when there are no more retries.
        settings = scripted.home / ".config" / "hookline" / "settings.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("[agent]\nmax_retries = 0\n")
    async with scripted:
        assert scripted.diagnostics == (), scripted.diagnostics
        agent = scripted.agent
        await scripted.play(FIRST)
        await scripted.play("/mode plan")
        await scripted.play(SECOND)
        await scripted.play("/compact")
        await scripted.play(THIRD)
        session_id, transcript = agent.hooks.info.session_id, agent.conversation.records.path
        await scripted.ready.end()
        assert scripted.engine is not None
        assert await scripted.engine.drain(60)
    return Played(
        kind=kind,
        project=scripted.project,
        session_id=session_id,
        transcript=transcript,
        dumps=_dumps(directory / "dumps"),
        fired=tuple(scripted.log.fired),
        requests=tuple(scripted.model.requests),
    )


def _dumps(directory: Path) -> list[Dump]:
    found: list[Dump] = []
    for file in sorted(directory.glob("*.dump"), key=lambda each: each.stat().st_mtime_ns):
        stdin, _, env = file.read_bytes().partition(b"\0")
        pairs = (line.partition("=") for line in env.decode("utf-8", "replace").split("\0") if line)
        found.append(Dump(file.name.partition(".")[0], stdin, {name: value for name, _, value in pairs}))
    return found
