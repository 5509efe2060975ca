"""Events of a host's own in gen-code's files: its engine does not distinguish them from those it has itself."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookline import Engine, Outcome
from hookline.events import Capability, EventSpec
from tests.homes import NOBODYS_HOME


class Deployment(msgspec.Struct, frozen=True):
    target: str
    notes: str = ""


RECORD = EventSpec(
    "Deployed", Deployment, "after a deployment.", Capability.BLOCK | Capability.CONTEXT, subject="target"
)
MAPPING: EventSpec[dict[str, Any]] = EventSpec(
    "Deployed", dict, "after a deployment.", Capability.BLOCK | Capability.CONTEXT
)


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read no hooks of the user who runs the tests."""
    monkeypatch.setenv("HOME", NOBODYS_HOME)


def dispatch(
    project: Path, event: EventSpec[Any], payload: Any, command: str, matcher: str = ""
) -> tuple[Outcome, dict[str, Any]]:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": f"cat > got.json; {command}"}]}
    file = project / ".gen/settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"hooks": {"Deployed": [group]}}))

    async def play() -> Outcome:
        async with Engine(events=[event]) as engine:
            loaded = engine.load(project, None, ["gen-code"], trust=True)
            assert loaded.diagnostics == ()
            return await engine.session("s", cwd=str(project)).dispatch(event, payload)

    outcome = asyncio.run(play())
    got = project / "got.json"
    return outcome, json.loads(got.read_text()) if got.exists() else {}


@pytest.mark.parametrize(
    ("event", "payload"), [(RECORD, Deployment("live")), (MAPPING, {"target": "live", "notes": ""})]
)
def test_a_hook_at_an_event_of_the_host_gets_its_payload_and_blocks(
    tmp_path: Path, event: EventSpec[Any], payload: Any
) -> None:
    outcome, got = dispatch(tmp_path, event, payload, "echo not on Fridays >&2; exit 2")
    assert (outcome.blocked, outcome.reason) == (True, "not on Fridays")
    assert (got["hook_event_name"], got["target"], got["cwd"]) == ("Deployed", "live", str(tmp_path))


def test_its_answer_is_read_as_at_any_event(tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "Deployed", "additionalContext": "it is live"}}
    outcome, _ = dispatch(tmp_path, RECORD, Deployment("live"), f"echo '{json.dumps(answer)}'")
    assert outcome.context == ("it is live",)


@pytest.mark.parametrize(("matcher", "runs"), [("live|beta", True), ("beta", False)])
def test_its_matcher_is_about_the_subject_of_the_event(tmp_path: Path, matcher: str, runs: bool) -> None:
    _, got = dispatch(tmp_path, RECORD, Deployment("live"), "true", matcher)
    assert bool(got) is runs
