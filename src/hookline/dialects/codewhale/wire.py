"""CodeWhale's wire: variables and sometimes a document in; exit code and stdout out."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hookline.dialects.codewhale.answers import tell_outcome
from hookline.dialects.codewhale.payload import Now, document, environment, parse_payload
from hookline.dialects.codewhale.results import read_result
from hookline.dialects.edits import with_edits
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.raw import RawResult
from hookline.model.wire import Call, Decoded, Encoded, HookReply, Parsed


def _utc_now() -> datetime:
    return datetime.now(UTC)


class CodeWhaleWire:
    """Stateless: one object serves every hook. `now` is the clock that turn_end tells."""

    def __init__(self, now: Now = _utc_now) -> None:
        self._now = now

    def encode(self, call: Call) -> Encoded:
        return Encoded(document(call, self._now), environment(call))

    def decode(self, call: Call, raw: RawResult) -> Decoded:
        """Never raises, whatever a hook printed."""
        return read_result(call, raw)

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        return with_edits(event, payload, outcome)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """Raises `ConfigError` or `UnknownEventError` with what is wrong."""
        return parse_payload(document)

    def answer(self, event_name: str, outcome: Outcome) -> HookReply:
        return tell_outcome(event_name, outcome)
