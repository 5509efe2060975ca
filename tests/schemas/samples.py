"""Payload documents as the real wire writes them, and rows such as a host may add."""

import dataclasses
import json
from functools import cache, cached_property
from typing import Annotated, Any

import msgspec
from jsonschema import Draft202012Validator

from hookline.dialects.native.events import NativePolicies
from hookline.dialects.native.wire import NativeWire
from hookline.events import Capability, EventSpec, event_table
from hookline.extending import Hook, HookInvocation, SessionInfo


class Checker:
    """A JSON Schema at work, proved to be one. (The types of jsonschema are only half there.)"""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema

    @cached_property
    def _validator(self) -> Any:
        """Made when it is used: every test worker imports what holds one."""
        return _validator(json.dumps(self._schema))

    def mistakes(self, document: object) -> list[str]:
        return [error.message for error in self._validator.iter_errors(document)]

    def valid(self, document: object) -> bool:
        return self._validator.is_valid(document)


@cache
def _validator(schema: str) -> Any:
    """Prove each schema once, however many agents have it."""
    read = json.loads(schema)
    Draft202012Validator.check_schema(read)
    return Draft202012Validator(read)


POLICIES = NativePolicies()

#: One with everything a session can hold, one with nothing.
BUSY = SessionInfo(
    session_id="s", transcript_path="/t", cwd="/w", permission_mode="plan", model="m", prompt_id="p", turn=3,
    agent_id="a", agent_type="t", parent_agent_id="b", depth=1,
)  # fmt: skip
BARE = SessionInfo()


def received(event: EventSpec[Any], payload: Any, info: SessionInfo) -> dict[str, Any]:
    wire = NativeWire()
    hook = Hook(name="h", event=event, policy=POLICIES.of(event), wire=wire, kind="command")
    encoded = wire.encode(HookInvocation(hook=hook, event=event, payload=payload, info=info, timeout=1.0))
    return msgspec.json.decode(encoded.document)


def least(event: EventSpec[Any]) -> Any:
    """A payload with nothing but what it cannot do without."""
    required = {field.name: "x" for field in msgspec.structs.fields(event.payload) if field.required}
    if event.subject in required and event.subjects:
        required[event.subject] = event.subjects[-1]
    return event.payload(**required)


class Part(msgspec.Struct, frozen=True):
    number: int


class Deployment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    stage: Annotated[str, msgspec.Meta(description="Where it goes.")]
    parts: tuple[Part, ...] = ()
    note: str | None = None


@dataclasses.dataclass(frozen=True)
class Rollback:
    stage: str
    steps: int = 1


class Opaque:
    """Nothing that a schema could be made of."""


@dataclasses.dataclass(frozen=True)
class Odd:
    opaque: Opaque
    size: int = 1


DEPLOYING = EventSpec(
    "Deploying", Deployment, "before a deployment.", Capability.BLOCK | Capability.REWRITE | Capability.ANSWER,
    rewrites="parts", subject="stage", subjects=("test", "live"), answer="the ticket",
)  # fmt: skip
ROLLING_BACK = EventSpec("RollingBack", Rollback, "before a rollback.", Capability.CONTEXT, subject="stage")
SIGNAL: EventSpec[dict[str, Any]] = EventSpec("Signal", dict, "when anything happens.", Capability.ENV)
ODD = EventSpec("Odd", Odd, "now and then.", Capability.STOP)

HOSTS = event_table((DEPLOYING, ROLLING_BACK, SIGNAL, ODD))
HOST_PAYLOADS: dict[str, Any] = {
    "Deploying": Deployment(stage="live", parts=(Part(1), Part(2))),
    "RollingBack": Rollback("live"),
    "Signal": {"anything": [1, {"at": "all"}]},
}
