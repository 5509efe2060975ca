"""Find out how another agent treats what a hook says.

No agent is named here: each thing that the hook's own agent understands at its event is written for the other
agent by that agent's wire, and read back as the agent reads it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from hookline.dialects.dialect import Dialect, DialectEvent
from hookline.model.events import PERMISSION_REQUEST, Capability, EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import (
    Answer,
    ContextItem,
    Halt,
    Message,
    Outcome,
    PermissionUpdate,
    Rewrite,
    Vote,
)
from hookline.model.raw import Exited
from hookline.model.wire import HookInvocation
from hookline.schemas.examples import INFO, example_payload

_RULE: Final = PermissionUpdate(type="addRules", rules=({"toolName": "Bash"},), behavior="allow")


class _Saying(Struct, frozen=True):
    """One thing that a hook can say; `words` as the rest of a sentence that begins with "it cannot"."""

    words: str
    needs: Capability
    outcome: Outcome = Outcome()


_SAYINGS: Final[Mapping[str, _Saying]] = {
    "block": _Saying("block", Capability.BLOCK, Outcome(votes=(Vote("block", "why"),))),
    "ask": _Saying("ask", Capability.PERMIT, Outcome(votes=(Vote("ask", "why"),))),
    "allow": _Saying("allow", Capability.PERMIT, Outcome(votes=(Vote("allow", "why"),))),
    "defer": _Saying("defer", Capability.PERMIT, Outcome(votes=(Vote("defer", "why"),))),
    "rewrite": _Saying("rewrite", Capability.REWRITE),
    "context": _Saying(
        "add text for the model", Capability.CONTEXT, Outcome(context_items=(ContextItem("text"),))
    ),
    "stop": _Saying("end the turn", Capability.STOP, Outcome(halts=(Halt("why"),))),
    "messages": _Saying("show a message", Capability.NOTHING, Outcome(messages=(Message("text"),))),
    "permission_updates": _Saying(
        "change permission rules",
        Capability.RULES,
        Outcome(votes=(Vote("allow"),), permission_updates=(_RULE,)),
    ),
    "watch_paths": _Saying("watch files", Capability.WATCH, Outcome(watch_paths=("/a",))),
    "initial_user_message": _Saying("send a first message", Capability.SEED, Outcome(seeds=("text",))),
    "retry": _Saying("retry", Capability.RETRY, Outcome(retry=True)),
    "env": _Saying("set variables", Capability.ENV, Outcome(env_items=(("A", "b"),))),
    "answer": _Saying("give an answer", Capability.ANSWER, Outcome(answers=(Answer("text"),))),
}


def differences(source: Dialect, hook: Hook, target: Dialect, event: DialectEvent) -> Iterator[str]:
    """Yield what the target cannot do at its event that a hook of the source may ask for, and what it does instead."""
    instead: dict[str, list[str]] = {}
    for name, saying in _SAYINGS.items():
        outcome = _said(name, saying, hook.event)
        if saying.needs and not saying.needs & hook.policy.may & hook.event.may:
            continue
        if source.wire.answer(hook.policy.event_name, outcome, example_payload(hook.event)).lost:
            continue  # its own agent does not understand that either
        effect, words = _effect(name, outcome, target, event), saying.words
        allowed = Outcome(votes=(Vote("allow"),))
        if name == "rewrite" and effect and not _effect(name, allowed + outcome, target, event):
            words = "rewrite without an allow"
        if effect:
            instead.setdefault(effect, []).append(words)
    for effect, cannot in instead.items():
        yield f"{target.title} cannot {_any_of(cannot)} at {event.name}: {effect}"


def _any_of(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _said(name: str, saying: _Saying, event: EventSpec[Any]) -> Outcome:
    if name != "rewrite" or event.rewrites is None:
        return saying.outcome
    return Outcome(edits=(Rewrite(getattr(example_payload(event), event.rewrites), field=event.rewrites),))


def _effect(name: str, outcome: Outcome, target: Dialect, event: DialectEvent) -> str:
    """Return what the target does instead of an outcome; empty if it does what was said."""
    payload = example_payload(event.event)
    reply = target.wire.answer(event.name, outcome, payload)
    if not reply.lost:
        return ""
    hook = target.flag_hook(event, "true")
    raw = Exited(reply.code, reply.stdout.encode(), reply.stderr.encode())
    decoded = hook.wire.decode(HookInvocation(hook, event.event, payload, INFO, 1.0), raw)
    understood = decoded.outcome.clipped(event.policy.may & event.event.may)[0]
    if name != "block" and understood.blocked:
        return "denied instead" if event.event.guard else "blocked instead"
    asks = understood.permission == "ask" or (event.event is PERMISSION_REQUEST and not understood.votes)
    if name in ("ask", "defer") and asks:
        return "" if name == "ask" else "it asks instead"
    return "dropped"
