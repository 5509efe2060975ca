"""The wire of gen-code, both ways."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.edits import with_edits
from hookline.dialects.gencode.answers import answer
from hookline.dialects.gencode.payload import parse, tell
from hookline.dialects.gencode.results import understand
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.raw import RawResult
from hookline.model.wire import Call, Decoded, Encoded, Parsed, Told


class GenCodeWire:
    """Stateless: one object serves every hook."""

    def encode(self, call: Call) -> Encoded:
        return tell(call)

    def decode(self, call: Call, raw: RawResult) -> Decoded:
        """Never raises, whatever a hook printed."""
        return understand(call, raw)

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        return with_edits(event, payload, outcome)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return parse(document)

    def answer(self, event_name: str, outcome: Outcome) -> Told:
        return answer(event_name, outcome)
