"""What an exit means in Reasonix: 0 passes, 2 blocks at a gate, all else warns, and each is told in one line."""

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.reasonix.events import CAPTURED, LONGEST_TEXT, TEXT_EVENTS
from hookline.dialects.reasonix.markers import Marked, read_markers
from hookline.handlers.command import CommandSpec
from hookline.model.outcome import GO_ON, ContextItem, Message, Outcome, Vote
from hookline.model.raw import Broke, Exited
from hookline.model.wire import NOTHING_SAID, Call, Decoded

_LONGEST_COMMAND = 60


class Printed(Struct, frozen=True):
    """Both streams as Reasonix sees them: cut, decoded at the end, trimmed."""

    stdout: str
    stderr: str
    cut: bool


def printed(raw: Exited | Broke) -> Printed:
    cut = raw.truncated or len(raw.stdout) > CAPTURED or len(raw.stderr) > CAPTURED
    return Printed(_text(raw.stdout), _text(raw.stderr), cut)


def read_exit(call: Call, raw: Exited, *, gate: bool) -> Decoded:
    said = printed(raw)
    if raw.code == 0:
        return _passed(call, said)
    if raw.code == 2 and gate:
        return _blocked(call, said)
    first = said.stderr.partition("\n")[0][:300]
    failure = Broke(
        "crashed",
        f"exit {raw.code}: {first}" if first else f"exit {raw.code}",
        raw.stdout,
        raw.stderr,
        raw.code,
        truncated=said.cut,
        queue_ms=raw.queue_ms,
        words=message_line(call, "warn", said.stderr or said.stdout, cut=said.cut),
    )
    return Decoded(_any_exit(call, said), failure)


def read_failure(call: Call, raw: Broke, *, gate: bool) -> Decoded:
    """No exit at all. The agent fills an empty stderr with what it knows."""
    said = printed(raw)
    known = {"timed_out": f"hook timed out after {call.timeout * 1000:.0f}ms", "not_started": raw.detail}
    detail = said.stderr or known.get(raw.cause, "") or said.stdout or raw.detail
    if gate and call.hook.reaction(raw.cause) == "block":
        line = message_line(call, "block", detail, cut=said.cut)
        return Decoded(_beside_block(call, said, detail, line), replace(raw, words=detail))
    decision = "error" if raw.cause == "not_started" else "warn"
    line = message_line(call, decision, detail, cut=said.cut)
    return Decoded(_any_exit(call, said), replace(raw, words=line))


def message_line(call: Call, decision: str, detail: str, *, cut: bool) -> str:
    hook = call.hook
    spec = hook.spec
    command = spec.command if isinstance(spec, CommandSpec) else hook.name
    if len(command) > _LONGEST_COMMAND:
        command = f"{command[:_LONGEST_COMMAND]}…"
    scope = "global" if hook.scope == "user" else hook.scope
    mark = " (output truncated at 256KB)" if cut else ""
    return f"hook {scope}/{hook.policy.event_name} `{command}` {decision}{mark}" + (
        f": {detail}" if detail else ""
    )


def _passed(call: Call, said: Printed) -> Decoded:
    event_name = call.hook.policy.event_name
    if not said.stdout:
        return NOTHING_SAID
    if event_name in TEXT_EVENTS:
        text = said.stdout[:LONGEST_TEXT]
        ignored = (f"text beyond {LONGEST_TEXT:,} characters",) if text != said.stdout else ()
        return Decoded(Outcome(context_items=(ContextItem(text),)), ignored=ignored)
    outcome = _any_exit(call, said)
    if event_name == "TurnEnd":
        marked = read_markers(said.stdout)
        ignored = ("@@INJECT without a block",) if marked.inject else ()
        return Decoded(outcome, ignored=ignored + (("stdout",) if marked.rest else ()))
    return Decoded(outcome, ignored=() if outcome is not GO_ON else ("stdout",))


def _blocked(call: Call, said: Printed) -> Decoded:
    marked = _marked(call, said)
    reason = said.stderr or marked.rest or marked.inject
    reason = reason or f"hook {call.hook.name} blocked (exit 2) and gave no reason"
    line = message_line(call, "block", said.stderr or marked.rest, cut=said.cut)
    beside = _beside_block(call, said, reason, line)
    return Decoded(beside + Outcome(votes=(Vote("block", reason),)))


def _beside_block(call: Call, said: Printed, reason: str, line: str) -> Outcome:
    """The line for the user, and at TurnEnd what the model goes on with: a message as if the user wrote it."""
    marked = _marked(call, said)
    messages = (Message(line), *(Message(text) for text in marked.warnings))
    if call.hook.policy.event_name != "TurnEnd":
        return Outcome(messages=messages)
    text = marked.inject or (
        f"[TurnEnd gate] The previous response was rejected. Reason: {reason}\n"
        "Correct it, then finish the turn."
    )
    return Outcome(context_items=(ContextItem(text),), messages=messages)


def _any_exit(call: Call, said: Printed) -> Outcome:
    """What counts however the hook ended, as long as it blocks nothing."""
    if call.hook.policy.event_name == "PreCompact" and said.stdout:
        return Outcome(context_items=(ContextItem(said.stdout),))
    warnings = _marked(call, said).warnings
    return Outcome(messages=tuple(Message(text) for text in warnings)) if warnings else GO_ON


def _marked(call: Call, said: Printed) -> Marked:
    return read_markers(said.stdout) if call.hook.policy.event_name == "TurnEnd" else Marked(rest=said.stdout)


def _text(output: bytes) -> str:
    return output[:CAPTURED].decode("utf-8", "replace").strip()
