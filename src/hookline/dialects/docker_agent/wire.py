"""Docker Agent's wire, both ways."""

import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.docker_agent.answers import answer_to
from hookline.dialects.docker_agent.payload import (
    PayloadError,
    encoded,
    parse_payload,
    payload_document,
    trace_variables,
)
from hookline.dialects.docker_agent.results import read_completion, read_exit, read_returned
from hookline.dialects.docker_agent.specs import ModelSpec, ShellSpec, expanded
from hookline.dialects.edits import with_edits
from hookline.model.events import PRE_MODEL_CALL, EventSpec, May
from hookline.model.outcome import Outcome, Vote
from hookline.model.raw import Broke, Exited, RawResult, Replied, Returned
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, Parsed, Told


class DockerWire:
    """Stateless. One for each agent of a file, and one more for its hooks with strict output."""

    def __init__(
        self,
        dialect_events: Mapping[str, DialectEvent],
        *,
        agent: str = "root",
        strict: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._events = dialect_events
        self._agent = agent
        self._strict = strict
        self._environ = environ

    def encode(self, call: Call) -> Encoded:
        """Raises `PayloadError` for a payload without a JSON form, `TemplateError` for a prompt that fails."""
        spec = call.hook.spec
        document = self._document(call)
        if isinstance(spec, ModelSpec):
            encoded(document)
            return Encoded(spec.template.rendered(document).encode("utf-8", "replace"))
        env = trace_variables(call.scene)
        if isinstance(spec, ShellSpec):
            env.update({name: expanded(value, self._environ) for name, value in spec.variables.items()})
        return Encoded(encoded(document), env)

    def decode(self, call: Call, raw: RawResult) -> Decoded:
        """Never raises, whatever a hook printed."""
        if isinstance(raw, Exited):
            return read_exit(call, raw, strict=self._strict)
        if isinstance(raw, Returned):
            return read_returned(call, raw, strict=self._strict)
        if isinstance(raw, Replied):
            return read_completion(call, raw, strict=self._strict)
        if isinstance(raw, Broke):
            return self._broke(call, raw)
        return NOTHING_SAID

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """Rewrites, and at a model request the text of the hooks so far: before_llm_call sees turn_start's."""
        if event is PRE_MODEL_CALL and outcome.context_items and isinstance(payload, Struct):
            known: tuple[str, ...] = getattr(payload, "transient", ())
            if hasattr(payload, "transient"):
                texts = tuple(item.text for item in outcome.context_items)
                payload = replace(payload, transient=(*known, *texts))
        return with_edits(event, payload, outcome)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return parse_payload(document, self._events)

    def answer(self, event_name: str, outcome: Outcome) -> Told:
        return answer_to(self._events[event_name], outcome)

    def _document(self, call: Call) -> dict[str, Any]:
        return payload_document(
            call.event, call.hook.policy.event_name, call.payload, call.scene, self._agent
        )

    def _broke(self, call: Call, raw: Broke) -> Decoded:
        """A call that cannot even be told to a hook is stopped wherever it can be, whatever `on_error` says."""
        if raw.cause != "not_started" or not call.hook.policy.may & May.BLOCK:
            return Decoded(failure=raw)
        try:
            encoded(self._document(call))
        except PayloadError as error:
            return Decoded(Outcome(votes=(Vote("block", str(error)),)), raw)
        return Decoded(failure=raw)
