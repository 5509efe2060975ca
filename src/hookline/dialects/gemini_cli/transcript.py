"""Read the sessions that Gemini CLI stores: ~/.gemini/tmp/PROJECT/chats. Records repeat under one id, and
`$set` patches.

Until 0.38 it kept a chat as one document with the same records in `messages`, each of them once, in a
directory that is named by a hash of the working directory. Since 0.39 it writes lines; a chat that is resumed
is copied into a file of lines.
"""

import os
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from hookline.dialects.recorded_event import HookNote, Kind, RecordedEvent, Tally
from hookline.dialects.transcript_reader import Transcripts, list_in_document, records, seconds

_NAME: Final = "gemini-cli"
#: Marks messages that the client writes on its own.
_CONTEXT: Final = "<session_context>"
#: Final statuses of a call.
_DONE: Final = frozenset(("success", "error", "cancelled"))
_NOT_FOUND: Final = "not found"
_CHATS: Final = "chats"
_DOCUMENT: Final = ".json"


_ABSENT: Final = Raw()


class _Part(Struct):
    text: str = ""
    functionResponse: Raw = _ABSENT  # noqa: N815 as it is written


class _Call(Struct, rename="camel"):
    id: str = ""
    name: str = ""
    args: Raw = Raw(b"{}")
    result: Raw = Raw(b"[]")
    status: str = ""
    timestamp: str = ""
    agent_id: str | None = None
    result_display: Raw = Raw(b'""')


class _Message(Struct):
    id: str = ""


class _Patch(Struct):
    messages: list[_Message] = []


class _Line(
    Struct,
    rename={
        "session_id": "sessionId", "start_time": "startTime", "tool_calls": "toolCalls", "patch": "$set",
        "rewind": "$rewindTo",
    },
):  # fmt: skip
    session_id: str = ""
    start_time: str = ""
    kind: str = ""
    directories: list[str] = []
    id: str = ""
    timestamp: str = ""
    type: str = ""
    content: str | _Part | list[_Part | str] = ""
    model: str = ""
    tool_calls: list[_Call] = []
    patch: _Patch | None = None
    rewind: str = ""


class _Response(Struct, frozen=True):
    response: dict[str, Any] = {}


class _Result(Struct):
    functionResponse: _Response = _Response()  # noqa: N815 as it is written


_decode = msgspec.json.Decoder(_Line).decode
_decode_any = msgspec.json.Decoder().decode
_decode_results = msgspec.json.Decoder(list[_Result]).decode


class GeminiTranscripts(Transcripts):
    def directories(self, env: Mapping[str, str]) -> list[str]:
        bases = [env.get("GEMINI_CLI_HOME", ""), env.get("HOME", "")]
        return list(
            dict.fromkeys(os.path.join(base, ".gemini", "tmp") for base in bases if os.path.isabs(base))
        )

    def owns(self, path: str) -> bool:
        return super().owns(path) and f"{os.sep}{_CHATS}{os.sep}" in path

    def is_document(self, path: str) -> bool:
        directory, name = os.path.split(path)
        if not (
            os.path.basename(directory) == _CHATS and name.startswith("session-") and name.endswith(_DOCUMENT)
        ):
            return False
        return not os.path.exists(f"{path}l")  # else it was resumed: all of it is in that file, too

    def recognises(self, first: Mapping[str, Any]) -> bool:
        return isinstance(first.get("sessionId"), str) and "projectHash" in first

    def read(self, path: str, tally: Tally) -> Iterator[RecordedEvent | HookNote]:
        return _Chat(path, tally).read()


