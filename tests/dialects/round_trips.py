"""Send a decision there and back: every event of every dialect, and everything hooks can answer."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline import Engine, Outcome
from hookline.dialects.native.events import NativePolicies
from hookline.dialects.native.wire import NativeWire
from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from hookline.engine.dispatch import with_whole_values
from hookline.events import Capability, EventSpec
from hookline.extending import (
    CommandSpec,
    Decoded,
    Exited,
    Hook,
    HookInvocation,
    HookReply,
    Policy,
    SessionInfo,
)
from hookline.hook.call.answer import AgentCall
from hookline.model.outcome import Answer, ContextItem, Halt, Message, PermissionUpdate, Rewrite, Vote
from hookline.model.wire import Wire
from hookline.schemas.examples import example_payload

INFO = SessionInfo(
    session_id="s-1", transcript_path="/t.jsonl", cwd="/", permission_mode="default", project_dir="/"
)
_POLICIES = NativePolicies()
_WIRE = NativeWire()

#: Agents for which a result is text.
_TEXT_RESULTS = ("codewhale", "reasonix", "gemini-cli", "copilot-cli")
#: Two names of Docker Agent differ by more than their event.
_EXTRA: Mapping[str, Mapping[str, Any]] = {"on_session_resume": {"new_max_iterations": 40}}
_SOURCES = {"user_steering_messages_submit": "steering", "user_followup_submit": "followup"}


class RecordedEvent(Struct, frozen=True):
    """One of an agent's own event names at one event."""

    dialect: str
    name: str
    event: EventSpec[Any]
    policy: Policy
    wire: Wire

    def __str__(self) -> str:
        same = self.event.name == self.name
        return f"{self.dialect}-{self.name}" + ("" if same else f"-{self.event.name}")

    @property
    def payload(self) -> Any:
        payload = example_payload(self.event)
        if self.name in _SOURCES:
            return replace(payload, source=_SOURCES[self.name])
        if self.name == "tool_response_transform" or self.dialect in _TEXT_RESULTS:
            # There a result is text.
            return replace(payload, tool_response="plain") if hasattr(payload, "tool_response") else payload
        return payload

    def call(self) -> HookInvocation:
        """The agent about to run a command hook."""
        hook = Hook(
            name="asks hookline", event=self.event, policy=self.policy, wire=self.wire, kind="command",
            spec=CommandSpec("hookline hook"), dialect=self.dialect,
        )  # fmt: skip
        info = replace(INFO, extra=_EXTRA.get(self.name))
        return HookInvocation(hook=hook, event=self.event, payload=self.payload, info=info, timeout=60.0)


def recorded_events() -> list[RecordedEvent]:
    found: list[RecordedEvent] = []
    # Hookline's own first.
    for name, listed in sorted(standard_dialects().items(), key=lambda each: each[0] != OWN_FORMAT):
        dialect = listed.build()
        found += [
            RecordedEvent(name, own, own_event.event, own_event.policy, dialect.wire)
            for own in dialect.events
            if own != "ExecStart"  # no agent reports it, and its hooks must name programs
            for own_event in dialect.recorded_events(own)
        ]
    return found


#: What a rewrite leaves of each field.
_REWRITTEN: Mapping[str, Any] = {
    "tool_input": {"command": "git push"},
    "prompt": "Fix it.",
    "messages": [{"role": "user", "text": "Fix it."}],
    "response": "Done.",
    "tool_response": "[cut]",
}
_ANSWERS: Mapping[str, Any] = {
    "Elicitation": {"action": "accept", "content": {"a": 1}},
    "ElicitationResult": {"action": "decline"},
    "PreToolSelection": ["Read"],
}
RULE = PermissionUpdate(
    type="addRules", rules=({"toolName": "Bash"},), behavior="allow", destination="session"
)


def _rewritten(recorded: RecordedEvent) -> Any:
    before: Any = getattr(recorded.payload, "tool_response", None)
    if recorded.event.rewrites == "tool_response" and isinstance(before, dict):
        return {**cast("dict[str, Any]", before), "stdout": "[cut]"}
    return _REWRITTEN[recorded.event.rewrites or ""]


