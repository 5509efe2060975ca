"""Test the end of a turn in an agent with one event for it; and rewrites that an agent does not accept."""

import json
from pathlib import Path

import pytest

from tests.cli.commands.agent_calls import Caller

STOPS = {"claude-code": "Stop", "gen-code": "Stop", "native": "Stop", "docker-agent": "stop"}


@pytest.fixture(params=["process", "daemon"])
def caller(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    return Caller(tmp_path, monkeypatch, daemon=request.param == "daemon")


def _hooks(caller: Caller, **commands: str) -> Path:
    """Hooks that write their names down before anything else."""
    seen = caller.home / "seen"
    caller.write(
        ".hookline/hooks.toml",
        "".join(
            f"[[hooks.{event}]]\nhooks = [{{ command = 'echo {event} >> {seen}; {command}' }}]\n"
            for event, command in commands.items()
        ),
    )
    return seen


@pytest.mark.parametrize(("dialect", "name"), STOPS.items())
def test_gates_are_asked_once_and_first_where_stop_is_all_there_is(
    dialect: str, name: str, caller: Caller
) -> None:
    seen = _hooks(caller, Stop="true", TurnEnd="true")
    reply = caller.call(caller.project, name, dialect=dialect)
    assert seen.read_text().split() == (["Stop"] if dialect == "native" else ["TurnEnd", "Stop"])
    assert (reply.code, reply.stdout) == (0, "")


def test_a_gate_that_blocks_is_what_the_agent_is_told(caller: Caller) -> None:
    seen = _hooks(caller, Stop="echo too late >&2; exit 2", TurnEnd="echo no tests ran >&2; exit 2")
    reply = caller.call(caller.project, "Stop")
    assert json.loads(reply.stdout) == {"decision": "block", "reason": "no tests ran"}
    assert seen.read_text().split() == ["TurnEnd"]


def test_an_agent_with_both_moments_asks_each_hook_at_its_own(caller: Caller) -> None:
    seen = _hooks(caller, Stop="true", TurnEnd="true")
    for event in ("TurnEnd", "Stop"):
        caller.call(caller.project, event, dialect="native")
    assert seen.read_text().split() == ["TurnEnd", "Stop"]


def test_a_rewrite_that_the_agent_does_not_take_is_said(caller: Caller) -> None:
    answer = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "[cut]"}}
    )
    caller.write(
        ".hookline/hooks.toml", f"[[hooks.PostToolUse]]\nhooks = [{{ command = '''echo '{answer}' ''' }}]\n"
    )
    reply = caller.call(caller.project, "PostToolUse", tool_name="Glob", tool_response={"filenames": ["a"]})
    assert (reply.stdout, reply.lost) == ("", ("rewrite",))
    assert caller.remarks == (
        "a hook's rewrite was not applied: Claude Code takes no such value at PostToolUse of Glob",
    )
    assert any("rewrite" in run.dropped for run in caller.runs)
