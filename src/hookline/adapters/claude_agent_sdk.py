"""Add hooks to agents of the Claude Agent SDK::

    from hookline.adapters.claude_agent_sdk import with_hooks
    client = ClaudeSDKClient(with_hooks(engine, ClaudeAgentOptions()))

The SDK runs Claude Code, which calls us at its own events. Payloads and answers are those of the `claude-code`
dialect. It has no event for requests to the model, and a prompt can be blocked and added to, but not be rewritten.
"""

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack

from claude_agent_sdk import (
    CanUseToolShadowedWarning,
    ClaudeAgentOptions,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
)
from msgspec.structs import replace as with_changes

from hookline import Engine, HooklineError, Outcome, Session, deny
from hookline.adapters.sessions import AdapterSessions
from hookline.engine.host.conversation import CLOSED
from hookline.engine.host.tool_call import STOPPED
from hookline.engine.memory import host_of
from hookline.events import STOP, TURN_END
from hookline.model.errors import EngineClosedError
from hookline.model.outcome import PASS, ContextItem, Message
from hookline.model.session_info import SessionInfo, SessionOptions
from hookline.model.wire import Parsed

#: The events of the client, and what it does when we do not answer.
_EVENTS: Mapping[str, Literal["block", "continue"]] = {
    "UserPromptSubmit": "block", "PreToolUse": "block", "PermissionRequest": "block", "PostToolUse": "continue",
    "PostToolUseFailure": "continue", "SubagentStart": "continue", "SubagentStop": "continue", "Stop": "continue",
    "PreCompact": "continue", "Notification": "continue",
}  # fmt: skip
#: The events that hooks get here: also those that the events of the client contain.
_FIRED = frozenset({*_EVENTS, "SessionStart", "TurnEnd", "PermissionDenied"})
#: Longer than the 600 seconds that a hook may take: a client that gives up first would let a call
#: pass that a guard still judges.
_SECONDS = 660.0


def with_hooks(
    engine: Engine,
    options: ClaudeAgentOptions | None = None,
    session_id: str = "",
    **info: Unpack[SessionOptions],
) -> ClaudeAgentOptions:
    """Return the options with Hookline's hooks added to their own.

    A session has the id that the client gives it, or `session_id`. Questions, also those of the client's own
    rules, go to PermissionRequest hooks and then to `approve` of the engine, and are denied without one. With
    your own `can_use_tool` the client asks it and those hooks at once.
    """
    if engine.closed:
        raise EngineClosedError
    options = options or ClaudeAgentOptions()
    if options.cwd:
        info = {"cwd": options.cwd, **info}
    callbacks = _Callbacks(engine, session_id, info)
    hooks: dict[Any, list[HookMatcher]] = {name: list(each) for name, each in (options.hooks or {}).items()}
    asks = options.can_use_tool is None and options.permission_prompt_tool_name is None
    for name, failing in _EVENTS.items():
        if name != "PermissionRequest" or not asks:
            ours = HookMatcher(hooks=[callbacks.hook], timeout=_SECONDS, on_failure=failing)
            hooks.setdefault(name, []).append(ours)
    if asks:
        _expect_warning(options)
    return replace(options, hooks=hooks, can_use_tool=callbacks.may_use if asks else options.can_use_tool)


def _expect_warning(options: ClaudeAgentOptions) -> None:
    """Silence the SDK's warning that calls may bypass our `can_use_tool`.

    They do not bypass PreToolUse, so with these options it is wrong; with others, where `can_use_tool`
    may be the program's own, it stays.
    """
    parts = [entry.partition("(") for entry in options.allowed_tools]
    whole = ", ".join(dict.fromkeys(name for name, _, rest in parts if rest in ("", ")", "*)")))
    about = (
        ": permission_mode" if options.permission_mode == "bypassPermissions" else f" for: {whole or 'Skill'}"
    )
    message = re.escape(f"can_use_tool will not be invoked{about}")
    warnings.filterwarnings("ignore", message, CanUseToolShadowedWarning)


class _Callbacks:
    def __init__(self, engine: Engine, session_id: str, info: SessionOptions) -> None:
        self._engine = engine
        self._wire = engine.loader.dialect("claude-code").wire
        self._sessions = AdapterSessions(engine, info, _FIRED)
        self._session_id = session_id
        self._sub_agents: dict[str, Session] = {}
        #: Calls that the client may still ask about, by their ids.
        self._calls: dict[str, Session] = {}

    def _session(self, info: SessionInfo) -> Session:
        """Return the session of the conversation, or of the subagent that the client names."""
        session = self._sessions.of(self._session_id or info.session_id)
        if info.agent_id:
            session = self._sub_agents.get(info.agent_id) or self._engine.session(session.id, session)
            self._sub_agents[info.agent_id] = session
        own = session.info
        session.info = with_changes(
            info, session_id=own.session_id, cwd=info.cwd or own.cwd, depth=own.depth, attended=own.attended,
            project_dir=info.project_dir or own.project_dir, extra=info.extra or own.extra,
        )  # fmt: skip
        return session

    async def hook(self, given: Any, tool_use_id: str | None, _context: Any) -> Any:
        name, parsed = given["hook_event_name"], self._wire.parse(given)
        try:
            outcome = await self._said(name, parsed, tool_use_id or "")
        except EngineClosedError as closed:
            if _EVENTS[name] == "continue":
                raise
            outcome = deny(str(closed))
        if outcome.stop:  # the client does not show why
            outcome += Outcome(messages=(Message(outcome.stop_reason or STOPPED),))
        reply = self._wire.answer(name, outcome, parsed.payload)
        if reply.code:
            raise HooklineError(reply.stderr)
        return json.loads(reply.stdout or "{}")

    async def _said(self, name: str, parsed: Parsed, call_id: str) -> Outcome:
        session, outcome = self._session(parsed.info), PASS
        if session.closed and _EVENTS[name] == "block":
            return deny(CLOSED)
        if name == "UserPromptSubmit" and not host_of(session).started:  # the client does not call us earlier
            begun = await session.start(model=parsed.info.model)
            first = (ContextItem(begun.first_message),) if begun.first_message else ()
            outcome += Outcome(context_items=(*first, *begun.context))
        for recorded in (TURN_END, STOP) if parsed.event is STOP else (parsed.event,):
            if not outcome.blocked:
                outcome += await session.dispatch(recorded, parsed.payload)
        if name == "PreToolUse" and not outcome.blocked:
            self._calls[call_id] = session
        elif name.startswith("PostToolUse"):
            self._calls.pop(call_id, None)
        elif name == "SubagentStop" and not outcome.blocked:
            self._sub_agents.pop(parsed.info.agent_id or "", None)
        return outcome

    async def may_use(self, name: str, given: dict[str, Any], context: Any) -> Any:
        reason = context.decision_reason or context.title or f"{name} needs approval"
        asked = await self._calls[context.tool_use_id].ask(name, given, reason, id=context.tool_use_id)
        if asked.refused is None:
            return PermissionResultAllow(updated_input=asked.arguments)
        return PermissionResultDeny(message=asked.refused.text, interrupt=asked.refused.stop is not None)
