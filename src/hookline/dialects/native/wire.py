"""Encode the input of native hooks, and decode their answers."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.family.wire import (
    PayloadError,
    ResultReader,
    event_name,
    info_document,
    info_texts,
    payload_of,
    split_async_mark,
    stderr_text,
)
from hookline.dialects.json_text import plain_copy, written
from hookline.dialects.native.events import PLAIN_TEXT_IS_CONTEXT, REWRITTEN_SHAPES
from hookline.documents.document import misshaped
from hookline.model.events import EVENTS, EventSpec
from hookline.model.outcome import PASS, ContextItem, Outcome, Vote, patch_problem
from hookline.model.raw import Exited, Replied
from hookline.model.session_info import INFO_TEXTS, SessionInfo
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

#: The most bytes on a hook's stdin.
STDIN_LIMIT = 8 << 20

#: Payload fields that hooks rely on even when they are at their default.
_ALWAYS = ("tool_input", "stop_hook_active")
_WHEN_SET = ("agent_id", "agent_type", "parent_agent_id", "prompt_id", "model", "turn")


def encode_payload(call: HookInvocation, limit: int = STDIN_LIMIT) -> Encoded:
    name = call.hook.policy.event_name
    try:
        document = payload_document(call.event, name, call.payload, call.info)
        text = written(document)
        if len(text) >= limit:
            from hookline.dialects.truncation import fitted  # noqa: PLC0415 - rare

            text = fitted(text, lambda: plain_copy(document), limit - 1, written)
    except (TypeError, ValueError) as error:
        raise PayloadError(f"the payload cannot be written as JSON: {error}") from None
    if text is None:
        raise PayloadError(f"the payload needs more than {limit:,} bytes, and has no long texts to cut")
    return Encoded(text + b"\n", environment(name, call.info))


def payload_document(event: EventSpec[Any], name: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    """Make the native payload: session and directory first, then the facts of this event."""
    document = info_document(name, info)
    for key in _WHEN_SET:
        value = getattr(info, key)
        if value is not None:
            document[key] = value
    document.update(_fields(event, payload))
    return document


def environment(event_name: str, info: SessionInfo) -> dict[str, str]:
    project = info.project_dir or info.cwd
    return {
        "HOOKLINE_EVENT": event_name,
        "HOOKLINE_SESSION_ID": info.session_id,
        "HOOKLINE_CWD": info.cwd,
        "HOOKLINE_PROJECT_DIR": project,
        # A native file may be one that was written for Claude Code.
        "CLAUDE_PROJECT_DIR": project,
    }


def _fields(event: EventSpec[Any], payload: Any) -> dict[str, Any]:
    if isinstance(payload, Mapping):
        return dict(cast("Mapping[str, Any]", payload))
    if isinstance(payload, Struct):
        return _struct_fields(event, payload)
    import dataclasses  # noqa: PLC0415 - only hosts with rows of their own have such payloads

    if dataclasses.is_dataclass(payload) and not isinstance(payload, type):
        return {each.name: getattr(payload, each.name) for each in dataclasses.fields(payload)}
    raise PayloadError(f"a payload of type {type(payload).__name__} is neither a record nor a mapping")


def _struct_fields(event: EventSpec[Any], payload: Struct) -> dict[str, Any]:
    """Return the fields; one at its default is not sent, unless a matcher, a rewrite or a usual script reads it."""
    fields: dict[str, Any] = plain_copy(payload)
    names = payload.__struct_fields__
    for name in (*_ALWAYS, event.subject, event.rewrites):
        if name in names and name not in fields:
            fields[name] = getattr(payload, name)
    return fields


def parse_payload(document: Mapping[str, Any], events: Mapping[str, EventSpec[Any]]) -> Parsed:
    """Parse a payload. Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    event = events[event_name(document, events)]
    known = info_texts(document, INFO_TEXTS)
    turn = document.get("turn")
    if isinstance(turn, int):
        known["turn"] = turn
    return Parsed(event, payload_of(event, document), SessionInfo(**known))


_BOM = b"\xef\xbb\xbf"


