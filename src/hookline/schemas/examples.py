"""Make examples of payloads and answers from the event rows, so that the reference shows nothing typed by hand."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from hookline.dialects.family.wire import PayloadError
from hookline.dialects.native.answers import updated_key
from hookline.dialects.native.wire import NativeWire
from hookline.model.events import Capability, EventSpec
from hookline.model.hook import Hook
from hookline.model.payloads import read_value
from hookline.model.policy import Policy
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation
from hookline.schemas.payload import Schema, always_sent, payload_fields

INFO = SessionInfo(
    session_id="s-1",
    transcript_path="/home/ada/.agent/s-1.jsonl",
    cwd="/home/ada/site",
    permission_mode="default",
)

_CALL = {"name": "Bash", "input": {"command": "git push --force"}}
_USAGE = {"input_tokens": 5210, "output_tokens": 318, "cache_read_tokens": 4100}

#: By field, or by `Payload.field` where a name has several meanings.
_VALUES: Mapping[str, Any] = MappingProxyType(
    {
        "action": "accept",
        "agent_id": "a-7",
        "agent_type": "reviewer",
        "command": "npm test",
        "command_args": "42",
        "command_name": "fix-issue",
        "compact_summary": "The login form is done; its tests are not.",
        "content": {"name": "Ada"},
        "cost_usd": 0.42,
        "custom_instructions": "keep the open questions",
        "delta": "All tests pass.",
        "description": "review the change",
        "directory": "/home/ada/shared",
        "duration_ms": 1840,
        "elicitation_id": "e-3",
        "error_type": "server",
        "exit_code": 1,
        "file_path": "/home/ada/site/AGENTS.md",
        "final": True,
        "from_agent": "planner",
        "from_model": "small",
        "input_tokens": 182000,
        "iteration": 2,
        "last_assistant_message": "All tests pass.",
        "max_iterations": 50,
        "mcp_server_name": "tracker",
        "message": "The agent waits for you.",
        "message_id": "m-9",
        "messages": [{"role": "user", "text": "Fix the login form."}],
        "model": "small",
        "name": "fix-login",
        "new_cwd": "/home/ada/site/web",
        "new_mode": "plan",
        "notification_type": "idle",
        "old_cwd": "/home/ada/site",
        "old_mode": "default",
        "prompt": "Fix the login form.",
        "queued_message_count": 1,
        "reason": "force pushes are denied by a rule",
        "response": "All tests pass.",
        "task_description": "Run the whole suite.",
        "task_id": "t-2",
        "task_subject": "tests",
        "team_name": "site",
        "teammate_name": "ben",
        "title": "Waiting",
        "to_agent": "coder",
        "to_model": "large",
        "tool_calls": [_CALL],
        "tool_count": 3,
        "tool_input": _CALL["input"],
        "tool_name": "Bash",
        "tool_response": {"stdout": "Everything up-to-date", "exit_code": 0},
        "tool_use_id": "call-1",
        "tools": ["Read", "Edit", "Bash"],
        "turn": 2,
        "turn_id": "turn-2",
        "usage": _USAGE,
        "worktree_path": "/home/ada/site-fix-login",
        "ConfigEdit.file_path": "/home/ada/.config/hookline/hooks.toml",
        "DirectoryNote.source": "slash_command",
        "ExecStarted.argv": ["git", "push"],
        "ExecStarted.command": "make release",
        "ExecStarted.path": "/usr/bin/git",
        "ExecStarted.program": "git",
        "FileEdit.file_path": "/home/ada/site/package.json",
        "IterationLimit.message": "50 model calls in one turn",
        "Notice.notification_type": "idle",
        "ElicitationRequest.message": "Who should it be assigned to?",
        "RunError.message": "the model did not answer",
        "ShellStart.tool_input": {"command": "npm test"},
        "SubagentBegun.prompt": "Review the change.",
        "ToolBatch.tool_calls": [
            {
                "tool_name": "Bash",
                "tool_input": _CALL["input"],
                "tool_use_id": "call-1",
                "tool_response": "Everything up-to-date",
            }
        ],
        "ToolFailure.error": "exit 1: rejected by the remote",
        "TurnSummary.duration_ms": 48200,
        "TurnFailure.error_details": "429 too many requests",
    }
)

_BY_TYPE: Mapping[str, Any] = {
    "string": "...",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "object": {},
    "array": [],
}


class ExampleAnswer(Struct, frozen=True):
    #: The effect of the answer, by the names of `Capability`.
    does: str
    answer: Mapping[str, Any]


def example_payload(event: EventSpec[Any]) -> Any:
    """Return a payload of the event; None for a host's payload that only the host can make."""
    return _made(event, _example_fields(event))


@cache
def _example_fields(event: EventSpec[Any]) -> Schema:
    named, always = getattr(event.payload, "__name__", ""), always_sent(event)
    known: Schema = {}
    for name, schema in payload_fields(event)[0].items():
        value = _VALUES.get(f"{named}.{name}", _VALUES.get(name))
        if name == event.subject and event.subjects:
            value = event.subjects[0]
        if value is None and name in always:
            value = _BY_TYPE.get(schema.get("type", ""))
        if value is not None:
            known[name] = value
    return known


