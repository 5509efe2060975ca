"""The native wire: what a hook is given, and how its answer is read."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.family.results import ResultReader, split_async_mark, stderr_text, without_fence
from hookline.dialects.native.events import PLAIN_TEXT_IS_CONTEXT, REWRITTEN_SHAPES
from hookline.dialects.native.payload import STDIN_LIMIT, encode_payload, parse_payload
from hookline.documents.document import misshaped
from hookline.model.events import EVENTS, EventSpec
from hookline.model.outcome import GO_ON, ContextItem, Outcome, Vote
from hookline.model.raw import Exited, Replied
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, HookReply, Parsed

_BOM = b"\xef\xbb\xbf"


class NativeWire(ResultReader):
    """Stateless: one object serves every hook."""

    def __init__(self, events: Mapping[str, EventSpec[Any]] = EVENTS, stdin_limit: int = STDIN_LIMIT) -> None:
        self._events = events
        self._stdin_limit = stdin_limit

    def encode(self, call: Call) -> Encoded:
        """Raises `PayloadError` for a payload that has no JSON form."""
        return encode_payload(call, self._stdin_limit)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """A payload document read back. Raises `ConfigError` or `UnknownEventError` with what is wrong."""
        return parse_payload(document, self._events)

    def answer(self, event_name: str, outcome: Outcome) -> HookReply:
        """The outcome as the answer of a native hook, and what of it has no place at this event."""
        from hookline.dialects.native.answers import write_answer  # noqa: PLC0415 only where Hookline is the hook

        return write_answer(self._events[event_name], outcome)

    def blocked(self, call: Call, raw: Exited) -> Decoded:
        """Exit 2 blocks whatever stdout holds; of a readable answer only what cannot weaken the block is kept."""
        said, ignored = GO_ON, ()
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

    def printed(self, call: Call, raw: Exited | Replied, output: bytes) -> Decoded:
        if isinstance(raw, Replied) and call.hook.kind != "mcp_tool":
            return self._replied_json(call, raw, _trimmed(output))
        text = _answer_text(raw) if isinstance(raw, Exited) else _trimmed(output)
        if not text:
            return NOTHING_SAID
        if text.startswith(b"{"):
            return self.json_answer(call, raw, text)
        if call.event.name not in PLAIN_TEXT_IS_CONTEXT:
            return Decoded(ignored=("plain stdout",))
        try:
            return Decoded(Outcome(context_items=(ContextItem(text.decode()),)))
        except UnicodeDecodeError:
            return self.failed(call, raw, "unreadable", "its text is not UTF-8")

    def _replied_json(self, call: Call, raw: Replied, text: bytes) -> Decoded:
        """A server may say nothing; a model must answer."""
        if call.hook.kind in ("prompt", "agent"):
            return self.json_answer(call, raw, without_fence(text))
        return self.json_answer(call, raw, text) if text else NOTHING_SAID

    def read_json(self, text: bytes) -> Any:
        # Loaded with the first answer: most hooks say nothing.
        from hookline.documents.strict_json import read_strict  # noqa: PLC0415 - as said

        return read_strict(text)

    def read_answer(self, call: Call, document: Mapping[str, Any]) -> tuple[Outcome, tuple[str, ...]]:
        from hookline.dialects.native.answers import read_answer  # noqa: PLC0415 - as strict_json

        return read_answer(document, call.event, call.hook.policy, f"hook {call.hook.name}")

    def returned_outcome(self, call: Call, outcome: Outcome) -> Decoded:
        """A function's rewrite must have the shape a command's must have: hosts run what comes out."""
        shape = REWRITTEN_SHAPES.get(call.event.rewrites or "", "anything")
        for edit in outcome.edits:
            instead = misshaped(edit.value, "an object" if edit.patch else shape)
            if instead is not None:
                detail = f"it rewrote {call.event.rewrites} to what is {instead}"
                return self.failed(call, None, "unreadable", detail)
        return Decoded(outcome)


def _answer_text(raw: Exited) -> bytes:
    # The mark alone is an answer that says nothing else.
    detached, rest = split_async_mark(raw.stdout)
    return _trimmed(rest if detached and b"\n" in raw.stdout.strip() else raw.stdout)


def _trimmed(output: bytes) -> bytes:
    return output.strip().removeprefix(_BOM).lstrip()