class _Chat:
    """One file: the main chat, or that of a subagent."""

    def __init__(self, path: str, tally: Tally) -> None:
        self._path = path
        self._tally = tally
        self._main, self._session, self._subagent = path, "", ""
        self._at = 0.0
        self._cwd = _directory_of(path)
        self._model = ""
        self._begun = False
        self._prompt: str | None = None
        self._texts: dict[str, str] = {}
        self._seen: set[str] = set()
        self._unfinished: dict[str, _Call] = {}
        self._shared: Mapping[str, Any] = {}

    def read(self) -> Iterator[RecordedEvent | HookNote]:
        split = partial(list_in_document, key="messages") if self._path.endswith(_DOCUMENT) else None
        for line in records(self._path, self._tally, _decode, split):
            if line.timestamp or line.start_time:
                self._at = seconds(line.timestamp or line.start_time, self._at, self._tally)
            if line.patch is not None:
                self._seen.update(each.id for each in line.patch.messages)
            elif line.session_id and line.start_time:
                yield from self._header(line)
            elif line.type == "user":
                yield from self._user(line)
            elif line.type == "gemini":
                yield from self._answer(line)
            elif not line.type and not line.rewind:
                self._tally.unknown += 1
        yield from self._end()

    def _header(self, line: _Line) -> Iterator[RecordedEvent]:
        if self._begun:
            yield from self._end()
        self._session = line.session_id
        self._cwd = self._cwd or next(iter(line.directories), "")
        resumed, self._begun = self._begun, True
        if line.kind == "subagent":
            # Its hooks get the session that it works for, and nothing of the subagent.
            self._subagent = line.session_id
            directory = os.path.dirname(self._path)
            if (
                os.path.basename(directory) != _CHATS
            ):  # its former directory, before 0.39, names no such session
                self._session = os.path.basename(directory)
                self._main = _main_chat(directory) or self._path
        self._shared = {"session_id": self._session, "transcript_path": self._main}
        if not self._subagent:
            yield self._recorded("start", "SessionStart", {"source": "resume" if resumed else "startup"})

    def _recorded(self, kind: Kind, event: str, fields: Mapping[str, Any], **more: Any) -> RecordedEvent:
        self._tally.recorded_events += 1
        return RecordedEvent(
            kind=kind, agent=_NAME, session=self._session, at=more.pop("at", self._at), cwd=self._cwd,
            began_in=self._cwd, event=event, shared=self._shared, fields=fields, model=self._model,
            subagent=self._subagent, **more,
        )  # fmt: skip

    def _user(self, line: _Line) -> Iterator[RecordedEvent]:
        parts = _parts(line.content)
        if line.id in self._seen or any(each.functionResponse is not _ABSENT for each in parts):
            return
        self._seen.add(line.id)
        text = "\n".join(each.text for each in parts)
        if not text or text.startswith(_CONTEXT) or self._subagent:
            return
        yield from self._turn_end()
        self._prompt = text
        yield self._recorded("prompt", "BeforeAgent", {"prompt": text})

    def _answer(self, line: _Line) -> Iterator[RecordedEvent]:
        if line.id in self._seen:
            return
        self._model = line.model or self._model
        if text := "".join(each.text for each in _parts(line.content)):
            self._texts[line.id] = text
        for call in line.tool_calls:
            if call.status not in _DONE:
                self._unfinished[call.id] = call
            elif call.id not in self._seen:
                self._seen.add(call.id)
                self._unfinished.pop(call.id, None)
                yield from self._call(call)

    def _call(self, call: _Call, *, certain: bool = True) -> Iterator[RecordedEvent]:
        given = bytes(call.args)
        fields: dict[str, Any] = {"tool_name": call.name, "tool_input": Raw(given)}
        about: dict[str, Any] = {"tool": call.name, "input": given, "call_id": call.id}
        said, failed = _said(call)
        if call.status == "error" and _NOT_FOUND in said:
            yield self._recorded("denial", "", fields, **about, certain=False)
            return
        at = seconds(call.timestamp, self._at, Tally())
        yield self._recorded(
            "call", "BeforeTool", fields, **about, certain=certain and call.status != "error"
        )
        if call.status == "cancelled":
            yield self._recorded("denial", "", fields, **about, at=at)
        elif certain:
            content: Any = [{"text": said}] if call.name.startswith("mcp_") or call.agent_id else said
            response: dict[str, Any] = {
                "llmContent": content,
                "returnDisplay": _decode_any(call.result_display),
            }
            if failed:
                response["error"] = {"message": said}
            kind: Kind = "failure" if failed else "result"
            yield self._recorded(kind, "AfterTool", {**fields, "tool_response": response}, **about, at=at)

    def _turn_end(self) -> Iterator[RecordedEvent]:
        if self._prompt is None:
            return
        said = {
            "prompt": self._prompt,
            "prompt_response": "\n".join(self._texts.values()),
            "stop_hook_active": False,
        }
        self._prompt, self._texts = None, {}
        yield self._recorded("turn_end", "AfterAgent", said)

    def _end(self) -> Iterator[RecordedEvent]:
        for call in self._unfinished.values():
            yield from self._call(call, certain=False)
        self._unfinished = {}
        yield from self._turn_end()
        if self._begun and not self._subagent:
            yield self._recorded("end", "SessionEnd", {"reason": "exit"}, certain=False)


def _parts(content: str | _Part | list[_Part | str]) -> list[_Part]:
    """Split content: a text, a part, or several of both."""
    several = content if isinstance(content, list) else [content]
    return [_Part(text=each) if isinstance(each, str) else each for each in several]


def _said(call: _Call) -> tuple[str, bool]:
    """Return the text for the model, and True if that is an error."""
    try:
        results = _decode_results(call.result)
    except msgspec.DecodeError:
        return "", False
    response = results[0].functionResponse.response if results else {}
    text = response.get("error", response.get("output", ""))
    return text if isinstance(text, str) else "", "error" in response


def _directory_of(path: str) -> str:
    """Return the directory of a chat: only lists beside all of them have it, by the name of its directory or
    by its hash."""
    home, found, rest = path.rpartition(f"{os.sep}tmp{os.sep}")
    if not found:
        return ""
    name = rest.split(os.sep)[0]
    known = _listed(os.path.join(home, "projects.json"), "projects")
    places = (*known, *_listed(os.path.join(home, "trustedFolders.json")))
    by_name = (place for place in known if known[place] == name)
    by_hash = (place for place in places if sha256(os.fsencode(place)).hexdigest() == name)
    return next(by_name, "") or next(by_hash, "")


def _listed(path: str, key: str = "") -> Mapping[str, Any]:
    try:
        with open(path, "rb") as file:
            whole: Any = _decode_any(file.read(16 * 1024 * 1024))
        return dict(whole.get(key, {}) if key else whole)
    except (OSError, msgspec.DecodeError, AttributeError, TypeError, ValueError):
        return {}


def _main_chat(directory: str) -> str:
    """Return the chat that a subagent's belongs to: its name ends with the beginning of the session's id."""
    chats, session = os.path.split(directory)
    try:
        names = sorted(name for name in os.listdir(chats) if name.endswith(f"-{session[:8]}.jsonl"))
    except OSError:
        return ""
    return os.path.join(chats, names[0]) if names else ""
