"""A hook of any event about to be understood, for tests that need no process."""

import json
from typing import Any

from msgspec.structs import replace

from hookline.dialects.claude_code import dialect
from hookline.events import EventSpec
from hookline.extending import Decoded, Exited, HookInvocation, RawResult, Replied, SessionInfo
from hookline.handlers.agent import AgentSpec
from hookline.handlers.prompt import PromptSpec
from tests.dialects.claude_code.driver import RECORDED

CLAUDE = dialect(env={"HOME": "/home/user"})

#: TeammateIdle never fired while payloads were recorded.
_UNRECORDED: dict[str, dict[str, Any]] = {
    "TeammateIdle": {"hook_event_name": "TeammateIdle", "teammate_name": "t", "team_name": "x"}
}


def sample(event_name: str, **changes: Any) -> Any:
    """A payload of the event as it was recorded."""
    document = _UNRECORDED.get(event_name)
    if document is None:
        paths = sorted((RECORDED / "payloads").glob(f"{event_name}.*json"))
        plain = [path for path in paths if path.name.startswith(f"{event_name}.Bash.json")] or paths
        document = json.loads(plain[0].read_text())["payload"]
    return CLAUDE.wire.parse({**document, **changes}).payload


def call(
    event_name: str, payload: Any = None, kind: str = "command", spec: Any = None, **hook: Any
) -> HookInvocation:
    row = CLAUDE.events[event_name]
    event: EventSpec[Any] = row.event
    made = replace(CLAUDE.flag_hook(row, "true"), kind=kind, **hook)
    if spec is not None:
        made = replace(made, spec=spec)
    known = payload if payload is not None else sample(event_name)
    return HookInvocation(hook=made, event=event, payload=known, info=SessionInfo(), timeout=1.0)


def exited(event_name: str, stdout: Any = "", stderr: str = "", code: int = 0, **hook: Any) -> Decoded:
    """Return the decision of a command that printed this."""
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return understood(call(event_name, **hook), Exited(code, text.encode(), stderr.encode()))


def specific(event_name: str, code: int = 0, **fields: Any) -> Decoded:
    return exited(event_name, {"hookSpecificOutput": {"hookEventName": event_name, **fields}}, code=code)


def decision(event_name: str, *, agent: bool = False, goes_on: bool = False, **fields: Any) -> Decoded:
    """Return the decision of a model's hook."""
    spec = AgentSpec("x") if agent else PromptSpec("x", None, goes_on)
    asked = call(event_name, kind="agent" if agent else "prompt", spec=spec)
    return understood(asked, Replied(json.dumps(fields).encode()))


def understood(asked: HookInvocation, raw: RawResult) -> Decoded:
    return CLAUDE.wire.decode(asked, raw)
