"""Freeze the answers of `hookline hook` to each agent: the bytes that the agent reads, and the exit status."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agents import AGENTS
from tests.cli.run_cli import Ran, Workspace
from tests.frozen.commands import Command

CALLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "denied": ("Bash", {"command": "git push"}),
    "nothing said": ("Bash", {"command": "ls"}),
    "rewritten, with context": ("Bash", {"command": "make"}),
    "asked": ("Write", {"file_path": "a", "content": "b"}),
}


def answer_commands(where: Workspace) -> list[Command]:
    return list(_commands(where).values())


def approved_answers(where: Workspace, done: Sequence[Ran]) -> str:
    answers = (_answer(name, ran) for name, ran in zip(_commands(where), done, strict=True))
    return "\n".join(answers).replace(str(where.home), "/home/ada") + "\n"


def _commands(where: Workspace) -> dict[str, Command]:
    found: dict[str, Command] = {}
    for agent, row in AGENTS.items():
        tool_event, prompt_event = row.gate, row.prompt
        for name, (tool, arguments) in CALLS.items():
            found[f"{agent}: {name}"] = _call(agent, tool_event, where, tool, arguments)
        found[f"{agent}: a prompt"] = _prompt(agent, prompt_event, where)
        if agent != "codewhale":
            found[f"{agent}: a payload that is no JSON"] = _hook(where, agent, tool_event, stdin="{")
        found[f"{agent}: an event it does not have"] = _hook(where, agent, "NoSuchEvent", stdin="{}")
    return found


def _hook(where: Workspace, agent: str, event: str, **given: Any) -> Command:
    return Command(where, ["hook", "--dialect", agent, event], **given)


def _call(agent: str, event: str, where: Workspace, tool: str, arguments: Mapping[str, Any]) -> Command:
    if agent == "codewhale":
        env = {
            "DEEPSEEK_TOOL_NAME": tool,
            "DEEPSEEK_TOOL_ARGS": json.dumps(arguments),
            "DEEPSEEK_WORKSPACE": str(where.project),
        }
        return _hook(where, agent, event, env=env)
    row = AGENTS[agent]
    named = row.shell if tool == "Bash" else tool
    payload = {
        **_common(event, where),
        **row.call(event, named, arguments, str(where.project)),
        "tool_use_id": "t-1",
    }
    return _hook(where, agent, event, stdin=json.dumps(payload))


def _prompt(agent: str, event: str, where: Workspace) -> Command:
    if agent == "codewhale":
        payload: dict[str, Any] = {"text": "hello"}
        env = {"DEEPSEEK_MESSAGE": "hello", "DEEPSEEK_WORKSPACE": str(where.project)}
        return _hook(where, agent, event, stdin=json.dumps(payload), env=env)
    if agent == "reasonix":
        payload = {"event": event, "cwd": str(where.project), "prompt": "hello", "turn": 1}
        return _hook(where, agent, event, stdin=json.dumps(payload))
    return _hook(where, agent, event, stdin=json.dumps({**_common(event, where), "prompt": "hello"}))


def _common(event: str, where: Workspace) -> dict[str, Any]:
    return {
        "session_id": "s-1",
        "transcript_path": "/t",
        "cwd": str(where.project),
        "permission_mode": "default",
        "hook_event_name": event,
    }


def _answer(name: str, ran: Ran) -> str:
    lines = [name, f"exit {ran.status}"]
    lines += [f"stdout {_without_complaint(ran.stdout)}"] if ran.stdout else []
    lines += [f"stderr {_without_complaint(ran.stderr)}"] if ran.stderr else []
    return "\n    ".join(lines)


def _without_complaint(text: str) -> str:
    """Keep only the source of Hookline's own complaints: their text is prose."""
    return re.sub(r"(hookline hook --dialect [\w-]+: )[^\n\"]*", r"\1...", text.rstrip("\n"))
