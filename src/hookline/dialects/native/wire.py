"""The native wire: what a hook is told, and how its answer is understood."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.edits import with_edits
from hookline.dialects.native.payload import STDIN_LIMIT, parse_payload, tell
from hookline.dialects.native.results import REPLIES, read_exit, read_returned
from hookline.model.events import EVENTS, EventSpec
from hookline.model.outcome import Outcome
from hookline.model.raw import Broke, Exited, RawResult, Replied, Returned
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, Parsed, Told


class NativeWire:
    """Stateless: one object serves every hook."""

    def __init__(self, events: Mapping[str, EventSpec[Any]] = EVENTS, stdin_limit: int = STDIN_LIMIT) -> None:
        self._events = events
        self._stdin_limit = stdin_limit

    def encode(self, call: Call) -> Encoded:
        """Raises `PayloadError` for a payload that has no JSON form."""
        return tell(call, self._stdin_limit)

    def decode(self, call: Call, raw: RawResult) -> Decoded:
        """Never raises, whatever a hook printed."""
        if isinstance(raw, Returned):
            return read_returned(call, raw)
        if isinstance(raw, Exited):
            return read_exit(call, raw)
        if isinstance(raw, Replied):
            read = REPLIES.get(call.hook.kind, REPLIES["http"])
            return read(call, raw)
        if isinstance(raw, Broke):
            return Decoded(failure=raw)
        return NOTHING_SAID

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """The payload with the event's field as the edits left it; the same object when there are none."""
        return with_edits(event, payload, outcome)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """A payload document read back. Raises `ConfigError` or `UnknownEventError` with what is wrong."""
        return parse_payload(document, self._events)

    def answer(self, event_name: str, outcome: Outcome) -> Told:
        """The outcome as the answer of a native hook, and what of it has no place at this event."""
        from hookline.dialects.native.answers import answer  # noqa: PLC0415 only where Hookline is the hook

        return answer(self._events[event_name], outcome)