def bare_payload(event: EventSpec[Any]) -> Any:
    """Return a payload of the event with its required fields only; None if only its host can make one."""
    whole = example_payload(event)
    if not isinstance(whole, Struct):
        return whole
    needed = (each.name for each in msgspec.structs.fields(whole) if each.required)
    return _made(event, {name: getattr(whole, name) for name in needed})


def _made(event: EventSpec[Any], known: Schema) -> Any:
    try:
        return msgspec.convert(known, event.payload, dec_hook=read_value)
    except (msgspec.ValidationError, TypeError):
        return None


def example_document(event: EventSpec[Any], policy: Policy) -> dict[str, Any] | None:
    """Return the document that the wire sends to a hook at this event."""
    payload = example_payload(event)
    if payload is None:
        return None
    wire = NativeWire()
    hook = Hook(name="example", event=event, policy=policy, wire=wire, kind="command")
    try:
        encoded = wire.encode(HookInvocation(hook=hook, event=event, payload=payload, info=INFO, timeout=1.0))
    except PayloadError:
        return None
    return msgspec.json.decode(encoded.document)


def example_answers(event: EventSpec[Any]) -> tuple[ExampleAnswer, ...]:
    """Return one answer for each thing hooks may do at this event; a message for the user is always possible."""
    answers = [
        ExampleAnswer(may_word(may), answer(event)) for may, answer in _ANSWERS.items() if event.may & may
    ]
    message = ExampleAnswer("message", {"systemMessage": "The guard checked this."})
    return (*answers, message)


def may_word(may: Capability) -> str:
    return (may.name or "").lower()


def may_words(event: EventSpec[Any]) -> tuple[str, ...]:
    return tuple(may_word(each) for each in Capability if each & event.may)


def _specific(event: EventSpec[Any], **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event.name, **fields}}


def block_reason(event: EventSpec[Any]) -> str:
    """Return a reason that a hook might give."""
    return "force pushes need a review" if event.subject == "tool_name" else "not like this"


def _block(event: EventSpec[Any]) -> dict[str, Any]:
    reason = block_reason(event)
    if event.may & Capability.PERMIT and event.subject == "tool_name":
        return _specific(event, permissionDecision="deny", permissionDecisionReason=reason)
    return {"decision": "block", "reason": reason}


def _permit(event: EventSpec[Any]) -> dict[str, Any]:
    return _specific(event, permissionDecision="ask", permissionDecisionReason="this changes the remote")


#: A rewritten field as a hook might leave it.
_REWRITES: Mapping[str, Any] = {
    "tool_input": {"command": "git push --force-with-lease"},
    "prompt": "Fix the login form. Do not touch the database.",
    "messages": [{"role": "user", "text": "Fix the login form."}],
    "response": "All tests pass. Nothing was pushed.",
    "tool_response": {"stdout": "[cut]", "exit_code": 0},
}


def rewritten_value(event: EventSpec[Any]) -> Any:
    """Return a rewritten value of the field that hooks may rewrite."""
    field = event.rewrites or ""
    schema = payload_fields(event)[0].get(field, {})
    return _REWRITES.get(field, _BY_TYPE.get(schema.get("type", ""), "..."))


def _rewrite(event: EventSpec[Any]) -> dict[str, Any]:
    return _specific(event, **{updated_key(event.rewrites or ""): rewritten_value(event)})


_SUPPLIED: Mapping[str, Any] = {
    "PreCompact": "The login form is done; its tests are not.",
    "WorktreeCreate": "/home/ada/site-fix-login",
    "PreToolSelection": ["Read", "Edit"],
    "MessageDisplay": "All tests pass. (checked)",
    "Elicitation": {"action": "decline"},
    "ElicitationResult": {"action": "accept", "content": {"name": "Ada"}},
}


def supplied_value(event: EventSpec[Any]) -> Any:
    """Return a value that a hook might supply."""
    return _SUPPLIED.get(event.name, "...")


def _answer(event: EventSpec[Any]) -> dict[str, Any]:
    return _specific(event, answer=supplied_value(event))


_RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "git push:*"}],
    "behavior": "allow",
}

_ANSWERS: Mapping[Capability, Callable[[EventSpec[Any]], dict[str, Any]]] = MappingProxyType(
    {
        Capability.BLOCK: _block,
        Capability.PERMIT: _permit,
        Capability.REWRITE: _rewrite,
        Capability.CONTEXT: lambda event: _specific(
            event, additionalContext="The build is red since Tuesday."
        ),
        Capability.STOP: lambda _event: {"continue": False, "stopReason": "the budget is used up"},
        Capability.RULES: lambda event: _specific(
            event, updatedPermissions=[{**_RULE, "destination": "session"}]
        ),
        Capability.WATCH: lambda event: _specific(event, watchPaths=["/home/ada/site/package.json"]),
        Capability.SEED: lambda event: _specific(event, initialUserMessage="Read the open issues first."),
        Capability.RETRY: lambda event: _specific(event, retry=True),
        Capability.ENV: lambda event: _specific(event, env={"CI": "1"}),
        Capability.ANSWER: _answer,
    }
)
