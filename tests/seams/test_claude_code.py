"""Claude Code: every key of its table, at every event."""

from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.claude_code.events import ROWS
from hookline.dialects.claude_code.payload import OWN, WITH_MODE
from tests.seams import played as s
from tests.seams.compare import ABSENT, Seam, is_id, played, problems
from tests.seams.family import CHOSEN, ELSEWHERE, facts, groups, mode, only

_SHARED = (
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "prompt_id",
    "agent_id",
    "agent_type",
    "effort",
)


def _documented(event: str) -> frozenset[str]:
    own = (key.name for key in OWN[event])
    return frozenset((*_SHARED, *(("permission_mode",) if event in WITH_MODE else ()), *own))


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    known, project = facts(session), session.project
    found: dict[str, dict[str, Any]] = {}
    for event in ROWS:
        if event not in known:
            continue
        fields: dict[str, Any] = {
            "session_id": session.session_id,
            "transcript_path": session.transcript,
            "cwd": str(project),
            "hook_event_name": event,
            "prompt_id": ABSENT if event == "SessionStart" else is_id,
            "agent_id": ABSENT,
            "agent_type": ABSENT,
            "effort": ABSENT,
            "permission_mode": mode(event),
            **known[event],
        }
        found[event] = {**dict.fromkeys(_documented(event), ABSENT), **only(fields, _documented(event))}
    written = {**s.CALLS["asked"][1], "file_path": str(project / "made.txt")}
    found["PermissionRequest"]["tool_input"] = written
    found["PermissionDenied"]["tool_input"] = {
        **s.CALLS["refused"][1],
        "file_path": str(project / "other.txt"),
    }
    found["PreCompact"]["custom_instructions"] = None
    found["MessageDisplay"]["index"] = 0
    found["PostToolUseFailure"]["is_interrupt"] = False
    for event in ("Stop", "SubagentStop"):
        found[event] |= {"background_tasks": [], "session_crons": []}
    return found


SEAM = Seam(
    dialect="claude-code",
    config=".claude/settings.json",
    write=groups,
    documented={name: _documented(name) for name in ROWS},
    wanted=_wanted,
    never=ELSEWHERE & set(ROWS),
    chosen=CHOSEN,
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    assert problems(SEAM, played(SEAM, kind, tmp_path)) == []
