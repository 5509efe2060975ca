"""Grok Build: answers that it would refuse or drop in silence."""

import json
from typing import Any

from hookline.dialects.grok import Grok
from hookline.model.outcome import ContextItem, Outcome, Rewrite, Vote


def answered(tool_input: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    wire = Grok().wire
    payload = {
        "hook_event_name": "PreToolUse",
        "hookEventName": "pre_tool_use",
        "session_id": "s",
        "cwd": "/",
        "tool_name": "run_terminal_command",
        "tool_input": tool_input,
    }
    parsed = wire.parse(payload)
    outcome = Outcome(votes=(Vote("allow"),), edits=(Rewrite(new, field="tool_input"),))
    return json.loads(wire.answer("PreToolUse", outcome, parsed.payload).stdout)["hookSpecificOutput"][
        "updatedInput"
    ]


def test_a_rewrite_keeps_the_field_that_the_tool_requires() -> None:
    """Without it Grok denies: "the updatedInput failed the tool's schema: missing field `description`"."""
    given = {"command": "rm x", "description": "a step", "timeout": 5}
    assert answered(given, {"command": "true"}) == {"command": "true", "description": "a step"}
    assert answered(given, {"command": "true", "description": "mine"})["description"] == "mine"
    assert answered({"command": "rm x"}, {"command": "true"}) == {"command": "true"}


def test_context_with_a_prompt_is_reported_as_lost() -> None:
    for event in ("UserPromptSubmit", "SessionStart"):
        reply = Grok().wire.answer(event, Outcome(context_items=(ContextItem("tests first"),)))
        assert (reply.stdout, list(reply.lost)) == ("", ["context"]), event
