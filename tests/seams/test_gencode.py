"""gen-code: every key of its rows, at every event."""

from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.gencode.events import ROWS
from tests.seams import played as s
from tests.seams.compare import ABSENT, Seam, played, problems
from tests.seams.family import CHOSEN, ELSEWHERE, facts, groups, mode, only

_SHARED = ("session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode")


def _keys(event: str) -> tuple[str, ...]:
    return tuple(key.name for key in ROWS[event].sends or ())


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    known = facts(session)
    found: dict[str, dict[str, Any]] = {}
    for event in ROWS:
        if event in known:
            shared = (session.session_id, session.transcript, str(session.project), event, mode(event))
            found[event] = {**dict(zip(_SHARED, shared, strict=True)), **only(known[event], _keys(event))}
    # An empty value is left out there, and the agent that calls a tool is known of subagents only.
    for event in ("Stop", "SubagentStop"):
        found[event]["stop_hook_active"] = ABSENT
    found["PreToolUse"] |= {"agent_id": ABSENT, "agent_type": ABSENT}
    return found


SEAM = Seam(
    dialect="gen-code",
    config=".gen/settings.json",
    write=groups,
    documented={name: frozenset((*_SHARED, *_keys(name))) for name in ROWS},
    wanted=_wanted,
    never=ELSEWHERE & set(ROWS),
    chosen=CHOSEN,
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    assert problems(SEAM, played(SEAM, kind, tmp_path)) == []
