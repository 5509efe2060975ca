"""Calls of native hooks, without an engine: what a wire gets."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.native.events import NativePolicies
from hookline.dialects.native.wire import NativeWire
from hookline.events import EventSpec
from hookline.extending import Hook, HookInvocation, SessionInfo
from hookline.model import payloads as p

WIRE = NativeWire()
POLICIES = NativePolicies()

#: The payloads that cannot be made without saying something.
_NEEDED: Mapping[str, Any] = {
    "prompt": "hello",
    "tool_name": "Bash",
    "message": "hello",
    "agent_id": "a1",
    "task_id": "t1",
    "source": "user_settings",
    "file_path": "/x/y.txt",
    "old_cwd": "/x",
    "new_cwd": "/y",
    "old_mode": "default",
    "new_mode": "plan",
    "name": "feature",
    "worktree_path": "/w",
    "command_name": "deploy",
    "from_model": "a",
    "to_model": "b",
    "from_agent": "a",
    "to_agent": "b",
    "directory": "/d",
    "mcp_server_name": "m",
    "teammate_name": "t",
    "program": "rm",
}


def payload_for(event: EventSpec[Any]) -> Any:
    needed = {name: _NEEDED[name] for name in event.payload.__struct_fields__ if name in _NEEDED}
    if event.payload in (p.SessionStarted, p.DirectoryNote, p.ModelMove, p.Prompt):
        needed.pop("source", None)
    return event.payload(**needed)


def call(
    event: EventSpec[Any],
    payload: Any = None,
    *,
    kind: str = "command",
    name: str = "guard.sh",
    info: SessionInfo | None = None,
    wire: NativeWire = WIRE,
) -> HookInvocation:
    hook = Hook(name=name, event=event, policy=POLICIES.of(event), wire=wire, kind=kind)
    return HookInvocation(
        hook=hook,
        event=event,
        payload=payload_for(event) if payload is None else payload,
        info=info or SessionInfo(session_id="s1", cwd="/proj", project_dir="/proj"),
        timeout=5,
    )
