"""Share between the tests of this dialect: its hooks as YAML, one payload per event, a scripted model."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from hookline import Outcome
from hookline.dialects.docker_agent import DockerAgent, dialect
from hookline.extending import (
    Builtin,
    Handler,
    HookInvocation,
    LoadedHooks,
    Run,
    standard_builtins,
    standard_handlers,
)
from hookline.model import payloads as p
from hookline.model.messages import HostMessage, Usage
from tests.dialects.hooked_agent import HookedAgent, read_hooks

TOOL = p.ToolCall(tool_name="shell", tool_input={"cmd": "ls", "cwd": "."}, tool_use_id="call_1")

#: One payload for each of its event names.
PAYLOADS: Mapping[str, Any] = {
    "session_start": p.SessionStarted(source="resume"),
    "user_prompt_submit": p.Prompt(prompt="hello"),
    "user_steering_messages_submit": p.Prompt(prompt="no, the other", source="steering"),
    "user_followup_submit": p.Prompt(prompt="and then", source="followup"),
    "turn_start": p.ModelRequest(messages=(HostMessage(role="user", content="hi"),)),
    "before_llm_call": p.ModelRequest(
        model="openai/gpt-5", messages=(HostMessage(role="user", content="hi"),), iteration=3
    ),
    "after_llm_call": p.ModelResponse(
        model="openai/gpt-5", response="done", usage=Usage(input_tokens=7), cost_usd=0.0
    ),
    "tool_input_transform": TOOL,
    "tool_guard": TOOL,
    "pre_tool_use": TOOL,
    "permission_request": p.PermissionAsked(tool_name="shell", tool_input={"cmd": "ls"}),
    "on_tool_approval_decision": p.PermissionRefused(tool_name="shell", tool_input={"cmd": "ls"}),
    "tool_response_transform": p.ToolResult(tool_name="shell", tool_response="secret"),
    "post_tool_use": p.ToolResult(tool_name="shell", tool_input={"cmd": "ls"}, tool_response="a b"),
    "stop": p.TurnAnswer(last_assistant_message="bye"),
    "turn_end": p.TurnSummary(status="interrupted"),
    "subagent_stop": p.SubagentEnded(
        agent_id="writer", agent_type="writer", last_assistant_message="written"
    ),
    "on_user_input": p.InputAwaited(),
    "notification": p.Notice(message="careful", level="warning"),
    "on_error": p.RunError(message="the model failed"),
    "on_max_iterations": p.IterationLimit(message="20 calls"),
    "on_session_resume": p.IterationLimit(max_iterations=20),
    "on_agent_switch": p.AgentMove(from_agent="root", to_agent="writer"),
    "pre_compact": p.Compaction(trigger="manual"),
    "before_compaction": p.Compaction(trigger="auto", input_tokens=9000, context_limit=10000),
    "after_compaction": p.Compacted(trigger="manual", compact_summary="all done"),
    "worktree_create": p.WorktreeWanted(name="feature"),
    "session_end": p.SessionEnded(reason="logout"),
}
#: What the session must contain for an event to be that one.
EXTRA: Mapping[str, Mapping[str, Any]] = {"on_session_resume": {"new_max_iterations": 40}}


def quiet(_args: tuple[str, ...], _payload: Any, _info: Any) -> None:
    """A builtin that says nothing."""


class ScriptedCompleter:
    """A model whose answers are written down; remembers what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, str, str | None]] = []

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        self.asked.append((prompt, system, model))
        if not self.replies:
            raise RuntimeError("the model is gone")
        return self.replies.pop(0)


def agent_file(hooks: str, flags: str = "") -> str:
    """An agent file with these hooks (and flags) of its only agent."""
    text = "agents:\n  root:\n    model: openai/gpt-5\n" + indent(dedent(flags), "    ")
    return text + "    hooks:\n" + indent(dedent(hooks), "      ")


def handlers(
    *replies: str, builtins: Mapping[str, Builtin] | None = None, model: ScriptedCompleter | None = None
) -> Mapping[str, Handler]:
    known = {**standard_builtins(), **(builtins or {})}
    return standard_handlers(completer=model or ScriptedCompleter(*replies), builtins=known)


def agent_with(
    hooks: str,
    flags: str = "",
    *,
    builtins: Mapping[str, Builtin] | None = None,
    model: ScriptedCompleter | None = None,
    **info: Any,
) -> HookedAgent:
    """A mistake in the hooks is a mistake of the test."""
    agent = agent_with_file(agent_file(hooks, flags), builtins=builtins, model=model, **info)
    assert not agent.reading.diagnostics, [str(each) for each in agent.reading.diagnostics]
    return agent


def agent_with_file(
    text: str,
    *,
    builtins: Mapping[str, Builtin] | None = None,
    model: ScriptedCompleter | None = None,
    **info: Any,
) -> HookedAgent:
    with_model = handlers(builtins=builtins, model=model)
    return HookedAgent(dialect(), [("agent.yaml", "project", dedent(text))], handlers=with_model, **info)


def read_agent(hooks: str, flags: str = "") -> LoadedHooks:
    return read_hooks(dialect(), [("agent.yaml", "project", agent_file(hooks, flags))], handlers())


def entry(event: str, *definitions: str, matcher: str = "*") -> str:
    """Definitions (each one flow-style YAML) at an event, in a group where the event has groups."""
    lines = "".join(f"- {each}\n" for each in definitions)
    if DockerAgent({}).events[event].event.subject != "tool_name" or event == "on_tool_approval_decision":
        return f"{event}:\n{indent(lines, '  ')}"
    return f"{event}:\n  - matcher: {json.dumps(matcher)}\n    hooks:\n{indent(lines, '      ')}"


def command(line: str, **fields: Any) -> str:
    """A command hook in flow style."""
    return json.dumps({"type": "command", "command": line, **fields})


def says(document: Any, **fields: Any) -> str:
    """A command hook that prints this document."""
    text = json.dumps(document).replace("'", "'\\''")
    return command(f"printf '%s' '{text}'", **fields)


def specific(**output: Any) -> dict[str, Any]:
    return {"hook_specific_output": output}


def fire(event: str, *definitions: str, payload: Any = None, **info: Any) -> Outcome:
    return fired(event, *definitions, payload=payload, **info)[0]


def fired(event: str, *definitions: str, payload: Any = None, **info: Any) -> tuple[Outcome, list[Run]]:
    """One dispatch of an event with these hooks, and the runs."""
    info.setdefault("extra", EXTRA.get(event))
    agent = agent_with(entry(event, *definitions), **info)
    outcome = agent.fire(event, PAYLOADS[event] if payload is None else payload)
    return outcome, agent.runs


def seen(directory: Path, name: str = "seen.json") -> dict[str, Any]:
    return json.loads((directory / name).read_text())


def a_call(event: str, payload: Any = None, *definitions: str) -> HookInvocation:
    """A call of a hook at that event, as the engine would make it."""
    agent = agent_with(entry(event, *(definitions or (command("true"),))), extra=EXTRA.get(event))
    hook = agent.reading.hooks[0]
    received = PAYLOADS[event] if payload is None else payload
    return HookInvocation(hook=hook, event=hook.event, payload=received, info=agent.session.info, timeout=60)
