"""Decode the output of Gemini CLI's hooks as the client does. The exit code means less than its documentation
says.

The trimmed stdout is read, or stderr where that is empty: one JSON object is used whatever the exit code.
Other text is a message with exit 0, a warning with 1, and a denial with any other code; without text no code
denies anything.
"""

import signal
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from hookline.dialects.family.wire import ResultReader, crash
from hookline.dialects.gemini_cli.answers import NO_REASON, Reader, Writer
from hookline.dialects.gemini_cli.payload import PromptWithContext, as_object, encode_payload, parse_payload
from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.model import events as e
from hookline.model.events import EventSpec, field_of
from hookline.model.outcome import Message, Outcome
from hookline.model.raw import Exited, Replied, failure
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable


class GeminiWire(ResultReader):
    """The wire of Gemini CLI. Stateless: one object serves every hook."""

    no_reason = NO_REASON
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.gemini_cli.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def encode(self, call: HookInvocation) -> Encoded:
        return encode_payload(call)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return parse_payload(document)

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:  # noqa: ARG002 not needed
        return Writer(event_name, outcome).reply()

    def read_json(self, text: bytes) -> Any:
        return read_lenient(text)

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        name, event = call.hook.policy.event_name, call.event
        return Reader(event_name=name, event=event, payload=call.payload).read(document)

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """Lay a hook's arguments over those before them, and add its text to a prompt, for the next hook in order."""
        if event is e.USER_PROMPT_SUBMIT and outcome.context_items:
            before = getattr(payload, "added_context", ())
            fields = {name: field_of(payload, name) for name in ("prompt", "source")}
            return PromptWithContext(**fields, added_context=(*before, *outcome.context))
        if event is e.PRE_TOOL_USE:
            edits = (replace(each, patch=True) if each.whole is UNSET else each for each in outcome.edits)
            outcome = replace(outcome, edits=tuple(edits))
        return super().advance(event, payload, outcome)

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        text = (raw.stdout.strip() or raw.stderr.strip()).decode("utf-8", "replace")
        if raw.truncated:
            return self.failed(call, raw, "truncated", "its output was cut off, so it was not read")
        if raw.code > 128 and text == signal.strsignal(min(raw.code - 128, signal.NSIG - 1)):
            # The shell reports that a signal ended the hook, which itself printed nothing.
            return self.failed(call, raw, "signalled", f"{text} (exit {raw.code})")
        document = _json(text) if text else ()
        if document is None:
            return self._plain(call, raw, text)
        said = self._object(call, raw, document)
        if raw.code == 0 or said.outcome.blocked or said.failure is not None:
            return said
        return replace(said, failure=self.crashed(call, raw).failure)

    def _object(self, call: HookInvocation, raw: Exited, document: Any) -> Decoded:
        if isinstance(document, dict):
            return self.answered(call, raw, as_object(document))
        return Decoded(ignored=("an answer that is not an object",)) if document != () else NOTHING_SAID

    def _plain(self, call: HookInvocation, raw: Exited, text: str) -> Decoded:
        if raw.code == 0:
            return Decoded(Outcome(messages=(Message(text),)))
        broke = failure(raw, *crash(raw))
        if raw.code == 1:
            return Decoded(failure=replace(broke, words=f"Warning: {text}"))
        reader = Reader(event_name=call.hook.policy.event_name, event=call.event)
        said, ignored = reader.read({"decision": "deny", "reason": text})
        # Where nothing is denied, it is a failure like any other.
        return Decoded(said, ignored=ignored) if said.votes or said.halts else Decoded(failure=broke)

    def replied(self, call: HookInvocation, raw: Replied) -> Decoded:
        return self.failed(call, raw, "unreadable", "Gemini CLI has only command hooks")


def _json(text: str) -> Any:
    """Return the value, None for text that is not JSON. A text in JSON is read once more: some programs
    encode twice."""
    try:
        value = read_lenient(text)
        return read_lenient(value) if isinstance(value, str) else (value if value is not None else False)
    except JsonTextError:
        return None
