"""Codex: every key of its rows, at every event."""

from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.codex.events import ROWS
from tests.seams import played as s
from tests.seams.compare import Seam, is_id, played, problems
from tests.seams.family import CHOSEN, facts, groups, only


def _shared(event: str) -> tuple[str, ...]:
    row = ROWS[event]
    return (
        "session_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        *(("turn_id",) if row.in_turn else ()),
        *(("permission_mode",) if row.has_mode and event != "SessionEnd" else ()),
        *(("model",) if event != "SessionEnd" else ()),
        *(("agent_transcript_path",) if event == "SubagentStop" else ()),
    )


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    project = session.project
    used = s.SAID["look"].usage(session.kind)
    counts = {
        "input_tokens": used.input_tokens,
        "cached_input_tokens": used.cache_read_tokens,
        "cache_write_input_tokens": used.cache_write_tokens,
        "output_tokens": used.output_tokens,
        "reasoning_output_tokens": used.reasoning_tokens,
    }
    asked: dict[str, Any] = {
        "status": "completed",
        "error": None,
        "token_usage": {**counts, "total_tokens": used.total_tokens},
    }
    known: dict[str, Any] = {
        **facts(session),
        "Interrupt": {},
        "PreModelRequest": {},
        "PostModelRequest": asked,
    }
    shared: dict[str, Any] = {
        "session_id": session.session_id,
        "transcript_path": session.transcript,
        "cwd": str(project),
        "turn_id": is_id,
        "permission_mode": "default",
        "model": s.MODEL,
        "agent_transcript_path": session.sub_transcript,
    }
    found = {
        event: {**only(shared, _shared(event)), "hook_event_name": event, **only(known[event], row.sends)}
        for event, row in ROWS.items()
    }
    patch = f"*** Begin Patch\n*** Add File: {project / 'made.txt'}\n+made\n*** End Patch\n"
    found["PermissionRequest"] |= {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    return found


SEAM = Seam(
    dialect="codex",
    config=".codex/hooks.json",
    write=groups,
    documented={name: frozenset((*_shared(name), *row.sends)) for name, row in ROWS.items()},
    wanted=_wanted,
    never=frozenset({"Interrupt"}),
    chosen=CHOSEN,
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    assert problems(SEAM, played(SEAM, kind, tmp_path)) == []
