"""Read the sessions that Codex stores: a rollout file per thread below ~/.codex/sessions, and one per
subagent."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Raw, Struct

from hookline.dialects.codex.wire import ASKS_NOTHING
from hookline.dialects.recorded_event import HookNote, Kind, RecordedEvent, Tally
from hookline.dialects.transcript_reader import Transcripts, records, seconds

_NAME: Final = "codex"
_BLOCKED: Final = "Command blocked by PreToolUse hook:"
#: Tools of the model that run a line of a shell. Hooks see each of them as Bash, whatever it is called.
_SHELLS: Final = frozenset(("exec_command", "shell", "shell_command", "local_shell", "container.exec"))
_HOOK_PROMPT: Final = "<hook_prompt"


class _Text(Struct):
    text: str = ""


class _Item(Struct):
    type: str = ""
    id: str = ""
    content: list[_Text] = []
    cwd: str = ""
    aggregated_output: str | None = None


class _Payload(Struct):
    type: str = ""
    # session_meta
    id: str = ""
    session_id: str = ""
    parent_thread_id: str | None = None
    cwd: str = ""
    source: Raw = Raw(b'""')
    thread_source: str | None = None
    # turn_context
    turn_id: str | None = None
    approval_policy: Raw = Raw(b'""')
    model: str | None = None
    # response_item
    name: str = ""
    namespace: str | None = None
    arguments: str = ""
    input: Raw = Raw(b'""')
    call_id: str = ""
    output: Raw = Raw(b'""')
    role: str = ""
    content: Raw = Raw(b"[]")
    # event_msg
    item: _Item | None = None
    message: Raw = Raw(b'""')
    last_agent_message: str | None = None


class _Line(Struct):
    timestamp: str = ""
    type: str = ""
    payload: _Payload | None = None


class _Call(Struct, eq=False):
    name: str
    input: bytes
    id: str
    at: float
    cwd: str
    shared: Mapping[str, Any]


_decode = msgspec.json.Decoder(_Line).decode
_decode_any = msgspec.json.Decoder().decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
_decode_texts = msgspec.json.Decoder(list[_Text]).decode


class CodexTranscripts(Transcripts):
    def directories(self, env: Mapping[str, str]) -> list[str]:
        own, home = env.get("CODEX_HOME", ""), env.get("HOME", "")
        bases = [own] if os.path.isabs(own) else []
        bases += [os.path.join(home, ".codex")] if os.path.isabs(home) else []
        return list(dict.fromkeys(os.path.join(base, "sessions") for base in bases))

    def recognises(self, first: Mapping[str, Any]) -> bool:
        return first.get("type") == "session_meta" and isinstance(first.get("payload"), Mapping)

    def read(self, path: str, tally: Tally) -> Iterator[RecordedEvent | HookNote]:
        return _Thread(path, tally).read()


class _Thread:
    """One file: the main thread, or that of a subagent."""

    def __init__(self, path: str, tally: Tally) -> None:
        self._path = path
        self._tally = tally
        self._session = self._subagent = self._parent = self._agent_type = ""
        self._headless: bool | None = None
        self._at = 0.0
        self._cwd = self._began_in = self._model = ""
        self._mode = "default"
        self._turn: str | None = None
        self._text = ""
        self._announced: str | None = "startup"
        self._in_turn = self._continued = False
        self._calls: dict[str, _Call] = {}
        self._outputs: dict[str, str] = {}
        self._ids: set[str] = set()
        self._of_turn: Mapping[str, Any] = {}

    def read(self) -> Iterator[RecordedEvent | HookNote]:
        for line in records(self._path, self._tally, _decode):
            if line.timestamp:
                self._at = seconds(line.timestamp, self._at, self._tally)
            if line.payload is None or not line.type:
                self._tally.unknown += 1
            elif line.type == "session_meta" and line.payload.thread_source == "guardian_review":
                return  # Codex judges a call without hooks
            else:
                yield from self._record(line.type, line.payload)
        yield from self._end()

    def _record(self, kind: str, payload: _Payload) -> Iterator[RecordedEvent | HookNote]:
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            yield from self._context(payload)
        elif kind == "response_item":
            yield from self._response(payload)
        elif kind == "event_msg":
            yield from self._event(payload)

    def _meta(self, meta: _Payload) -> None:
        if self._session:
            self._announced = "resume"
            return
        self._session = meta.session_id or meta.id
        self._cwd = self._began_in = meta.cwd
        source: Any = _decode_any(meta.source)
        self._headless = source == "exec" if isinstance(source, str) and source else None
        if meta.parent_thread_id:
            self._subagent, self._parent = meta.id, meta.parent_thread_id
            self._session = meta.session_id if meta.session_id != meta.id else meta.parent_thread_id
            self._agent_type = _role(source) or "default"

    def _context(self, context: _Payload) -> Iterator[RecordedEvent]:
        self._turn = context.turn_id or self._turn
        self._cwd = context.cwd or self._cwd
        self._began_in = self._began_in or self._cwd
        self._model = context.model or self._model
        self._mode = ASKS_NOTHING if bytes(context.approval_policy) == b'"never"' else "default"
        self._in_turn = True
        shared: dict[str, Any] = {
            "session_id": self._session,
            "turn_id": self._turn,
            "transcript_path": self._path,
        }
        if self._subagent:
            shared |= {"agent_id": self._subagent, "agent_type": self._agent_type}
        self._of_turn = {**shared, "model": self._model, "permission_mode": self._mode}
        if self._announced is None:
            return
        source, self._announced = self._announced, None
        if self._subagent:
            yield self._recorded("subagent_start", "SubagentStart", {})
        else:
            yield self._recorded("start", "SessionStart", {"source": source}, "turn_id")

    def _recorded(
        self, kind: Kind, event: str, fields: Mapping[str, Any], *without: str, **more: Any
    ) -> RecordedEvent:
        self._tally.recorded_events += 1
        shared = more.pop("shared", None) or self._of_turn
        if without:
            shared = {name: value for name, value in shared.items() if name not in without}
        return RecordedEvent(
            kind=kind, agent=_NAME, session=self._session, at=more.pop("at", self._at), cwd=more.pop("cwd", self._cwd),
            began_in=self._began_in, event=event, shared=shared, fields=fields, model=self._model, mode=self._mode,
            subagent=self._subagent, headless=self._headless, **more,
        )  # fmt: skip

    # Calls and their results

    def _response(self, item: _Payload) -> Iterator[RecordedEvent | HookNote]:
        if item.type in ("function_call", "custom_tool_call", "local_shell_call"):
            self._call(item)
        elif item.type in ("function_call_output", "custom_tool_call_output"):
            yield from self._result(item)
        elif item.type == "message" and item.role == "assistant":
            self._text = "".join(each.text for each in _texts(item.content)) or self._text
        elif item.type == "message" and item.role == "user":
            self._continued |= any(_HOOK_PROMPT in each.text for each in _texts(item.content))

    def _call(self, item: _Payload) -> None:
        if item.call_id in self._ids:
            self._tally.duplicates += 1
            return
        self._ids.add(item.call_id)
        name, given, cwd = _translated(item, self._cwd)
        self._calls[item.call_id] = _Call(
            name, msgspec.json.encode(given), item.call_id, self._at, cwd, self._of_turn
        )

    def _result(self, item: _Payload) -> Iterator[RecordedEvent | HookNote]:
        call = self._calls.pop(item.call_id, None)
        if call is None:
            return
        output: Any = _decode_any(item.output)
        ran = self._outputs.pop(item.call_id, None)
        yield self._called(call, certain=True)
        fields = {"tool_name": call.name, "tool_input": Raw(call.input)}
        about: dict[str, Any] = {
            "tool": call.name, "input": call.input, "call_id": call.id, "shared": call.shared, "cwd": call.cwd,
        }  # fmt: skip
        if isinstance(output, str) and output.startswith(_BLOCKED):
            yield HookNote(
                agent=_NAME,
                session=self._session,
                at=self._at,
                event="PreToolUse",
                call_id=call.id,
                status="blocked",
            )
            yield self._recorded("denial", "", fields, **about)
            return
        fields |= {"tool_response": output if ran is None else ran, "tool_use_id": call.id}
        yield self._recorded("result", "PostToolUse", fields, **about)

    def _called(self, call: _Call, *, certain: bool) -> RecordedEvent:
        fields = {"tool_name": call.name, "tool_input": Raw(call.input), "tool_use_id": call.id}
        return self._recorded(
            "call", "PreToolUse", fields, shared=call.shared, at=call.at, cwd=call.cwd, tool=call.name,
            input=call.input, call_id=call.id, certain=certain,
        )  # fmt: skip

    # Prompts and turns

    def _event(self, event: _Payload) -> Iterator[RecordedEvent]:
        item = event.item
        if event.type == "item_completed" and item is not None:
            if item.type == "UserMessage":
                yield self._prompt("\n".join(each.text for each in item.content))
            elif item.type == "CommandExecution" and item.aggregated_output is not None:
                self._outputs[item.id] = item.aggregated_output
                call = self._calls.get(item.id)
                if call is not None and item.cwd:
                    call.cwd = _path(item.cwd)
        elif event.type == "user_message":
            said: Any = _decode_any(event.message)
            yield self._prompt(said if isinstance(said, str) else "")
        elif event.type == "task_complete":
            self._text = event.last_agent_message or self._text
            yield from self._turn_end()

    def _prompt(self, text: str) -> RecordedEvent:
        self._continued = False
        return self._recorded("prompt", "UserPromptSubmit", {"prompt": text})

    def _turn_end(self) -> Iterator[RecordedEvent]:
        if not self._in_turn:
            return
        self._in_turn = False
        said: dict[str, Any] = {"stop_hook_active": self._continued, "last_assistant_message": self._text}
        if self._subagent:
            shared = {**self._of_turn, "transcript_path": self._parent_path()}
            said["agent_transcript_path"] = self._path
            yield self._recorded("subagent_end", "SubagentStop", said, shared=shared)
        else:
            yield self._recorded("turn_end", "Stop", said)

    def _parent_path(self) -> str:
        directory = os.path.dirname(self._path)
        try:
            names = [name for name in os.listdir(directory) if name.endswith(f"-{self._parent}.jsonl")]
        except OSError:
            names = []
        return os.path.join(directory, names[0]) if names else self._path

    def _end(self) -> Iterator[RecordedEvent]:
        for call in self._calls.values():
            yield self._called(call, certain=False)
        if self._subagent and self._in_turn and self._text:
            yield from self._turn_end()
        elif self._announced is None and not self._subagent:
            yield self._recorded(
                "end", "SessionEnd", {"reason": "other"}, "turn_id", "model", "permission_mode",
                certain=False, cwd=self._began_in,
            )  # fmt: skip


def _translated(item: _Payload, cwd: str) -> tuple[str, Any, str]:
    """Return a call as hooks see it, and the directory in which it runs."""
    if item.type == "custom_tool_call":
        return item.name, {"command": _decode_any(item.input)}, cwd
    given = _arguments(item.arguments)
    if item.namespace and item.namespace.startswith("mcp__"):
        return f"{item.namespace}__{item.name}", given, cwd
    if item.namespace and item.name != "spawn_agent":
        return f"{item.namespace}{item.name}", given, cwd
    if item.name not in _SHELLS:
        return item.name, given, cwd
    line = given.get("cmd", given.get("command", ""))
    workdir = given.get("workdir")
    if isinstance(workdir, str) and workdir:
        cwd = os.path.normpath(os.path.join(cwd, workdir))
    return "Bash", {"command": _shell_line(line)}, cwd


def _arguments(text: str) -> dict[str, Any]:
    try:
        return _decode_object(text) if text else {}
    except (msgspec.DecodeError, RecursionError):
        return {}


def _shell_line(command: Any) -> str:
    """Return the shell line. Older releases have a list of words, most of them a shell and its line."""
    if isinstance(command, list):
        words = [each for each in cast("list[Any]", command) if isinstance(each, str)]
        if len(words) == 3 and words[1] in ("-c", "-lc"):
            return words[2]
        from shlex import join  # noqa: PLC0415 only for older releases

        return join(words)
    return command if isinstance(command, str) else ""


def _role(source: Any) -> str:
    for key in ("subagent", "thread_spawn", "agent_role"):
        source = cast("dict[str, Any]", source).get(key) if isinstance(source, dict) else None
    return source if isinstance(source, str) else ""


def _texts(content: Raw) -> list[_Text]:
    try:
        return _decode_texts(content)
    except msgspec.DecodeError:
        return []


def _path(address: str) -> str:
    return unquote(urlsplit(address).path) if address.startswith("file:") else address
