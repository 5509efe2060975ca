"""A call as the engine would hand it to a handler, with the plainest wire there can be."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from hookline import Outcome
from hookline.events import PRE_TOOL_USE, Capability, EventSpec, ToolCall
from hookline.extending import Decoded, Encoded, Hook, HookInvocation, Policy, RawResult, SessionInfo
from hookline.model.wire import NOTHING_SAID

T = TypeVar("T")

POLICY = Policy(event_name="PreToolUse", may=Capability.BLOCK)
BASH = ToolCall(tool_name="Bash", tool_input={"command": "ls"})


class PlainWire:
    """The payload as JSON, and no opinion about answers."""

    def encode(self, call: HookInvocation) -> Encoded:
        return Encoded(msgspec.json.encode(call.payload) + b"\n")

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        return NOTHING_SAID

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        return payload


def call_with(
    spec: Any,
    *,
    kind: str = "test",
    payload: Any = BASH,
    info: SessionInfo | None = None,
    timeout: float = 30.0,
    number: int = 1,
) -> HookInvocation:
    hook = Hook(name="h", event=PRE_TOOL_USE, policy=POLICY, wire=PlainWire(), kind=kind, spec=spec)
    return HookInvocation(
        hook=hook,
        event=PRE_TOOL_USE,
        payload=payload,
        info=info if info is not None else SessionInfo(),
        timeout=timeout,
        number=number,
    )


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Run one async test; nothing may hang."""

    async def limited() -> T:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(limited())
