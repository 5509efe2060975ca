"""What it takes to send a decision there and back: every moment of every dialect, and everything hooks can say."""

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
from hookline.events import EVENTS, EventSpec, May
from hookline.extending import Call, CommandSpec, Decoded, Exited, Hook, HookReply, Policy, Scene
from hookline.model.outcome import Answer, ContextItem, Edit, Halt, Message, PermissionUpdate, Vote
from hookline.model.wire import Wire
from hookline.resident.call.answer import AgentCall
from hookline.schemas.examples import example_payload

SCENE = Scene(
    session_id="s-1", transcript_path="/t.jsonl", cwd="/", permission_mode="default", project_dir="/"
)
_POLICIES = NativePolicies(EVENTS.values())
_WIRE = NativeWire()

#: Two names of Docker Agent are told apart by more than the moment they stand for.
_EXTRA: Mapping[str, Mapping[str, Any]] = {"on_session_resume": {"new_max_iterations": 40}}
_SOURCES = {"user_steering_messages_submit": "steering", "user_followup_submit": "followup"}


class Moment(Struct, frozen=True):
    """One of an agent's own event names at one moment."""

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
        if self.name == "tool_response_transform" or self.dialect in ("codewhale", "reasonix", "gemini-cli"):
            # There a result is text.
            return replace(payload, tool_response="plain") if hasattr(payload, "tool_response") else payload
        return payload

    def call(self) -> Call:
        """The agent about to run a command hook."""
        hook = Hook(
            name="asks hookline", event=self.event, policy=self.policy, wire=self.wire, kind="command",
            spec=CommandSpec("hookline hook"), dialect=self.dialect,
        )  # fmt: skip
        scene = replace(SCENE, extra=_EXTRA.get(self.name))
        return Call(hook=hook, event=self.event, payload=self.payload, scene=scene, timeout=60.0)


def moments() -> list[Moment]:
    found: list[Moment] = []
    # Hookline's own first.
    for name, listed in sorted(standard_dialects().items(), key=lambda each: each[0] != OWN_FORMAT):
        dialect = listed.build()
        found += [
            Moment(name, own, own_event.event, own_event.policy, dialect.wire)
            for own in dialect.events
            for own_event in dialect.moments(own)
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


def _rewritten(moment: Moment) -> Any:
    before: Any = getattr(moment.payload, "tool_response", None)
    if moment.event.rewrites == "tool_response" and isinstance(before, dict):
        return {**cast("dict[str, Any]", before), "stdout": "[cut]"}
    return _REWRITTEN[moment.event.rewrites or ""]


def _after(outcome: Outcome, moment: Moment) -> Any:
    """The rewritten field as the engine leaves it."""
    field = moment.event.rewrites or ""
    signed = replace(outcome, edits=tuple(replace(edit, field=field) for edit in outcome.edits))
    return with_whole_values(signed, getattr(moment.payload, field, None)).updated(field)


class Saying(Struct, frozen=True):
    """One thing a hook can say: what it needs, the outcome that says it, and how it is found in one."""

    needs: May
    says: Callable[[Moment], Outcome]
    found: Callable[[Outcome, Moment], Any]


def _vote(kind: Any) -> Callable[[Moment], Outcome]:
    return lambda _: Outcome(votes=(Vote(kind, "because"),))


def _permission(word: str) -> Callable[[Outcome, Moment], Any]:
    return lambda outcome, _: outcome.permission if outcome.permission == word else None


SAYINGS: Mapping[str, Saying] = {
    "block": Saying(May.BLOCK, _vote("block"), lambda o, _: o.reason if o.blocked else None),
    "ask": Saying(May.PERMIT, _vote("ask"), _permission("ask")),
    "allow": Saying(May.PERMIT, _vote("allow"), _permission("allow")),
    "defer": Saying(May.PERMIT, _vote("defer"), _permission("defer")),
    "rewrite": Saying(
        May.REWRITE,
        lambda m: Outcome(edits=(Edit(_rewritten(m)),)),
        _after,
    ),
    "context": Saying(
        May.CONTEXT,
        lambda _: Outcome(context_items=(ContextItem("one"), ContextItem("two"))),
        lambda o, _: "\n".join(o.context).replace("\n\n", "\n"),
    ),
    "stop": Saying(May.STOP, lambda _: Outcome(halts=(Halt("enough"),)), lambda o, _: o.stop_reason),
    "messages": Saying(
        May.NOTHING,
        lambda _: Outcome(messages=(Message("psst"),)),
        # Reasonix adds a line of its own for each block.
        lambda o, _: "psst" if "psst" in [message.text for message in o.messages] else None,
    ),
    "permission_updates": Saying(
        May.RULES,
        lambda _: Outcome(votes=(Vote("allow"),), permission_updates=(RULE,)),
        lambda o, _: [replace(update, by="") for update in o.permission_updates],
    ),
    "watch_paths": Saying(May.WATCH, lambda _: Outcome(watch_paths=("/a", "/b")), lambda o, _: o.watch_paths),
    "initial_user_message": Saying(
        May.SEED, lambda _: Outcome(seeds=("go",)), lambda o, _: o.initial_user_message
    ),
    "retry": Saying(May.RETRY, lambda _: Outcome(retry=True), lambda o, _: o.retry),
    "env": Saying(May.ENV, lambda _: Outcome(env_items=(("A", "b c"),)), lambda o, _: o.env),
    "answer": Saying(
        May.ANSWER,
        lambda m: Outcome(answers=(Answer(_ANSWERS.get(m.event.name, "/srv/it")),)),
        lambda o, _: o.answer,
    ),
}


class Trip(Struct, frozen=True):
    said: Outcome
    told: HookReply
    understood: Decoded


def travel(moment: Moment, outcome: Outcome) -> Trip:
    """The agent's payload in, a native hook that says this, the answer out, and the agent's own reading of it."""
    return asyncio.run(_travel(moment, outcome))


async def _travel(moment: Moment, outcome: Outcome) -> Trip:
    call = moment.call()
    encoded = moment.wire.encode(call)
    engine = Engine()

    async def says(_payload: Any) -> Outcome:
        return outcome

    engine.add(moment.event, says, rewrites=True)
    answering = AgentCall(engine, moment.dialect, moment.name, files=(), env=dict(encoded.env))
    try:
        told = await answering.answer(encoded.document)
    finally:
        await engine.close()
    raw = Exited(told.code, told.stdout.encode(), told.stderr.encode())
    understood = moment.wire.decode(call, raw)
    kept = understood.outcome.clipped(moment.policy.may & moment.event.may)[0]
    return Trip(answering.outcome, told, replace(understood, outcome=kept))
