"""Docker Agent: every key of its table, at every event; and messages that a hook edits."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.docker_agent.events import rows
from hookline.dialects.docker_agent.payload import EVENT_KEYS
from hookline.model.messages import Assistant
from tests.seams import played as s
from tests.seams.compare import ABSENT, Seam, has, holds, known, or_absent, played, problems

_SHARED = ("session_id", "cwd", "hook_event_name", "agent_name", "model_id", "last_user_message")
_WITH_GROUPS = {row.name for row in rows() if row.tools}
_DOCUMENTED = {
    name: frozenset(
        (*_SHARED, *(key.name for key in keys), *(("tool_error",) if name == "post_tool_use" else ()))
    )
    for name, keys in EVENT_KEYS.items()
}


def _write(commands: Mapping[str, str]) -> str:
    hooks: dict[str, Any] = {}
    for name, line in commands.items():
        entry = {"type": "command", "command": line}
        hooks[name] = [{"hooks": [entry]}] if name in _WITH_GROUPS else [entry]
    return json.dumps({"agents": {"root": {"model": "openai/x", "hooks": hooks}}})


def _given(call: str, project: Path) -> dict[str, Any]:
    tool, given = s.CALLS[call]
    if tool == "Bash":
        return {"tool_name": "shell", "tool_input": {"cmd": given["command"]}}
    path = str(project / given["file_path"])
    return {"tool_name": "write_file", "tool_input": {"path": path, "content": given["content"]}}


def _tool(call: str, project: Path) -> dict[str, Any]:
    return {**_given(call, project), "tool_use_id": call, "tool_category": ABSENT}


def _call(call: str, project: Path) -> dict[str, Any]:
    given = _given(call, project)
    arguments = json.dumps(given["tool_input"], separators=(",", ":"))
    return {"id": call, "type": "function", "function": {"name": given["tool_name"], "arguments": arguments}}


def _counts(used: s.Usage) -> dict[str, Any]:
    names = (
        "input_tokens",
        "output_tokens",
        "cached_input_tokens",
        "cached_write_tokens",
        "reasoning_tokens",
    )
    counts = (
        used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens, used.reasoning_tokens,
    )  # fmt: skip
    return known(dict(zip(names, counts, strict=True)))


def _is_result(given: Any) -> bool:
    return given["stdout"] == s.OUTPUT


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    project, look = session.project, s.SAID["look"]
    first, again = {"last_user_message": s.FIRST}, {"last_user_message": s.SECOND}
    answered = s.SAID["again"].usage(session.kind)
    found: dict[str, dict[str, Any]] = {
        "session_start": {"source": "startup", "last_user_message": ABSENT},
        "user_prompt_submit": {"prompt": s.FIRST, "last_user_message": ABSENT},
        "turn_start": first,
        "before_llm_call": {
            **first,
            "iteration": 2,
            "messages": [
                {"role": "user", "content": s.FIRST},
                {
                    "role": "assistant", "content": s.LOOKING, "reasoning_content": s.REASONING,
                    "tool_calls": [_call(call, project) for call in look.calls],
                },
                *(
                    {"role": "tool", "content": session.result(call), "tool_call_id": call} for call in look.calls
                ),
            ],
        },
        "after_llm_call": {
            **first,
            "stop_response": s.LOOKING,
            "usage": _counts(look.usage(session.kind)),
            "cost": or_absent(look.usage(session.kind).cost_usd),
        },
        "tool_input_transform": {**first, **_tool("ok", project)},
        "tool_guard": {**first, **_tool("ok", project)},
        "pre_tool_use": {**first, **_tool("ok", project)},
        "permission_request": {**first, **_tool("asked", project)},
        "on_tool_approval_decision": {**first, **_tool("refused", project), "approval_decision": "deny"},
        "tool_response_transform": {**first, **_tool("ok", project), "tool_response": _is_result},
        "post_tool_use": {
            **first, **_tool("broken", project), "tool_response": session.result("broken"), "tool_error": True,
        },
        "stop": {**first, "stop_response": s.DONE},
        "turn_end": {**first, "reason": "normal"},
        "subagent_stop": {"last_user_message": s.SUB_PROMPT, "stop_response": s.SUB_ANSWER},
        "on_user_input": first,
        "notification": {
            **first, "notification_level": "info", "notification_message": "Write needs your permission",
        },
        "on_error": {
            "last_user_message": s.THIRD, "notification_level": "error",
            "notification_message": holds(s.ERROR),
        },
        "pre_compact": {**again, "source": "manual"},
        "before_compaction": {
            **again, "input_tokens": answered.total_tokens, "context_limit": ABSENT, "compaction_reason": "manual",
        },
        "after_compaction": {**again, "compaction_reason": "manual", "summary": s.SUMMARY},
        "session_end": {"last_user_message": s.THIRD, "reason": "other"},
    }  # fmt: skip
    shared = {"session_id": session.session_id, "cwd": str(project), "model_id": s.MODEL}
    return {
        event: {
            "hook_event_name": event,
            **shared,
            "agent_name": "general-purpose" if event == "subagent_stop" else "root",
            **fields,
        }
        for event, fields in found.items()
    }


SEAM = Seam(
    dialect="docker-agent",
    config="agent.yaml",
    write=_write,
    documented=_DOCUMENTED,
    wanted=_wanted,
    never=frozenset(
        {
            "user_steering_messages_submit",
            "user_followup_submit",
            "on_max_iterations",
            "on_session_resume",
            "on_agent_switch",
            "worktree_create",
        }
    ),
    chosen={
        "before_llm_call": has(iteration=2),
        **{name: has(tool_use_id="ok") for name in ("tool_input_transform", "tool_guard", "pre_tool_use")},
        "tool_response_transform": has(tool_use_id="ok"),
        "permission_request": has(tool_use_id="asked"),
        "post_tool_use": has(tool_use_id="broken"),
    },
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    assert problems(SEAM, played(SEAM, kind, tmp_path)) == []


_EDIT = """
import json, sys
messages = json.load(sys.stdin)["messages"]
for each in messages:
    each["content"] = each["content"].replace("found it", "***").replace("first", "1st")
    for call in each.get("tool_calls", ()):
        call["function"]["arguments"] = call["function"]["arguments"].replace("echo oh", "echo ah")
messages.append({"role": "user", "content": "be brief"})
print(json.dumps({"hook_specific_output": {"updated_messages": messages}}))
"""


def test_messages_that_a_hook_edits_are_what_the_model_gets(tmp_path: Path) -> None:
    (script := tmp_path / "edit.py").write_text(_EDIT)
    text = _write({"before_llm_call": f"python3 {script}"})
    session = s.play(
        tmp_path, "scripted", dialect="docker-agent", config="agent.yaml", files={"agent.yaml": text}
    )
    sent = session.requests[1].messages
    assert [each.role for each in sent] == ["user", "assistant", "tool", "tool", "tool", "tool", "user"]
    assert (sent[0].text, sent[2].text, sent[-1].text) == ("1st, please", "***", "be brief")
    asked = sent[1]
    assert isinstance(asked, Assistant)
    # What was not edited is as it was, in the agent's own terms.
    assert [(use.name, use.input) for use in asked.tool_calls] == [
        s.CALLS["ok"], ("Bash", {"command": "echo ah; exit 3"}), s.CALLS["asked"], s.CALLS["refused"],
    ]  # fmt: skip
    assert asked.reasoning == s.REASONING
