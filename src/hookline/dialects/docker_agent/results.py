"""What a raw result says, kind by kind. Whatever the bytes are, the result is a `Decoded`."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec.structs import replace

from hookline.dialects.docker_agent.answers import (
    UnreadableError,
    cannot_block,
    json_object,
    no_reason,
    read_answer,
)
from hookline.dialects.docker_agent.events import NEVER_APPROVES
from hookline.dialects.docker_agent.payload import PayloadError, encoded
from hookline.dialects.docker_agent.specs import JUDGES, ModelSpec
from hookline.model.events import May
from hookline.model.outcome import GO_ON, ContextItem, Outcome, Vote
from hookline.model.policy import Cause
from hookline.model.raw import Broke, Exited, Replied, Returned
from hookline.model.wire import NOTHING_SAID, Call, Decoded

#: Exit codes by which a shell says that it could not run the program.
_NOT_RUN: Mapping[int, str] = {126: "the program is not executable", 127: "the program was not found"}


def read_exit(call: Call, raw: Exited, *, strict: bool) -> Decoded:
    if raw.code == 2:
        return _blocked(call, raw)
    if raw.code != 0:
        return _failed(_cause(raw), _crash(raw), raw)
    if raw.truncated:
        return _failed("truncated", "its output was cut off, so it was not read", raw)
    text = raw.stdout.decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return _plain(call, text, raw, strict=strict)
    try:
        return answered(call, json_object(text), strict=strict)
    except UnreadableError as error:
        return _failed("unreadable", str(error), raw)


def _blocked(call: Call, raw: Exited) -> Decoded:
    """Exit 2: stdout is not read. Where nothing can be blocked, somebody is told that it was tried."""
    if not call.hook.policy.may & May.BLOCK:
        return Decoded(Outcome(messages=(cannot_block(call),)), ignored=("block",))
    reason = raw.stderr.decode("utf-8", "replace").strip()
    return Decoded(Outcome(votes=(Vote("block", reason or no_reason(call)),)))


def _plain(call: Call, text: str, raw: Exited, *, strict: bool) -> Decoded:
    if not text:
        return NOTHING_SAID
    if strict:
        return _failed("unreadable", "strict_output: its output is not a JSON object", raw)
    return _context(call, text, "plain stdout")


def _context(call: Call, text: str, name: str) -> Decoded:
    if not call.hook.policy.may & call.event.may & May.CONTEXT:
        return Decoded(ignored=(name,))
    return Decoded(Outcome(context_items=(ContextItem(text),)))


def answered(call: Call, document: Mapping[str, Any], *, strict: bool) -> Decoded:
    outcome, ignored = read_answer(document, call, strict=strict)
    return Decoded(outcome, ignored=ignored) if ignored or outcome is not GO_ON else NOTHING_SAID


def read_returned(call: Call, raw: Returned, *, strict: bool) -> Decoded:
    """A builtin's own answer object, or a document in the shape commands print."""
    value = raw.value
    if value is None:
        return NOTHING_SAID
    try:
        if isinstance(value, Mapping):
            return answered(call, cast("Mapping[str, Any]", value), strict=strict)
        if isinstance(value, Outcome):
            return _checked(call, value, strict=strict)
    except UnreadableError as error:
        return Decoded(failure=Broke("unreadable", str(error)))
    detail = f"returned {type(value).__name__}, not an outcome, a mapping or nothing"
    return Decoded(failure=Broke("unreadable", detail))


def _checked(call: Call, outcome: Outcome, *, strict: bool) -> Decoded:
    for edit in outcome.edits:
        try:
            encoded({"rewrite": edit.value})
        except PayloadError as error:
            raise UnreadableError(f"its rewrite: {error}") from None
    may = call.hook.policy.may & call.event.may
    if strict and (dropped := outcome.clipped(may)[1]):
        raise UnreadableError(f"strict_output: {call.hook.policy.event_name} does not support {dropped[0]}")
    if outcome.blocked and not may & May.BLOCK:
        outcome = replace(outcome, messages=(*outcome.messages, cannot_block(call)))
    kept = tuple(vote for vote in outcome.votes if not _advice(call, vote))
    if len(kept) == len(outcome.votes):
        return Decoded(outcome)
    return Decoded(replace(outcome, votes=kept), ignored=("allow",))


def _advice(call: Call, vote: Vote) -> bool:
    return vote.kind == "allow" and call.hook.policy.event_name in NEVER_APPROVES


def read_completion(call: Call, raw: Replied, *, strict: bool) -> Decoded:
    """A model's reply: text for the model, or the verdict its schema asks for."""
    spec: ModelSpec = call.hook.spec
    if raw.truncated:
        return Decoded(failure=_filled("truncated", "the reply was cut off, so it was not read", raw))
    text = raw.body.decode("utf-8", "replace").strip()
    if spec.schema != JUDGES:
        return _context(call, text, "the model's reply") if text else NOTHING_SAID
    try:
        verdict = json_object(_without_fence(text))
        return answered(call, {"hook_specific_output": _verdict(verdict)}, strict=strict)
    except UnreadableError as error:
        return Decoded(failure=_filled("unreadable", str(error), raw))


def _verdict(reply: Mapping[str, Any]) -> dict[str, Any]:
    if reply.get("decision") not in ("allow", "ask", "deny"):
        raise UnreadableError("the model's decision is not one of allow, ask, deny")
    return {"permission_decision": reply["decision"], "permission_decision_reason": reply.get("reason")}


def _without_fence(text: str) -> str:
    """Models put JSON into a code block however often they are asked not to."""
    if not (text.startswith("```") and text.endswith("```") and len(text) > 5):
        return text
    return text[3:-3].removeprefix("json").strip()


def _cause(raw: Exited) -> Cause:
    return "not_started" if raw.code in _NOT_RUN else "crashed"


def _crash(raw: Exited) -> str:
    first = raw.stderr[:2000].strip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()[:300]
    detail = f"exit {raw.code}: {first}" if first else f"exit {raw.code}"
    return f"{_NOT_RUN[raw.code]} ({detail})" if raw.code in _NOT_RUN else detail


def _failed(cause: Cause, detail: str, raw: Exited) -> Decoded:
    broke = Broke(cause, detail, raw.stdout, raw.stderr, raw.code, None, raw.truncated, raw.queue_ms)
    return Decoded(failure=broke)


def _filled(cause: Cause, detail: str, raw: Replied) -> Broke:
    return Broke(cause, detail, stdout=raw.body, truncated=raw.truncated)
