"""Read the sessions that `hookline agent` stores: a file each in the user's state directory, and one per
subagent."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from hookline.dialects.recorded_event import HookNote, Kind, RecordedEvent, Tally
from hookline.dialects.transcript_reader import Transcripts, records
from hookline.journal.file import state_dir

_NAME: Final = "native"
_JUMP: Final = 60.0


class _ToolUse(Struct):
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"{}")


class _Message(Struct):
    role: str = ""
    text: str = ""
    by: str = ""
    tool_calls: list[_ToolUse] = []
    tool_use_id: str = ""
    is_error: bool = False


class _Line(Struct):
    type: str = ""
    at: float = 0.0
    # session
    id: str = ""
    cwd: str = ""
    model: str | None = None
    started: float = 0.0
    parent: str | None = None
    # message
    message: _Message | None = None
    # grants
    mode: str | None = None


class _Call(Struct, eq=False):
    name: str
    input: bytes
    id: str
    at: float
    cwd: str


_decode = msgspec.json.Decoder(_Line).decode


class OwnTranscripts(Transcripts):
    caller = "hookline agent"

    def directories(self, env: Mapping[str, str]) -> list[str]:
        return [os.path.join(state_dir(env), "sessions")]

    def recognises(self, first: Mapping[str, Any]) -> bool:
        return first.get("type") == "session" and isinstance(first.get("id"), str) and "cwd" in first

    def read(self, path: str, tally: Tally) -> Iterator[RecordedEvent | HookNote]:
        return _Session(path, tally).read()


class _Session:
    """One file: the main session, or a subagent."""

    def __init__(self, path: str, tally: Tally) -> None:
        self._path = path
        self._tally = tally
        self._session = self._subagent = ""
        self._cwd = self._began_in = self._model = ""
        self._mode = "default"
        self._at = 0.0
        self._begun = False
        self._turn = 0
        self._text = ""
        self._calls: dict[str, _Call] = {}
        self._ids: set[str] = set()

    def read(self) -> Iterator[RecordedEvent | HookNote]:
        for line in records(self._path, self._tally, _decode):
            self._tick(line.at or line.started)
            yield from self._line(line)
        yield from self._end()

    def _line(self, line: _Line) -> Iterator[RecordedEvent]:
        if line.type == "session":
            yield from self._facts(line)
        elif line.type == "message" and line.message is not None:
            yield from self._message(line.message)
        elif line.type == "turn":
            yield from self._turn_end()
        elif line.type == "grants":
            self._mode = line.mode or self._mode
        elif line.type not in ("compaction", "clear", "note"):
            self._tally.unknown += 1

    def _tick(self, at: float) -> None:
        if at:
            self._tally.clock_jumps += at < self._at - _JUMP
            self._at = at

    def _facts(self, line: _Line) -> Iterator[RecordedEvent]:
        """Read the first line; a later one records a change of the model or the directory."""
        self._cwd = line.cwd or self._cwd
        self._model = line.model or self._model
        if self._begun:
            return
        self._begun, self._began_in = True, self._cwd
        self._session = line.id
        if os.path.basename(os.path.dirname(self._path)) == "subagents" and line.parent:
            self._session, self._subagent = line.parent, line.id
            said = {"agent_id": self._subagent, "agent_type": "general"}
            yield self._recorded("subagent_start", "SubagentStart", said)
        else:
            yield self._recorded("start", "SessionStart", {"source": "startup", "model": self._model or None})

    def _recorded(self, kind: Kind, event: str, fields: Mapping[str, Any], **more: Any) -> RecordedEvent:
        self._tally.recorded_events += 1
        shared: dict[str, Any] = {
            "session_id": self._session, "transcript_path": self._path, "permission_mode": self._mode,
        }  # fmt: skip
        if self._model:
            shared["model"] = self._model
        if self._subagent:
            shared["agent_id"] = self._subagent
        return RecordedEvent(
            kind=kind, agent=_NAME, session=self._session, at=more.pop("at", self._at), cwd=more.pop("cwd", self._cwd),
            began_in=self._began_in, event=event, shared=shared, fields=fields, model=self._model, mode=self._mode,
            subagent=self._subagent, **more,
        )  # fmt: skip

    def _message(self, message: _Message) -> Iterator[RecordedEvent]:
        if message.role == "user" and not message.by and not self._subagent:
            self._turn += 1
            yield self._recorded("prompt", "UserPromptSubmit", {"prompt": message.text})
        elif message.role == "assistant":
            self._text = message.text or self._text
            for use in message.tool_calls:
                self._call(use)
        elif message.role == "tool":
            yield from self._result(message)

    def _call(self, use: _ToolUse) -> None:
        given = bytes(use.input)
        if use.id in self._ids:
            self._tally.duplicates += 1
        # Else its arguments are not an object, and it is refused before any hook.
        elif given.startswith(b"{"):
            self._ids.add(use.id)
            self._calls[use.id] = _Call(use.name, given, use.id, self._at, self._cwd)

    def _result(self, message: _Message) -> Iterator[RecordedEvent]:
        call = self._calls.pop(message.tool_use_id, None)
        if call is None:
            return
        # The reason why a call has no result is only in the words of the result, so it may have been refused
        # before any hook.
        yield self._called(call, certain=not message.is_error)
        fields = {"tool_name": call.name, "tool_input": Raw(call.input), "tool_use_id": call.id}
        about: dict[str, Any] = {"tool": call.name, "input": call.input, "call_id": call.id}
        if message.is_error:
            more = {"error": message.text}
            yield self._recorded("failure", "PostToolUseFailure", {**fields, **more}, **about, certain=False)
        else:
            yield self._recorded("result", "PostToolUse", {**fields, "tool_response": message.text}, **about)

    def _called(self, call: _Call, *, certain: bool) -> RecordedEvent:
        fields = {"tool_name": call.name, "tool_input": Raw(call.input), "tool_use_id": call.id}
        return self._recorded(
            "call", "PreToolUse", fields, at=call.at, cwd=call.cwd, tool=call.name, input=call.input,
            call_id=call.id, certain=certain,
        )  # fmt: skip

    def _turn_end(self) -> Iterator[RecordedEvent]:
        said: dict[str, Any] = {"last_assistant_message": self._text}
        if self._subagent:
            yield self._recorded("subagent_end", "SubagentStop", {**said, "agent_id": self._subagent})
        else:
            yield self._recorded("turn_end", "Stop", {**said, "turn": self._turn})

    def _end(self) -> Iterator[RecordedEvent]:
        for call in self._calls.values():
            yield self._called(call, certain=False)
        if self._begun and not self._subagent:
            yield self._recorded("end", "SessionEnd", {"reason": "other"}, certain=False)
