"""Reasonix's wire: one JSON line in, an exit code and text out."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.json_text import written
from hookline.dialects.reasonix import answers as answering
from hookline.dialects.reasonix import payload as parsing
from hookline.dialects.reasonix.claude_format import claude_document, read_json
from hookline.dialects.reasonix.events import CLAUDE_GATES, gates
from hookline.dialects.reasonix.payload import document
from hookline.dialects.reasonix.results import read_exit, read_failure
from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.policy import Policy
from hookline.model.raw import Broke, Exited, RawResult, Replied
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, HookReply, Parsed


class ReasonixWire:
    """Stateless: one object serves every hook."""

    def __init__(self, dialect_events: Mapping[str, DialectEvent]) -> None:
        self._events = dialect_events

    def encode(self, call: Call) -> Encoded:
        """No variables: Reasonix sets none for hooks from settings."""
        return Encoded(written(document(call.hook.policy.event_name, call.payload, call.scene)) + b"\n")

    def decode(self, call: Call, raw: RawResult) -> Decoded:
        """Never raises, whatever a hook printed."""
        gate = self.gates(call.hook.policy)
        if isinstance(raw, Exited):
            return read_exit(call, raw, gate=gate)
        if isinstance(raw, Broke):
            return read_failure(call, raw, gate=gate)
        if isinstance(raw, Replied):
            return Decoded(failure=Broke("unreadable", "Reasonix has only command hooks", raw.body))
        return NOTHING_SAID

    def gates(self, policy: Policy) -> bool:
        return gates(policy)

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:  # noqa: ARG002 - the protocol's
        """No hook of Reasonix changes what the next one sees."""
        return payload

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """Raises `ConfigError` or `UnknownEventError` with what is wrong."""
        return parsing.parse(document, self._events)

    def answer(self, event_name: str, outcome: Outcome) -> HookReply:
        known = self._events.get(event_name)
        if known is None:
            raise UnknownEventError(event_name, nearest(event_name, self._events))
        return answering.answer(known, outcome)


class ClaudeFormatWire(ReasonixWire):
    """For entries with `"payloadFormat": "claude"`."""

    def encode(self, call: Call) -> Encoded:
        return Encoded(
            written(claude_document(call.hook.policy.event_name, call.payload, call.scene)) + b"\n"
        )

    def decode(self, call: Call, raw: RawResult) -> Decoded:
        if isinstance(raw, Exited) and raw.code == 0:
            said = read_json(call, raw)
            if said is not None:
                return said
        return super().decode(call, raw)

    def gates(self, policy: Policy) -> bool:
        return gates(policy) or policy.event_name in CLAUDE_GATES
