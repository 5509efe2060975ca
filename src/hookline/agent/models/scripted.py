"""Play a script as a model, for tests, demos and dry runs without a provider."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.agent.models.port import (
    CompletionRequest,
    CompletionResponse,
    ModelError,
    Piece,
    Remedy,
    TextPiece,
    ThoughtPiece,
)
from hookline.documents.document import format_of, read_document
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.errors import ConfigError
from hookline.model.events import ERROR_TYPES
from hookline.model.messages import ToolUse, Usage


class ScriptedToolUse(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    #: Text for arguments that are not a JSON object, as models sometimes send.
    input: Mapping[str, Any] | str = {}
    id: str = ""


class Scripted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One response of the script; or an error, after as much text as it has."""

    text: str = ""
    tool_calls: tuple[ScriptedToolUse, ...] = ()
    reasoning: str | None = None
    error: str | None = None
    message: str = ""
    #: Of an error: what may help, and the seconds that the provider asks to wait.
    remedy: Remedy = ""
    retry_after: float | None = None
    usage: Usage | None = None
    #: Seconds before it answers.
    delay: float = 0.0
    #: Seconds after each line, so that it streams.
    pause: float = 0.0
    #: Only for a subagent of this type: for subagents that run in parallel.
    agent: str | None = None


class ScriptedModel:
    """A model that plays its responses in order. When none is left, it raises ModelError."""

    def __init__(self, script: Sequence[Scripted], name: str = "the script") -> None:
        self._script = list(script)
        self._name = name
        self._played = 0
        self._calls = 0
        self.requests: list[CompletionRequest] = []

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        self.requests.append(request)
        entry = self._next(request)
        if entry.delay:
            await asyncio.sleep(entry.delay)
        if entry.error is not None:
            async for piece in _pieces(entry):
                yield piece
            said = entry.message or f"the script says {entry.error}"
            raise ModelError(entry.error, said, entry.remedy, retry_after=entry.retry_after)
        async for piece in _pieces(entry):
            yield piece
        yield CompletionResponse(
            text=entry.text,
            tool_calls=tuple(self._call(each) for each in entry.tool_calls),
            reasoning=entry.reasoning,
            usage=entry.usage or _estimate(request, entry),
        )

    async def close(self) -> None:
        pass

    @property
    def left(self) -> int:
        return len(self._script)

    def _next(self, request: CompletionRequest) -> Scripted:
        for index, entry in enumerate(self._script):
            if entry.agent is None or entry.agent == request.agent_type:
                self._played += 1
                return self._script.pop(index)
        raise ModelError("unknown", f"{self._name} has no response left (all {self._played} were used)")

    def _call(self, call: ScriptedToolUse) -> ToolUse:
        self._calls += 1
        return ToolUse(id=call.id or f"call_{self._calls}", name=call.name, input=call.input)


async def _pieces(entry: Scripted) -> AsyncIterator[Piece]:
    for line in (entry.reasoning or "").splitlines(keepends=True):
        yield ThoughtPiece(line)
        await asyncio.sleep(entry.pause)
    for line in entry.text.splitlines(keepends=True):
        yield TextPiece(line)
        # Other tasks run between two pieces, as they do while a real stream is read.
        await asyncio.sleep(entry.pause)


def _estimate(request: CompletionRequest, entry: Scripted) -> Usage:
    """Estimate the usage by four characters per token: enough to see counters grow and compaction start."""
    said = len(request.system) + sum(len(msgspec.json.encode(each)) for each in request.messages)
    return Usage(input_tokens=said // 4, output_tokens=len(entry.text) // 4 + 8 * len(entry.tool_calls))


def scripted_model(file: str) -> ScriptedModel:
    """Read the script in a YAML or JSON file. Raises ConfigError that names the entry and what is wrong with it."""
    return ScriptedModel(read_script(file), file)


def read_script(file: str) -> list[Scripted]:
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError([_wrong(Where(file), f"the script cannot be read: {problem}")]) from None
    document = read_document(text, format_of(file) or "yaml", file)
    value: Any = document.value
    if value is None:
        raise ConfigError(document.diagnostics)
    if not isinstance(value, list):
        raise ConfigError([_wrong(document.where(), "a script must be a list with one entry per response")])
    entries = cast("list[Any]", value)
    return [_entry(entry, document.where(index)) for index, entry in enumerate(entries)]


def _entry(entry: Any, where: Where) -> Scripted:
    try:
        one = msgspec.convert(entry, Scripted)
    except msgspec.ValidationError as problem:
        raise ConfigError([_wrong(where, str(problem))]) from problem
    if one.error is not None and one.error not in ERROR_TYPES:
        raise ConfigError([_wrong(where, f"unknown error {one.error!r}; there are {', '.join(ERROR_TYPES)}")])
    return one


def _wrong(where: Where, message: str) -> Diagnostic:
    return Diagnostic("error", "bad-script", message, where)