def _after(outcome: Outcome, recorded: RecordedEvent) -> Any:
    """The rewritten field as the engine leaves it."""
    field = recorded.event.rewrites or ""
    signed = replace(outcome, edits=tuple(replace(edit, field=field) for edit in outcome.edits))
    return with_whole_values(signed, getattr(recorded.payload, field, None)).updated(field)


class Saying(Struct, frozen=True):
    """One thing a hook can say: what it needs, the outcome that says it, and how it is found in one."""

    needs: Capability
    says: Callable[[RecordedEvent], Outcome]
    found: Callable[[Outcome, RecordedEvent], Any]


def _vote(kind: Any) -> Callable[[RecordedEvent], Outcome]:
    return lambda _: Outcome(votes=(Vote(kind, "because"),))


def _permission(word: str) -> Callable[[Outcome, RecordedEvent], Any]:
    return lambda outcome, _: outcome.permission if outcome.permission == word else None


SAYINGS: Mapping[str, Saying] = {
    "block": Saying(Capability.BLOCK, _vote("block"), lambda o, _: o.reason if o.blocked else None),
    "ask": Saying(Capability.PERMIT, _vote("ask"), _permission("ask")),
    "allow": Saying(Capability.PERMIT, _vote("allow"), _permission("allow")),
    "defer": Saying(Capability.PERMIT, _vote("defer"), _permission("defer")),
    "rewrite": Saying(
        Capability.REWRITE,
        lambda m: Outcome(edits=(Rewrite(_rewritten(m)),)),
        _after,
    ),
    "context": Saying(
        Capability.CONTEXT,
        lambda _: Outcome(context_items=(ContextItem("one"), ContextItem("two"))),
        lambda o, _: "\n".join(o.context).replace("\n\n", "\n"),
    ),
    "stop": Saying(Capability.STOP, lambda _: Outcome(halts=(Halt("enough"),)), lambda o, _: o.stop_reason),
    "messages": Saying(
        Capability.NOTHING,
        lambda _: Outcome(messages=(Message("psst"),)),
        # Reasonix adds a line for each block.
        lambda o, _: "psst" if "psst" in [message.text for message in o.messages] else None,
    ),
    "permission_updates": Saying(
        Capability.RULES,
        lambda _: Outcome(votes=(Vote("allow"),), permission_updates=(RULE,)),
        lambda o, _: [replace(update, by="") for update in o.permission_updates],
    ),
    "watch_paths": Saying(
        Capability.WATCH, lambda _: Outcome(watch_paths=("/a", "/b")), lambda o, _: o.watch_paths
    ),
    "initial_user_message": Saying(
        Capability.SEED, lambda _: Outcome(seeds=("go",)), lambda o, _: o.initial_user_message
    ),
    "retry": Saying(Capability.RETRY, lambda _: Outcome(retry=True), lambda o, _: o.retry),
    "env": Saying(Capability.ENV, lambda _: Outcome(env_items=(("A", "b c"),)), lambda o, _: o.env),
    "answer": Saying(
        Capability.ANSWER,
        lambda m: Outcome(answers=(Answer(_ANSWERS.get(m.event.name, "/srv/it")),)),
        lambda o, _: o.answer,
    ),
}


class Trip(Struct, frozen=True):
    said: Outcome
    received: HookReply
    understood: Decoded


def travel(recorded: RecordedEvent, outcome: Outcome) -> Trip:
    """The agent's payload in, a native hook that says this, the answer out, and the agent's own reading of it."""
    return asyncio.run(_travel(recorded, outcome))


async def _travel(recorded: RecordedEvent, outcome: Outcome) -> Trip:
    call = recorded.call()
    encoded = recorded.wire.encode(call)
    engine = Engine()

    async def says(_payload: Any) -> Outcome:
        return outcome

    engine.add(recorded.event, says, rewrites=recorded.event.rewrites is not None)
    answering = AgentCall(engine, recorded.dialect, recorded.name, files=(), env=dict(encoded.env))
    try:
        received = await answering.answer(encoded.document)
    finally:
        await engine.close()
    raw = Exited(received.code, received.stdout.encode(), received.stderr.encode())
    understood = recorded.wire.decode(call, raw)
    kept = understood.outcome.clipped(recorded.policy.may & recorded.event.may)[0]
    return Trip(answering.outcome, received, replace(understood, outcome=kept))
