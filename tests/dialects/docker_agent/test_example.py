"""The example uses everything there is, and is without mistakes."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.docker_agent import dialect
from hookline.dialects.docker_agent.payload import EVENT_KEYS
from hookline.dialects.docker_agent.settings import FIELDS, GROUP_FIELDS, READ_BY
from hookline.documents.document import read_document
from hookline.events import PermissionAsked, ToolCall
from tests.cli.run_cli import clean_env
from tests.dialects.docker_agent.hooks import EXTRA, PAYLOADS, handlers
from tests.dialects.hooked_agent import HookedAgent, read_hooks
from tests.warm_process import run_warm

FILE = Path(__file__).parents[3] / "examples" / "docker-agent" / "agent.yaml"
TEXT = FILE.read_text()
SEED = (
    "session_start", "turn_start", "before_llm_call", "after_llm_call", "pre_tool_use", "post_tool_use",
    "on_user_input", "stop", "notification", "on_error", "on_max_iterations", "session_end",
)  # fmt: skip


#: Where the example's matcher is about another tool.
MATCHED = {
    "permission_request": PermissionAsked(tool_name="read_file"),
    "tool_guard": ToolCall(tool_name="mcp:files"),
}


def hooks() -> dict[str, list[dict[str, Any]]]:
    return read_document(TEXT, "yaml", "agent.yaml").value["agents"]["root"]["hooks"]


def definitions() -> list[dict[str, Any]]:
    entries = [entry for event in hooks().values() for entry in event]
    return [each for entry in entries for each in entry.get("hooks", [entry])]


def test_it_has_no_mistakes():
    assert read_hooks(dialect(), [("agent.yaml", "project", TEXT)], handlers()).diagnostics == ()


def test_it_has_every_event_and_those_of_the_original_design_first():
    assert set(hooks()) == set(dialect().events)
    assert tuple(hooks())[:12] == SEED


def test_it_has_every_kind_of_handler_and_every_field():
    assert {each["type"] for each in definitions()} == set(READ_BY)
    assert {key for each in definitions() for key in each} == set(FIELDS)
    groups = [entry for event in hooks().values() for entry in event if "hooks" in entry]
    assert {key for group in groups for key in group} == set(GROUP_FIELDS)


def test_it_is_known_by_its_shape():
    assert dialect().recognises(read_document(TEXT, "yaml", "x.yaml").value)
    others: list[Any] = [
        {"hooks": {}},
        {"agents": {}},
        {"agents": {"x": 1}},
        {"agents": {"x": {"color": "red"}}},
        [],
        None,
    ]
    for other in others:
        assert not dialect().recognises(other)


def test_the_event_table_the_payload_table_and_the_samples_name_the_same_events():
    assert set(dialect().events) == set(EVENT_KEYS) == set(PAYLOADS)


@pytest.mark.parametrize("event", PAYLOADS)
def test_it_runs_at(event: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    known = handlers(*['{"decision":"allow"}'] * 3)
    agent = HookedAgent(
        dialect(),
        [("agent.yaml", "project", TEXT)],
        handlers=known,
        cwd=str(tmp_path),
        extra=EXTRA.get(event),
    )
    agent.fire(event, MATCHED.get(event, PAYLOADS[event]))
    assert event in {run.dialect_event for run in agent.runs}
    assert {run.dialect for run in agent.runs} == {"docker-agent"}


def test_its_guards_work(tmp_path: Path):
    agent = HookedAgent(
        dialect(),
        [("agent.yaml", "project", TEXT)],
        handlers=handlers('{"decision":"allow"}'),
        cwd=str(tmp_path),
    )
    call = PAYLOADS["pre_tool_use"]
    outcome = agent.fire("pre_tool_use", type(call)(tool_name="shell", tool_input={"cmd": "sudo ls"}))
    assert (outcome.blocked, outcome.reason) == (True, "no sudo")


def test_the_command_of_its_header_shows_the_denial_of_the_guard(tmp_path: Path):
    """As a reader runs it first: without a model, which the hook after the guard would need."""
    (line,) = [each for each in TEXT.splitlines() if each.startswith("#   hookline fire")]
    words = shlex.split(line.removeprefix("#   hookline "))
    ran = run_warm([*words, "--json"], env=clean_env(tmp_path), cwd=FILE.parents[2], timeout=60)
    fired = json.loads(ran.stdout)
    assert (ran.status, fired["outcome"]["reason"]) == (2, "no sudo")
    assert [run["hook"] for run in fired["runs"] if run["status"] == "blocked"] == ["no sudo"]
    assert not [run for run in fired["runs"] if run["status"] in ("failed", "not_started")]


def test_where_its_files_are():
    places = dialect().config_paths("/repo", {"HOME": "/home/me"})
    assert [place.file for place in places if place.scope == "user"] == [
        "/home/me/.config/cagent/config.yaml"
    ]
    assert places[0].file == "/repo/agent.yaml"
