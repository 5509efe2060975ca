"""Read the sessions that Claude Code stores: one file each in ~/.claude/projects, with a file beside it per
subagent."""

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

import msgspec
from msgspec import Raw, Struct

from hookline.dialects.claude_code.payload import PATH_ARGUMENTS
from hookline.dialects.recorded_event import HookNote, Kind, RecordedEvent, Tally
from hookline.dialects.transcript_reader import Transcripts, lines_of, records, seconds

_NAME: Final = "claude-code"
_STOP_FEEDBACK: Final = "Stop hook feedback"
_INTERRUPTED: Final = "[Request interrupted by user"
#: Prefixes of messages that are not prompts of the user: commands and their output.
_NO_PROMPT: Final = ("<command-", "<local-command-", "<bash-", "<task-notification>", "Caveat:", _INTERRUPTED)
#: Prefix of the result of a call that was refused before any hook ran.
_REFUSED: Final = "<tool_use_error>"
#: Prefixes of a denied result without a recorded decision, as older clients write it.
_DENIED: Final = (
    "The user doesn't want to",
    "Permission to use",
    "PreToolUse:",
    "Hook PreToolUse:",
    "Blocked by hook",
)
_HOOK_STATUS: Final[Mapping[str, Any]] = {
    "hook_success": "ok", "hook_additional_context": "ok", "hook_system_message": "ok",
    "hook_permission_decision": "ok", "hook_blocking_error": "blocked", "hook_stopped_continuation": "blocked",
    "hook_non_blocking_error": "failed", "hook_error_during_execution": "failed", "hook_cancelled": "failed",
}  # fmt: skip


_ABSENT: Final = Raw()


class _Block(Struct):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"{}")
    tool_use_id: str = ""
    content: Raw = Raw(b'""')
    is_error: bool = False


class _Message(Struct):
    id: str = ""
    model: str = ""
    content: str | list[_Block] = ""
    stop_reason: str | None = None


class _Attachment(Struct):
    type: str = ""
    hookEvent: str = ""  # noqa: N815 as it is written
    command: str = ""
    toolUseID: str = ""  # noqa: N815 as above


class _HookInfo(Struct):
    command: str = ""


class _Decision(Struct):
    decision: str = ""


class _Line(Struct, rename="camel"):
    type: str = ""
    subtype: str = ""
    timestamp: str = ""
    session_id: str = ""
    cwd: str = ""
    message: Raw = _ABSENT
    attachment: _Attachment | None = None
    hook_infos: list[_HookInfo] = []
    prevented_continuation: bool = False
    prompt_id: str | None = None
    permission_mode: str | None = None
    effort: str | None = None
    entrypoint: str = ""
    is_meta: bool = False
    is_compact_summary: bool = False
    agent_id: str = ""
    attribution_agent: str | None = None
    tool_use_result: Raw = _ABSENT
    permission_decision: _Decision | None = None
    tool_denial_kind: str = ""


class _Meta(Struct, rename="camel"):
    agent_type: str = ""


class _Call(Struct, eq=False):
    """A call whose result has not been read yet."""

    name: str
    input: Raw
    id: str
    message: str
    at: float
    cwd: str
    shared: Mapping[str, Any]
    result: Raw = _ABSENT


_decode = msgspec.json.Decoder(_Line).decode
_decode_message = msgspec.json.Decoder(_Message).decode
_decode_any = msgspec.json.Decoder().decode


class ClaudeTranscripts(Transcripts):
    def directories(self, env: Mapping[str, str]) -> list[str]:
        own, home = env.get("CLAUDE_CONFIG_DIR", ""), env.get("HOME", "")
        bases = [own] if os.path.isabs(own) else []
        bases += [os.path.join(home, ".claude")] if os.path.isabs(home) else []
        return list(dict.fromkeys(os.path.join(base, "projects") for base in bases))

    def recognises(self, first: Mapping[str, Any]) -> bool:
        return isinstance(first.get("sessionId"), str) and isinstance(first.get("type"), str)

    def read(self, path: str, tally: Tally) -> Iterator[RecordedEvent | HookNote]:
        return _Session(path, tally).read()


