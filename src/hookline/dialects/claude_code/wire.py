"""Claude Code's wire: what a hook is told, how its answer is understood, and both the other way round."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_code.answers import answer
from hookline.dialects.claude_code.payload import parse_payload, tell
from hookline.dialects.claude_code.results import REPLIES, read_broken, read_exit, read_http, read_returned
from hookline.dialects.edits import with_edits
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.raw import Broke, Exited, RawResult, Replied, Returned
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, HookReply, Parsed


class ClaudeCodeWire:
    """Stateless: one object serves every hook."""

    def encode(self, call: Call) -> Encoded:
        """Raises `PayloadError` for a payload that has no JSON form."""
        return tell(call)

    def decode(self, call: Call, raw: RawResult) -> Decoded:
        """Never raises, whatever a hook printed."""
        if isinstance(raw, Exited):
            return read_exit(call, raw)
        if isinstance(raw, Replied):
            return REPLIES.get(call.hook.kind, read_http)(call, raw)
        if isinstance(raw, Returned):
            return read_returned(call, raw)
        if isinstance(raw, Broke):
            return read_broken(call, raw)
        return NOTHING_SAID

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        return with_edits(event, payload, outcome)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """Raises `ConfigError` or `UnknownEventError` with what is wrong."""
        return parse_payload(document)

    def answer(self, event_name: str, outcome: Outcome) -> HookReply:
        return answer(event_name, outcome)
