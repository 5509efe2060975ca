"""The native format: every field of the schema of every event's payload."""

from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.truncation import SHORTENED
from hookline.events import EVENTS
from hookline.schemas.payload import COMMON, WHEN_KNOWN, payload_schema
from tests.seams import played as s
from tests.seams.compare import ABSENT, Seam, is_id, played, problems
from tests.seams.family import CHOSEN, ELSEWHERE, facts, groups, mode, of_turn

_VARIABLES = (
    "HOOKLINE_EVENT",
    "HOOKLINE_SESSION_ID",
    "HOOKLINE_CWD",
    "HOOKLINE_PROJECT_DIR",
    "CLAUDE_PROJECT_DIR",
)


def _fields(dump: s.Dump) -> dict[str, Any]:
    return {**dump.document, **{name: dump.env[name] for name in _VARIABLES if name in dump.env}}


def _info(session: s.Played, event: str) -> dict[str, Any]:
    project, sub = str(session.project), event.startswith("Subagent")
    started = event == "SessionStart"
    return {
        **dict(
            zip(
                COMMON,
                (session.session_id, session.transcript, project, event, mode(event)),
                strict=True,
            )
        ),
        **dict.fromkeys(WHEN_KNOWN, ABSENT),
        "model": s.MODEL,
        "turn": ABSENT if started else of_turn(event),
        "prompt_id": ABSENT if started else is_id,
        "agent_type": "general-purpose" if sub else ABSENT,
        **dict(zip(_VARIABLES, (event, session.session_id, project, project, project), strict=True)),
    }


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    return {event: {**_info(session, event), **fields} for event, fields in facts(session).items()}


SEAM = Seam(
    dialect="native",
    config="hooks.json",
    write=groups,
    documented={
        name: frozenset((*payload_schema(row)["properties"], *_VARIABLES)) - {SHORTENED}
        for name, row in EVENTS.items()
    },
    wanted=_wanted,
    never=ELSEWHERE,
    chosen=CHOSEN,
    fields=_fields,
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    assert problems(SEAM, played(SEAM, kind, tmp_path)) == []
