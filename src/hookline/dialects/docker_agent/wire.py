"""Encode payloads for Docker Agent, and decode exit codes, output and replies of models."""

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.docker_agent.answers import AnswerReader, AnswerWriter, cannot_block, no_reason
from hookline.dialects.docker_agent.events import NEVER_APPROVES
from hookline.dialects.docker_agent.payload import parse_payload, payload_document, trace_variables
from hookline.dialects.docker_agent.specs import DECISION_SCHEMA, ModelSpec, ShellSpec, expanded
from hookline.dialects.family.wire import PayloadError, ResultReader, encoded, stderr_text, without_fence
from hookline.dialects.json_text import read_lenient
from hookline.model.errors import HooklineError
from hookline.model.events import PRE_MODEL_CALL, Capability, EventSpec
from hookline.model.outcome import ContextItem, Outcome, Vote
from hookline.model.raw import Exited, Failed, Replied
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable


class DockerWire(ResultReader):
    """The wire of Docker Agent. Stateless. One for each agent of a file, and one more for its hooks with
    strict output."""

    standard_tools = False

    def __init__(
        self,
        events: Mapping[str, DialectEvent],
        *,
        agent: str = "root",
        strict: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._events = events
        self._agent = agent
        self._strict = strict
        self._environ = environ

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.docker_agent.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def encode(self, call: HookInvocation) -> Encoded:
        """Encode a call. Raises `PayloadError` for a payload without a JSON form, `TemplateError` for a
        prompt that fails."""
        spec = call.hook.spec
        document = self._document(call)
        text = encoded(document)
        if isinstance(spec, ModelSpec):
            return Encoded(spec.template.rendered(document).encode("utf-8", "replace"))
        env = trace_variables(call.info)
        if isinstance(spec, ShellSpec):
            env.update({name: expanded(value, self._environ) for name, value in spec.variables.items()})
        return Encoded(text, env)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return parse_payload(document, self._events)

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        return AnswerWriter(self._events[event_name], outcome, payload).reply()

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """Apply rewrites, and at a model request the text of the hooks so far: before_llm_call sees turn_start's."""
        if event is PRE_MODEL_CALL and outcome.context_items and isinstance(payload, Struct):
            known: tuple[str, ...] | None = getattr(payload, "transient", None)
            if known is not None:
                payload = replace(payload, transient=(*known, *outcome.context))
        return super().advance(event, payload, outcome)

    def read_json(self, text: bytes) -> Any:
        return read_lenient(text)

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        name = call.hook.policy.event_name
        return AnswerReader(event_name=name, call=call, strict=self._strict).read(document)

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:
        """Decode exit 2. Where nothing can be blocked, the user gets a message that it was tried."""
        if not call.hook.policy.may & Capability.BLOCK:
            return Decoded(Outcome(messages=(cannot_block(call),)), ignored=("block",))
        return Decoded(Outcome(votes=(Vote("block", stderr_text(raw) or no_reason(call)),)))

    def model_answered(self, call: HookInvocation, raw: Replied) -> Decoded:
        """Read a decision where the hook asks for one; any other reply is for the model."""
        text = raw.body.decode("utf-8", "replace").strip()
        if call.hook.spec.schema == DECISION_SCHEMA:
            return self._decision(call, raw, text)
        return self._context(call, text, "the model's reply")

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        """Read JSON only where it starts like an object; other text is for the model."""
        text = output.decode("utf-8", "replace").strip()
        if text.startswith("{"):
            return self.json_answer(call, raw, text.encode())
        if text and self._strict:
            return self.failed(call, raw, "unreadable", "strict_output: its output is not a JSON object")
        return self._context(call, text, "plain stdout")

    def _context(self, call: HookInvocation, text: str, name: str) -> Decoded:
        if not text:
            return NOTHING_SAID
        if not call.hook.policy.may & call.event.may & Capability.CONTEXT:
            return Decoded(ignored=(name,))
        return Decoded(Outcome(context_items=(ContextItem(text),)))

    def _decision(self, call: HookInvocation, raw: Replied, text: str) -> Decoded:
        try:
            reply = self.read_json(without_fence(text.encode()))
        except HooklineError as error:
            return self.failed(call, raw, "unreadable", f"the answer cannot be read: {error}")
        given: Mapping[str, Any] = cast("dict[str, Any]", reply) if isinstance(reply, dict) else {}
        if given.get("decision") not in ("allow", "ask", "deny"):
            detail = "the model's decision is not one of allow, ask, deny"
            return self.failed(call, raw, "unreadable", detail)
        decision = {
            "permission_decision": given["decision"],
            "permission_decision_reason": given.get("reason"),
        }
        return self.answered(call, raw, {"hook_specific_output": decision})

    def returned_outcome(self, call: HookInvocation, outcome: Outcome) -> Decoded:
        """Decode a builtin's outcome by the same rules as a command's output."""
        may = call.hook.policy.may & call.event.may
        for edit in outcome.edits:
            try:
                encoded({"rewrite": edit.value})
            except PayloadError as error:
                return self.failed(call, None, "unreadable", f"its rewrite: {error}")
        if self._strict and (dropped := outcome.clipped(may)[1]):
            detail = f"strict_output: {call.hook.policy.event_name} does not support {dropped[0]}"
            return self.failed(call, None, "unreadable", detail)
        if outcome.blocked and not may & Capability.BLOCK:
            outcome = replace(outcome, messages=(*outcome.messages, cannot_block(call)))
        if call.hook.policy.event_name not in NEVER_APPROVES:
            return Decoded(outcome)
        votes = tuple(vote for vote in outcome.votes if vote.kind != "allow")
        ignored = ("allow",) if len(votes) < len(outcome.votes) else ()
        return Decoded(replace(outcome, votes=votes), ignored=ignored)

    def broke(self, call: HookInvocation, raw: Failed) -> Decoded:
        """Decode a failure: a call that cannot be written for a hook is stopped wherever it can be, whatever
        `on_error` is."""
        if raw.cause != "not_started" or not call.hook.policy.may & Capability.BLOCK:
            return Decoded(failure=raw)
        try:
            encoded(self._document(call))
        except PayloadError as error:
            return Decoded(Outcome(votes=(Vote("block", str(error)),)), raw)
        return Decoded(failure=raw)

    def _document(self, call: HookInvocation) -> dict[str, Any]:
        name = call.hook.policy.event_name
        return payload_document(call.event, name, call.payload, call.info, self._agent)