class NativeWire(ResultReader):
    """The native wire. Stateless: one object serves every hook."""

    def __init__(self, events: Mapping[str, EventSpec[Any]] = EVENTS, stdin_limit: int = STDIN_LIMIT) -> None:
        self._events = events
        self._stdin_limit = stdin_limit

    @cached_property
    def _tools(self) -> "ToolTable":
        """The canonical terms, for calls of every agent."""
        from hookline.actions.standard_tools import CANONICAL  # noqa: PLC0415 most calls need no translation

        return CANONICAL

    def encode(self, call: HookInvocation) -> Encoded:
        """Encode a call. Raises `PayloadError` for a payload that has no JSON form."""
        return encode_payload(call, self._stdin_limit)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """Parse a payload document. Raises `ConfigError` or `UnknownEventError` with the error."""
        return parse_payload(document, self._events)

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:  # noqa: ARG002 not needed
        """Write the outcome as the answer of a native hook, and name the parts that this event does not take."""
        from hookline.dialects.native.answers import write_answer  # noqa: PLC0415 only where Hookline is the hook

        return write_answer(self._events[event_name], outcome)

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        if call.hook.output == "ignore":
            return super().exited(call, replace(raw, stdout=b"", truncated=False))
        return super().exited(call, raw)

    def replied(self, call: HookInvocation, raw: Replied) -> Decoded:
        if call.hook.output == "ignore" and not self.is_http_error(raw.status):
            return NOTHING_SAID
        return super().replied(call, raw)

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:
        """Decode exit 2: it blocks whatever stdout holds; of a readable answer only parts that cannot weaken
        the block are kept."""
        said, ignored = PASS, ()
        stdout = _answer_text(raw)
        if stdout.startswith(b"{") and not raw.truncated:
            answer = self.json_answer(call, raw, stdout)
            said, ignored = answer.outcome, answer.ignored
        own = next((vote.reason for vote in said.votes if vote.kind == "block" and vote.reason), "")
        reason = stderr_text(raw) or own or f"hook {call.hook.name} blocked (exit 2) and gave no reason"
        votes = (Vote("block", reason),)
        kept = Outcome(
            votes=votes, context_items=said.context_items, messages=said.messages, halts=said.halts
        )
        return Decoded(kept, ignored=ignored)

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        text = _trimmed(output)
        if isinstance(raw, Replied) and call.hook.kind != "mcp_tool":
            return self.json_answer(call, raw, text) if text else NOTHING_SAID
        if isinstance(raw, Exited) and split_async_mark(output)[0]:
            text = _answer_text(raw)
            # It moved to the background.
            call = replace(call, hook=replace(call.hook, waiting="async"))
        if not text:
            return NOTHING_SAID
        if text.startswith(b"{"):
            return self.json_answer(call, raw, text)
        if _may_be_a_decision(call, text):
            return self.failed(call, raw, "unreadable", _no_answer(text))
        if call.event.name not in PLAIN_TEXT_IS_CONTEXT:
            return Decoded(ignored=("plain stdout",))
        return self._context(call, raw, text)

    def _context(self, call: HookInvocation, raw: Exited | Replied, text: bytes) -> Decoded:
        try:
            return Decoded(Outcome(context_items=(ContextItem(text.decode()),)))
        except UnicodeDecodeError:
            return self.failed(call, raw, "unreadable", "its text is not UTF-8")

    def says_go_on(self, document: Mapping[str, Any]) -> bool:
        return document.get("ok") is not None or super().says_go_on(document)

    def read_json(self, text: bytes) -> Any:
        # Loaded with the first answer: most hooks say nothing.
        from hookline.documents.strict_json import read_strict  # noqa: PLC0415 - as said

        return read_strict(text)

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        from hookline.dialects.native.answers import read_answer  # noqa: PLC0415 - as strict_json

        exact = call.event.guard and call.hook.waiting == "wait"
        return read_answer(
            document,
            call.event,
            call.hook.policy,
            f"hook {call.hook.name}",
            exact=exact,
            # A command may be older or newer than Hookline; a function was written for it.
            known_only=call.hook.kind == "function",
        )

    def returned_outcome(self, call: HookInvocation, outcome: Outcome) -> Decoded:
        """Check a function's rewrite: it must have the shape a command's must have, because hosts run the result."""
        if not outcome.edits:
            return Decoded(outcome)
        field = call.event.rewrites or ""
        shape = REWRITTEN_SHAPES.get(field, "anything")
        for edit in outcome.edits:
            instead = misshaped(edit.value, "an object" if edit.patch else shape)
            detail = (
                f"it rewrote {field} to {instead}" if instead else patch_problem(edit, call.payload, field)
            )
            if detail is not None:
                return self.failed(call, None, "unreadable", detail)
        return Decoded(outcome)


def _may_be_a_decision(call: HookInvocation, text: bytes) -> bool:
    """Return True if a guard may have decided by a text that is not a JSON object. Then the text is neither
    context nor ignored."""
    if not call.event.guard or call.hook.waiting != "wait":
        return False
    if call.event.name not in PLAIN_TEXT_IS_CONTEXT:
        return True
    from hookline.dialects.native.answers import is_decision_word  # noqa: PLC0415 - as strict_json

    return text.startswith(b"[") or (len(text) < 40 and is_decision_word(text.decode("utf-8", "replace")))


def _no_answer(text: bytes) -> str:
    shown = text[:40].decode("utf-8", "replace")
    return f'it printed {shown!r}, which is not an answer: print one JSON object or nothing, or set output = "ignore"'


def _answer_text(raw: Exited) -> bytes:
    # The mark alone is an answer that says nothing else.
    is_async, rest = split_async_mark(raw.stdout)
    return _trimmed(rest if is_async and b"\n" in raw.stdout.strip() else raw.stdout)


def _trimmed(output: bytes) -> bytes:
    return output.strip().removeprefix(_BOM).lstrip()