class _Session:
    """One file: the main session, or a subagent."""

    def __init__(self, path: str, tally: Tally) -> None:
        self._path = path
        self._tally = tally
        directory, name = os.path.split(path)
        self._subagent = (
            name.removeprefix("agent-").removesuffix(".jsonl") if name.startswith("agent-") else ""
        )
        # Those of a workflow are deeper: SESSION/subagents/workflows/RUN/agent-ID.jsonl.
        session, below, _ = directory.rpartition(f"{os.sep}subagents") if self._subagent else ("", "", "")
        session = session if below and f"{directory}/".startswith(f"{session}/subagents/") else ""
        self._main = f"{session}.jsonl" if session else path
        self._agent_type = _agent_type(path) if self._subagent else ""
        self._at = 0.0
        self._session = os.path.basename(session) if session else name.removesuffix(".jsonl")
        self._cwd = self._began_in = ""
        self._model = self._mode = ""
        self._headless: bool | None = None
        self._prompt_id: str | None = None
        self._effort: str | None = None
        self._begun = False
        self._text = ""
        #: The turn is over, unless the next record belongs to the same answer.
        self._ending = False
        self._continued = False
        self._calls: dict[str, _Call] = {}
        self._batch: list[_Call] = []
        self._ids: set[str] = set()
        self._of_start: Mapping[str, Any] = {}
        self._of_turn: Mapping[str, Any] = {}
        self._stale = True

    def read(self) -> Iterator[RecordedEvent | HookNote]:
        for line in records(self._path, self._tally, _decode):
            yield from self._line(line)
        yield from self._end()

    def _line(self, line: _Line) -> Iterator[RecordedEvent | HookNote]:
        if line.timestamp:
            self._at = seconds(line.timestamp, self._at, self._tally)
        if line.type in ("assistant", "user"):
            yield from self._said(line)
        elif line.type == "attachment" and line.attachment is not None:
            yield from self._attached(line.attachment)
        elif line.type == "system" and line.subtype == "stop_hook_summary":
            yield from self._turn_end()
            yield from self._stop_hooks(line)
        elif not line.type:
            self._tally.unknown += 1

    def _said(self, line: _Line) -> Iterator[RecordedEvent | HookNote]:
        try:
            message = _decode_message(line.message)
        except msgspec.DecodeError:
            self._tally.unknown += 1
            return
        if line.type == "user":
            yield from self._turn_end()
        self._note(line)
        yield from self._begin()
        yield from self._user(line, message) if line.type == "user" else self._answer(message)

    def _note(self, line: _Line) -> None:
        """Read the session's facts from the record."""
        if line.cwd:
            self._cwd = line.cwd
            self._began_in = self._began_in or line.cwd
        if line.session_id and not self._subagent:
            self._session = line.session_id
        if line.entrypoint and self._headless is None:
            self._headless = line.entrypoint.startswith("sdk")
        if line.permission_mode and line.permission_mode != self._mode:
            self._mode, self._stale = line.permission_mode, True
        if line.prompt_id and line.prompt_id != self._prompt_id:
            self._prompt_id, self._stale = line.prompt_id, True
        if line.type == "assistant" and line.effort != self._effort:
            self._effort, self._stale = line.effort, True
        if line.agent_id and not self._subagent:
            self._subagent, self._agent_type, self._stale = line.agent_id, line.attribution_agent or "", True

    def _shared(self) -> Mapping[str, Any]:
        """Return the facts that payloads of a turn share."""
        if self._stale:
            self._stale = False
            self._of_start = {"session_id": self._session, "transcript_path": self._main}
            document: dict[str, Any] = dict(self._of_start)
            if self._prompt_id:
                document["prompt_id"] = self._prompt_id
            document["permission_mode"] = self._mode or "default"
            if self._subagent:
                document |= {"agent_id": self._subagent, "agent_type": self._agent_type}
            if self._effort:
                document["effort"] = {"level": self._effort}
            self._of_turn = document
        return self._of_turn

    def _recorded(
        self, kind: Kind, event: str, fields: Mapping[str, Any], *without: str, **more: Any
    ) -> RecordedEvent:
        self._tally.recorded_events += 1
        shared = more.pop("shared", None) or self._shared()
        if without:
            shared = {name: value for name, value in shared.items() if name not in without}
        return RecordedEvent(
            kind=kind, agent=_NAME, session=self._session, at=more.pop("at", self._at),
            cwd=more.pop("cwd", self._cwd), began_in=self._began_in, event=event, shared=shared, fields=fields,
            model=self._model, mode=self._mode, subagent=self._subagent, headless=self._headless, **more,
        )  # fmt: skip

    def _begin(self) -> Iterator[RecordedEvent]:
        if self._begun:
            return
        self._begun = True
        if not self._subagent:
            yield self._recorded(
                "start", "SessionStart", {"source": "startup"}, "prompt_id", "permission_mode", "effort"
            )
        else:
            yield self._recorded("subagent_start", "SubagentStart", {}, "permission_mode", "effort")

    # Messages of the user, and results of tools

    def _user(self, line: _Line, message: _Message) -> Iterator[RecordedEvent]:
        content = message.content
        results = [] if isinstance(content, str) else [each for each in content if each.type == "tool_result"]
        for block in results:
            yield from self._result(block, line)
        if results:
            yield from self._batch_end()
            return
        text = content if isinstance(content, str) else "\n".join(each.text for each in content if each.text)
        if text.startswith(_STOP_FEEDBACK):
            self._continued = True
        no_prompt = line.is_meta or line.is_compact_summary or self._subagent or text.startswith(_NO_PROMPT)
        if not no_prompt and text:
            self._continued = False
            yield self._recorded("prompt", "UserPromptSubmit", {"prompt": text}, "effort")

    def _result(self, block: _Block, line: _Line) -> Iterator[RecordedEvent]:
        call = self._calls.pop(block.tool_use_id, None)
        if call is None:
            return
        call.result = block.content
        said = _said(block.content) if block.is_error else None
        text = said if isinstance(said, str) else ""
        refused = block.is_error and text.startswith(_REFUSED)
        yield self._called(call, certain=not refused)
        decision = line.permission_decision.decision if line.permission_decision is not None else ""
        fields = {"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id}
        about: dict[str, Any] = {"tool": call.name, "input": bytes(call.input), "call_id": call.id}
        if not block.is_error:
            # For a subagent's calls only the text for its model is stored.
            structured = line.tool_use_result
            fields["tool_response"] = block.content if structured is _ABSENT else structured
            yield self._recorded("result", "PostToolUse", fields, **about)
        elif decision == "reject" or line.tool_denial_kind or (not decision and text.startswith(_DENIED)):
            yield self._recorded("denial", "", fields, **about)
        elif not refused:
            more = {"error": text, "is_interrupt": False}
            yield self._recorded("failure", "PostToolUseFailure", {**fields, **more}, **about)

    def _called(self, call: _Call, *, certain: bool) -> RecordedEvent:
        fields = {"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id}
        return self._recorded(
            "call", "PreToolUse", fields, shared=call.shared, at=call.at, cwd=call.cwd, tool=call.name,
            input=bytes(call.input), call_id=call.id, certain=certain,
        )  # fmt: skip

    def _batch_end(self) -> Iterator[RecordedEvent]:
        """Yield the end of a batch: all calls of one answer are done."""
        if not self._batch or any(call.id in self._calls for call in self._batch):
            return
        calls, self._batch = self._batch, []
        yield self._recorded("batch", "PostToolBatch", {"tool_calls": partial(_batch_document, calls)})

    # Messages of the model

    def _answer(self, message: _Message) -> Iterator[RecordedEvent]:
        self._model = message.model or self._model
        blocks = [] if isinstance(message.content, str) else message.content
        if isinstance(message.content, str) and message.content:
            self._text = message.content
        if blocks and self._batch and self._batch[0].message != message.id:
            self._batch = []  # a call without a result: the session was interrupted
        for block in blocks:
            if block.type == "text":
                self._text = block.text
            elif block.type == "tool_use":
                yield from self._call(block, message)
        self._ending = message.stop_reason in ("end_turn", "stop_sequence")

    def _call(self, block: _Block, message: _Message) -> Iterator[RecordedEvent]:
        if block.id in self._ids:
            self._tally.duplicates += 1
            return
        self._ids.add(block.id)
        given = _with_whole_path(block, self._cwd)
        call = _Call(block.name, given, block.id, message.id, self._at, self._cwd, self._shared())
        self._calls[block.id] = call
        self._batch.append(call)
        yield from ()

    def _turn_end(self) -> Iterator[RecordedEvent]:
        if not self._ending:
            return
        self._ending = False
        said: dict[str, Any] = {"stop_hook_active": self._continued, "last_assistant_message": self._text}
        if self._subagent:
            said["agent_transcript_path"] = self._path
            yield self._recorded("subagent_end", "SubagentStop", said)
        else:
            yield self._recorded("turn_end", "Stop", said)

    def _end(self) -> Iterator[RecordedEvent]:
        for call in self._calls.values():  # the session was killed
            yield self._called(call, certain=False)
        yield from self._turn_end()
        if self._begun and not self._subagent:
            yield self._recorded(
                "end", "SessionEnd", {"reason": "other"}, "permission_mode", "effort", certain=False
            )

    # The client's records about its own hooks

    def _attached(self, attachment: _Attachment) -> Iterator[HookNote]:
        status = _HOOK_STATUS.get(attachment.type)
        if status is not None and attachment.hookEvent:
            yield HookNote(
                agent=_NAME, session=self._session, at=self._at, event=attachment.hookEvent,
                command=attachment.command, call_id=attachment.toolUseID, status=status,
            )  # fmt: skip

    def _stop_hooks(self, line: _Line) -> Iterator[HookNote]:
        status = "blocked" if line.prevented_continuation else "ok"
        for each in line.hook_infos:
            yield HookNote(
                agent=_NAME,
                session=self._session,
                at=self._at,
                event="Stop",
                command=each.command,
                status=status,
            )


def _batch_document(calls: Sequence[_Call]) -> list[dict[str, Any]]:
    return [
        {
            "tool_name": call.name, "tool_input": _decode_any(call.input), "tool_use_id": call.id,
            "tool_response": _said(call.result),
        }
        for call in calls
    ]  # fmt: skip


def _said(content: Raw) -> Any:
    try:
        return _decode_any(content)
    except (msgspec.DecodeError, RecursionError):
        return ""


def _with_whole_path(block: _Block, cwd: str) -> Raw:
    """Make the path of a file absolute, as hooks get it, also where the model wrote a relative one."""
    argument = PATH_ARGUMENTS.get(block.name)
    if argument is None:
        return block.input.copy()
    given: Any = _decode_any(block.input)
    if not isinstance(given, dict):
        return block.input.copy()
    arguments = cast("dict[str, Any]", given)
    path = arguments.get(argument)
    if not isinstance(path, str) or not path or path.startswith(("/", "~")) or not cwd.startswith("/"):
        return block.input.copy()
    whole = posixpath.normpath(posixpath.join(cwd, path))
    return Raw(msgspec.json.encode({**arguments, argument: whole}))


def _agent_type(path: str) -> str:
    """Return the kind of a subagent, from a small file beside its transcript."""
    meta = path.removesuffix(".jsonl") + ".meta.json"
    raw = next(lines_of(meta, Tally()), b"")
    try:
        return msgspec.json.decode(raw, type=_Meta).agent_type
    except msgspec.DecodeError:
        return ""
