"""Gemini CLI: every field of its events; those of the model read the same messages as everybody."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.gemini_cli.events import ROWS
from tests.seams import played as s
from tests.seams.compare import ABSENT, Seam, is_time, played, problems

_CALL = ("tool_name", "tool_input", "mcp_context", "original_request_name")
#: What each event has beside what all have, as the client's page lists it.
_OWN: dict[str, tuple[str, ...]] = {
    "SessionStart": ("source",),
    "SessionEnd": ("reason",),
    "BeforeAgent": ("prompt",),
    "AfterAgent": ("prompt", "prompt_response", "stop_hook_active"),
    "BeforeModel": ("llm_request",),
    "BeforeToolSelection": ("llm_request",),
    "AfterModel": ("llm_request", "llm_response"),
    "BeforeTool": _CALL,
    "AfterTool": (*_CALL, "tool_response"),
    "Notification": ("notification_type", "message", "details"),
    "PreCompress": ("trigger",),
}
_SHARED = ("session_id", "transcript_path", "cwd", "hook_event_name", "timestamp")
_VARIABLES = ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID", "CLAUDE_PROJECT_DIR")


def _fields(dump: s.Dump) -> dict[str, Any]:
    return {**dump.document, **{name: dump.env[name] for name in _VARIABLES if name in dump.env}}


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    used, project = s.SAID["done"].usage(session.kind), str(session.project)
    request: dict[str, Any] = {
        "model": s.MODEL,
        "messages": [{"role": "user", "content": s.FIRST}, {"role": "model", "content": s.LOOKING}],
        "config": {},
    }
    response = {
        "text": s.DONE,
        "candidates": [{"content": {"role": "model", "parts": [s.DONE]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": used.input_tokens,
            "candidatesTokenCount": used.output_tokens,
            "totalTokenCount": used.total_tokens,
        },
    }
    call = {"tool_name": "run_shell_command", "mcp_context": ABSENT, "original_request_name": ABSENT}
    error = session.result("broken")
    found: dict[str, dict[str, Any]] = {
        "SessionStart": {"source": "startup"},
        "SessionEnd": {"reason": "other"},
        "BeforeAgent": {"prompt": s.FIRST},
        "AfterAgent": {"prompt": s.FIRST, "prompt_response": s.DONE, "stop_hook_active": False},
        "BeforeModel": {"llm_request": request},
        "BeforeToolSelection": {"llm_request": request},
        "AfterModel": {"llm_request": request, "llm_response": response},
        "BeforeTool": {**call, "tool_input": s.CALLS["ok"][1]},
        "AfterTool": {
            **call,
            "tool_input": s.CALLS["broken"][1],
            "tool_response": {"llmContent": error, "returnDisplay": error, "error": {"message": error}},
        },
        "Notification": {
            "notification_type": "permission_prompt", "message": "Write needs your permission", "details": {},
        },
        "PreCompress": {"trigger": "manual"},
    }  # fmt: skip
    shared: dict[str, Any] = {
        "session_id": session.session_id,
        "transcript_path": session.transcript,
        "cwd": project,
        "timestamp": is_time,
        "GEMINI_PROJECT_DIR": project,
        "GEMINI_CWD": project,
        "GEMINI_SESSION_ID": session.session_id,
        "CLAUDE_PROJECT_DIR": project,
    }
    return {event: {**shared, "hook_event_name": event, **fields} for event, fields in found.items()}


def _has_two(dump: s.Dump) -> bool:
    return len(dump.document["llm_request"]["messages"]) == 2


def _is_done(dump: s.Dump) -> bool:
    return dump.document["llm_response"]["text"] == s.DONE


def _runs(line: str) -> Callable[[s.Dump], bool]:
    def check(dump: s.Dump) -> bool:
        return line in str(dump.document["tool_input"])

    return check


SEAM = Seam(
    dialect="gemini-cli",
    config=".gemini/settings.json",
    write=lambda commands: json.dumps(
        {
            "hooks": {
                name: [{"hooks": [{"type": "command", "command": line}]}] for name, line in commands.items()
            }
        }
    ),
    documented={name: frozenset((*_SHARED, *_VARIABLES, *_OWN[name])) for name in ROWS},
    wanted=_wanted,
    fields=_fields,
    chosen={
        "BeforeModel": _has_two,
        "BeforeToolSelection": _has_two,
        "AfterModel": _is_done,
        "BeforeTool": _runs("printf"),
        "AfterTool": _runs("exit 3"),
    },
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    assert problems(SEAM, played(SEAM, kind, tmp_path)) == []


_EDIT = """
import json, sys
request = json.load(sys.stdin)["llm_request"]
for each in request["messages"]:
    each["content"] = each["content"].replace("first", "1st")
print(json.dumps({"hookSpecificOutput": {"llm_request": {"messages": request["messages"]}}}))
"""


def test_messages_that_a_hook_edits_are_what_the_model_gets(tmp_path: Path) -> None:
    """Calls and results, which it does not get, stay."""
    (script := tmp_path / "edit.py").write_text(_EDIT)
    text = SEAM.write({"BeforeModel": f"python3 {script}"})
    session = s.play(
        tmp_path, "scripted", dialect=SEAM.dialect, config=SEAM.config, files={SEAM.config: text}
    )
    sent = session.requests[1].messages
    assert [each.role for each in sent] == ["user", "assistant", "tool", "tool", "tool", "tool"]
    assert sent[0].text == "1st, please"
