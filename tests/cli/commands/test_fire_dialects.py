"""`hookline fire --dialect` for every dialect: its example, its own event names, its own payloads."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from tests.agents import AGENTS, WITH_FILES
from tests.trusting import trust_all_of
from tests.warm_process import run_warm

ROOT = Path(__file__).parents[3]
EXAMPLES = {name: agent.example for name, agent in AGENTS.items() if agent.example}
#: What a payload cannot do without, as words on the command line.
NEEDED = {
    "tool_name": "tool_name=Bash", "prompt": "prompt=hi", "message": "message=hi", "agent_id": "agent_id=a",
    "task_id": "task_id=1", "file_path": "file_path=/x", "old_cwd": "old_cwd=/", "new_cwd": "new_cwd=/x",
    "old_mode": "old_mode=plan", "new_mode": "new_mode=default", "name": "name=w", "worktree_path": "worktree_path=/w",
    "command_name": "command_name=c", "from_model": "from_model=a", "to_model": "to_model=b",
    "from_agent": "from_agent=a", "to_agent": "to_agent=b", "directory": "directory=/d",
    "mcp_server_name": "mcp_server_name=m", "teammate_name": "teammate_name=t", "source": "source=user_settings",
}  # fmt: skip


#: Names that share an event with others and differ by more than their name.
TOLD_APART = {
    ("docker-agent", "user_steering_messages_submit"): "source=steering",
    ("docker-agent", "user_followup_submit"): "source=followup",
}
#: Runs in a separate process: the command line adopts what hooks leave behind, which a test runner must not.
PLAYER = """
import contextlib, io, json, sys
from hookline.cli.main import run
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(words)
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def user(home: Path) -> dict[str, str]:
    return os.environ | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home),
    }


def fire(home: Path, *commands: list[str]) -> list[tuple[int, dict[str, Any]]]:
    """Return the status and the JSON of each `fire`."""
    ran = [run_warm(["fire", *words, "--json"], cwd=home, env=user(home)) for words in commands]
    return [(each.status, json.loads(each.stdout)) for each in ran]


def fire_all(home: Path, commands: list[list[str]]) -> list[tuple[int, dict[str, Any]]]:
    """Do the same in one process, for many."""
    translated = json.dumps([["fire", *words, "--json"] for words in commands])
    played = subprocess.run(
        [sys.executable, "-c", PLAYER],
        cwd=home,
        env=user(home),
        input=translated,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    answers = [json.loads(line) for line in played.stdout.splitlines()]
    return [(status, json.loads(out)) for status, out, _err in answers]


def words_for(event: Any) -> list[str]:
    required = [field.name for field in msgspec.structs.fields(event.payload) if field.required]
    return [NEEDED[name] for name in required]


def test_every_dialect_has_an_example() -> None:
    assert set(EXAMPLES) == set(WITH_FILES) - {OWN_FORMAT}
    for file in EXAMPLES.values():
        assert (ROOT / "examples" / file).is_file()


@pytest.mark.parametrize("dialect", EXAMPLES)
def test_every_event_of_a_dialect_can_be_fired_under_its_own_name(dialect: str, home: Path) -> None:
    """One command hook by flag: it runs, and gets a document."""
    dialect_events = standard_dialects()[dialect].build().events
    commands = [
        [
            name, *words_for(one.event), *filter(None, [TOLD_APART.get((dialect, name))]),
            "--dialect", dialect, "--hook", f"{name}=cat > {name}.json; echo /w",
        ]
        for name, one in dialect_events.items()
    ]  # fmt: skip
    for name, (_status, fired) in zip(dialect_events, fire_all(home, commands), strict=True):
        (ran,) = fired["runs"]
        assert (ran["dialect"], ran["type"]) == (dialect, "command")
        if (dialect, name) == ("docker-agent", "on_session_resume"):
            assert ran["why"].startswith("not matched: ")  # only a session that goes past its limit has it
            continue
        assert ran["status"] not in ("skipped", "not_started"), (name, ran)
        assert (home / f"{name}.json").exists(), name


@pytest.mark.parametrize("dialect", EXAMPLES)
def test_the_example_is_read_whole_and_its_hooks_are_listed(dialect: str, home: Path) -> None:
    (home / "model.json").write_text("[]")
    dialect_events = standard_dialects()[dialect].build().events
    name = next(name for name, one in dialect_events.items() if one.event.name == "SessionEnd")
    example = str(ROOT / "examples" / EXAMPLES[dialect])
    ((_, fired),) = fire(
        home, [name, "--dialect", dialect, "--config", example, "--model", "scripted:model.json"]
    )
    assert fired["runs"], name
    assert [one for one in fired["diagnostics"] if one["severity"] == "error"] == []


def test_a_name_that_only_one_agent_has_needs_no_dialect(home: Path) -> None:
    (home / ".codewhale").mkdir()
    (home / ".codewhale" / "hooks.toml").write_text(
        '[[hooks]]\nevent = "message_submit"\ncommand = "printf \'{\\"text\\": \\"changed\\"}\'"\n'
    )
    trust_all_of(home, home)
    ((status, fired),) = fire(home, ["message_submit", "prompt=hello"])
    assert (status, fired["outcome"]["updated_prompt"]) == (0, "changed")


def test_a_payload_in_the_agents_own_shape_names_its_event(home: Path) -> None:
    payload = {"event": "TurnEnd", "cwd": str(home), "lastAssistantText": "TODO", "turn": 1}
    (home / "payload.json").write_text(json.dumps(payload))
    hook = "TurnEnd=grep -q TODO && { echo '@@INJECT: finish it'; exit 2; }"
    ((status, fired),) = fire(home, ["--dialect", "reasonix", "--payload", "payload.json", "--hook", hook])
    assert (status, fired["outcome"]["context"]) == (2, ["finish it"])


def test_a_word_in_the_payload_that_is_an_event_name_is_only_a_word(home: Path) -> None:
    (home / "payload.json").write_text('{"prompt": "Stop", "event": "UserPromptSubmit", "cwd": "/tmp"}')
    hook = "UserPromptSubmit=exit 2"
    ((status, fired),) = fire(home, ["--dialect", "reasonix", "--payload", "payload.json", "--hook", hook])
    assert (status, fired["runs"][0]["status"]) == (2, "blocked")


def test_a_file_tells_whose_events_and_payloads_are_meant(home: Path) -> None:
    (home / ".reasonix").mkdir()
    settings = {"hooks": {"UserPromptSubmit": [{"command": "exit 2"}], "Stop": [{"command": "true"}]}}
    (home / ".reasonix" / "settings.json").write_text(json.dumps(settings))
    (home / "payload.json").write_text('{"event": "UserPromptSubmit", "cwd": "/tmp", "prompt": "hi"}')
    given = ["--config", ".reasonix/settings.json"]
    (blocked, _), (_, stopped) = fire(home, ["--payload", "payload.json", *given], ["Stop", *given])
    assert blocked == 2
    assert [run["status"] for run in stopped["runs"]] == ["ok"]


def test_words_may_stand_behind_options(home: Path) -> None:
    hook = ["--hook", "PreToolUse=grep -q secret && exit 2; exit 0"]
    ((status, _),) = fire(home, ["PreToolUse", "Bash", *hook, "command=cat secret"])
    assert status == 2
