"""Encode payloads as one JSON line, and decode exit codes and text; each hook's end gives one line for the
user.

Exit 0 passes, 2 blocks at a gate, all else warns. A TurnEnd hook answers by marked lines: `@@INJECT: text`
goes to the model, `@@WARN: text` to the user.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family.wire import ResultReader, encoded, with_first_line
from hookline.dialects.json_text import whole_text
from hookline.dialects.reasonix.claude_format import claude_document, read_json
from hookline.dialects.reasonix.events import CAPTURED, CLAUDE_GATES, LONGEST_TEXT, TEXT_EVENTS, gates
from hookline.dialects.reasonix.payload import document, parse
from hookline.handlers.specs import CommandSpec
from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.outcome import PASS, ContextItem, Message, Outcome, Vote
from hookline.model.policy import Policy
from hookline.model.raw import Exited, Failed, Replied, failure
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

_LONGEST_COMMAND = 60
_MARKED = re.compile(r"[ \t]*@@(INJECT|WARN):[ \t]*(.*)", re.IGNORECASE)

#: Parts of an outcome that Reasonix has no form for, and what they are called.
_LOST = {
    "edits": "rewrite", "permission_updates": "permission_updates", "watch_paths": "watch_paths",
    "seeds": "initial_user_message", "env_items": "env", "answers": "answer", "retry": "retry",
}  # fmt: skip
#: Events where a block also stops what was begun.
_STOPS = frozenset({"TurnStart", "UserPromptSubmit"})


class Marked(Struct, frozen=True):
    """The marked lines that a TurnEnd hook printed."""

    inject: str = ""
    warnings: tuple[str, ...] = ()
    #: The lines without a marker.
    rest: str = ""


def read_markers(text: str) -> Marked:
    """Read marked lines: injected ones are one message, each warning is separate."""
    lines = [(line, _MARKED.match(line)) for line in text.splitlines()]
    marked = [(found[1].upper(), found[2]) for _, found in lines if found is not None]
    inject = "\n".join(text.rstrip() for marker, text in marked if marker == "INJECT").strip()
    warnings = tuple(text.strip() for marker, text in marked if marker == "WARN" and text.strip())
    return Marked(inject, warnings, "\n".join(line for line, found in lines if found is None).strip())


class Printed:
    """Both streams of a hook as Reasonix sees them: cut, decoded at the end, trimmed."""

    def __init__(self, call: HookInvocation, raw: Exited | Failed) -> None:
        self.call = call
        self.event_name = call.hook.policy.event_name
        self.cut = raw.truncated or len(raw.stdout) > CAPTURED or len(raw.stderr) > CAPTURED
        self.stdout, self.stderr = (
            output[:CAPTURED].decode("utf-8", "replace").strip() for output in (raw.stdout, raw.stderr)
        )
        at_end = self.event_name == "TurnEnd"
        self.marked = read_markers(self.stdout) if at_end else Marked(rest=self.stdout)

    def line(self, decision: str, detail: str) -> str:
        """Return the line for the user."""
        hook, spec = self.call.hook, self.call.hook.spec
        command = spec.command if isinstance(spec, CommandSpec) else hook.name
        if len(command) > _LONGEST_COMMAND:
            command = f"{command[:_LONGEST_COMMAND]}…"
        scope = "global" if hook.scope == "user" else hook.scope
        mark = " (output truncated at 256KB)" if self.cut else ""
        end = f": {detail}" if detail else ""
        return f"hook {scope}/{self.event_name} `{command}` {decision}{mark}{end}"

    def passing(self) -> Outcome:
        """Return the outcome that applies however the hook ended, as long as it blocks nothing."""
        if self.event_name == "PreCompact" and self.stdout:
            return Outcome(context_items=(ContextItem(self.stdout),))
        warnings = self._warnings()
        return Outcome(messages=warnings) if warnings else PASS

    def _warnings(self) -> tuple[Message, ...]:
        return tuple(Message(text, warns=True) for text in self.marked.warnings)

    def extras_of_block(self, reason: str, line: str) -> Outcome:
        """Return the line for the user, and at TurnEnd the text with which the model continues, as a message
        of the user."""
        messages = (Message(line, warns=True), *self._warnings())
        if self.event_name != "TurnEnd":
            return Outcome(messages=messages)
        text = self.marked.inject or (
            f"[TurnEnd gate] The previous response was rejected. Reason: {reason}\n"
            "Correct it, then finish the turn."
        )
        return Outcome(context_items=(ContextItem(text),), messages=messages)


class ReasonixWire(ResultReader):
    """The wire of Reasonix. Stateless: one object serves every hook."""

    standard_tools = False

    def __init__(self, events: Mapping[str, DialectEvent]) -> None:
        self._events = events

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.reasonix.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def encode(self, call: HookInvocation) -> Encoded:
        """Encode a call without variables: Reasonix sets none for hooks from settings."""
        return Encoded(encoded(document(call.hook.policy.event_name, call.payload, call.info)) + b"\n")

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return parse(document, self._events)

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:  # noqa: ARG002 not needed
        known = self._events.get(event_name)
        if known is None:
            raise UnknownEventError(event_name, nearest(event_name, self._events))
        return Writer(known, outcome).reply()

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """Return the payload unchanged: no hook of Reasonix changes what the next one sees."""
        del event, outcome
        return payload

    def gates(self, policy: Policy) -> bool:
        return gates(policy)

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        printed = Printed(call, raw)
        if raw.code == 0:
            return _passed(printed)
        if raw.code == 2 and self.gates(call.hook.policy):
            return _blocked(printed)
        words = printed.line("warn", printed.stderr or printed.stdout)
        broke = failure(raw, "crashed", with_first_line(f"exit {raw.code}", printed.stderr.encode()))
        return Decoded(printed.passing(), replace(broke, truncated=printed.cut, words=words))

    def broke(self, call: HookInvocation, raw: Failed) -> Decoded:
        """Decode a missing exit. The agent fills an empty stderr with what it knows."""
        printed = Printed(call, raw)
        known = {"timed_out": f"hook timed out after {call.timeout * 1000:.0f}ms", "not_started": raw.detail}
        detail = printed.stderr or known.get(raw.cause, "") or printed.stdout or raw.detail
        if self.gates(call.hook.policy) and call.hook.reaction(raw.cause) == "block":
            extras = printed.extras_of_block(detail, printed.line("block", detail))
            return Decoded(extras, replace(raw, words=detail))
        line = printed.line("error" if raw.cause == "not_started" else "warn", detail)
        return Decoded(printed.passing(), replace(raw, words=line))

    def replied(self, call: HookInvocation, raw: Replied) -> Decoded:
        return self.failed(call, raw, "unreadable", "Reasonix has only command hooks")

    def returned(self, call: HookInvocation, value: Any) -> Decoded:
        del call, value
        return NOTHING_SAID


class ClaudeFormatWire(ReasonixWire):
    """The wire for entries with `"payloadFormat": "claude"`."""

    def encode(self, call: HookInvocation) -> Encoded:
        return Encoded(encoded(claude_document(call.hook.policy.event_name, call.payload, call.info)) + b"\n")

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        answer = read_json(call, raw.stdout) if raw.code == 0 else None
        if not isinstance(answer, str):
            return super().exited(call, raw) if answer is None else answer
        reason = answer or f"hook {call.hook.name} blocked and gave no reason"
        line = Printed(call, raw).line("block", answer)
        return Decoded(Outcome(votes=(Vote("block", reason),), messages=(Message(line, warns=True),)))

    def gates(self, policy: Policy) -> bool:
        return gates(policy) or policy.event_name in CLAUDE_GATES


def _passed(printed: Printed) -> Decoded:
    text = printed.stdout
    if not text:
        return NOTHING_SAID
    if printed.event_name in TEXT_EVENTS:
        beyond = (f"text beyond {LONGEST_TEXT:,} characters",) if len(text) > LONGEST_TEXT else ()
        return Decoded(Outcome(context_items=(ContextItem(text[:LONGEST_TEXT]),)), ignored=beyond)
    outcome = printed.passing()
    if printed.event_name == "TurnEnd":
        marked = printed.marked
        ignored = ("@@INJECT without a block",) if marked.inject else ()
        return Decoded(outcome, ignored=ignored + (("stdout",) if marked.rest else ()))
    return Decoded(outcome, ignored=() if outcome is not PASS else ("stdout",))


def _blocked(printed: Printed) -> Decoded:
    said = printed.stderr or printed.marked.rest
    reason = said or printed.marked.inject
    reason = reason or f"hook {printed.call.hook.name} blocked (exit 2) and gave no reason"
    extras = printed.extras_of_block(reason, printed.line("block", said))
    return Decoded(extras + Outcome(votes=(Vote("block", reason),)))


class Writer:
    """One outcome being written as the exit code and output of Hookline; what the event has no form for is `lost`."""

    def __init__(self, own_event: DialectEvent, outcome: Outcome) -> None:
        self.name = own_event.name
        self.gate = gates(own_event.policy)
        self.outcome = outcome
        self.lost = [label for part, label in _LOST.items() if getattr(outcome, part)]

    def reply(self) -> HookReply:
        outcome = self.outcome
        refused = self._refusal() if self.gate else None
        self.lost.extend(self._lost_votes())
        if outcome.stop and (refused is None or self.name not in _STOPS):
            self.lost.append("stop")
        if self.name == "TurnEnd":
            return self._at_turn_end(refused)
        if outcome.messages:
            self.lost.append("messages")
        if refused is not None or (outcome.blocked and not self.gate):
            # Where nothing can be stopped, Reasonix at least shows the reason to the user.
            self._lose_context()
            return self._reply(2, "", refused if refused is not None else outcome.reason or "")
        return self._passed()

    def _reply(self, code: int, stdout: str, stderr: str = "") -> HookReply:
        return HookReply(code, whole_text(stdout), whole_text(stderr), tuple(self.lost))

    def _refusal(self) -> str | None:
        """Return why the action is stopped. Reasonix cannot ask, and an action without approval must not happen."""
        outcome, vote = self.outcome, self.outcome.deciding_vote
        if vote is not None and vote.kind in ("block", "ask", "defer"):
            return vote.reason or ("this needs the user's permission" if vote.kind != "block" else "")
        # At TurnEnd a block would be the opposite of a stop.
        stops = outcome.stop and self.name != "TurnEnd"
        return outcome.stop_reason or "a hook stopped the run" if stops else None

    def _lost_votes(self) -> Iterator[str]:
        if self.outcome.blocked and not self.gate:
            yield "block"
        strongest = self.outcome.deciding_vote
        if strongest is not None and strongest.kind != "block":
            yield from sorted({vote.kind for vote in self.outcome.votes} - {"block"})

    def _lose_context(self) -> None:
        if self.outcome.context_items:
            self.lost.append("context")

    def _at_turn_end(self, refused: str | None) -> HookReply:
        texts = [" ".join(message.text.split()) for message in self.outcome.messages]
        warnings = "".join(f"@@WARN: {text}\n" for text in texts)
        if refused is None:
            self._lose_context()
            return self._reply(0, warnings)
        lines = [line for item in self.outcome.context_items for line in item.text.strip().splitlines()]
        return self._reply(2, "".join(f"@@INJECT: {line}\n" for line in lines) + warnings, refused)

    def _passed(self) -> HookReply:
        text = "\n\n".join(item.text.strip() for item in self.outcome.context_items)
        if text and self.name not in TEXT_EVENTS and self.name != "PreCompact":
            self._lose_context()
            return self._reply(0, "")
        if len(text) > LONGEST_TEXT and self.name in TEXT_EVENTS:
            self.lost.append(f"text beyond {LONGEST_TEXT:,} characters")
            text = text[:LONGEST_TEXT]
        return self._reply(0, text)
