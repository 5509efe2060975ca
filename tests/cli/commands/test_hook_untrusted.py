"""Guards of a project that the user has not trusted, inside another agent: it asks, or says so once."""

import json
import os
from pathlib import Path

import pytest

from hookline import Engine
from hookline.trust.trust import Trust
from tests.cli.commands.agent_calls import DENIES, Caller, decision, reason

GUARD_FILE = ".hookline/hooks.toml"
GUARD = """
[[hooks.PreToolUse]]
matcher = "Bash|bash"
[[hooks.PreToolUse.hooks]]
command = "touch ran; exit 2"

[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
command = "touch ran"
"""


@pytest.fixture(params=["process", "daemon"])
def caller(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    made = Caller(tmp_path, monkeypatch, daemon=request.param == "daemon")
    (made.home / ".config/hookline/settings.toml").unlink()
    return made


def ran(caller: Caller) -> bool:
    return (caller.project / "ran").exists()


def test_a_guard_that_may_not_run_asks_where_the_agent_can_ask(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, GUARD)
    for _ in range(2):
        asked = caller.call(caller.project)
        assert decision(asked) == "ask"
        assert f"{file}:4 did not run: you have not trusted it. Run" in reason(asked)
        assert "hookline trust" in reason(asked)
    # Only where it concerns the call.
    assert decision(caller.call(caller.project, tool_name="Read", tool_input={"file_path": "/x"})) is None
    assert not ran(caller)


def test_a_variable_does_not_vouch_for_it(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the project could set it for the agent."""
    caller.write(GUARD_FILE, GUARD)
    trust = Trust(str(caller.project), os.environ)
    hooks = Engine().loader.directory(str(caller.project), ["native"], trust=trust).hooks
    from hookline.trust.items import group_hashes

    monkeypatch.setenv("HOOKLINE_TRUST", ",".join(group_hashes([trust.item(hook) for hook in hooks])))
    assert decision(caller.call(caller.project)) == "ask"
    assert not ran(caller)


def test_elsewhere_it_is_said_each_time(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, GUARD)
    for _ in range(2):
        said = json.loads(caller.call(caller.project, "UserPromptSubmit").stdout)
        assert f"{file}:8 did not run: you have not trusted it. Run" in said["systemMessage"]
    assert "systemMessage" in caller.call(caller.project, "UserPromptSubmit", session_id="s-2").stdout
    assert not ran(caller)


def test_an_agent_that_shows_no_messages_says_it_on_stderr(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, GUARD)
    for _ in range(2):
        assert caller.call(caller.project, dialect="reasonix").code == 0
        (line,) = caller.remarks
        assert f"{file}:4 did not run: you have not trusted it. Run" in line


def test_a_guard_of_an_agent_that_cannot_ask_asks_in_one_that_can(caller: Caller) -> None:
    entry = {"match": "bash|Bash", "command": "touch ran; exit 2"}
    caller.write(".reasonix/settings.json", json.dumps({"hooks": {"PreToolUse": [entry]}}))
    assert decision(caller.call(caller.project)) == "ask"
    assert not ran(caller)


def test_hooks_that_nobody_waits_for_guard_nothing(caller: Caller) -> None:
    caller.write(GUARD_FILE, GUARD.replace("command =", "async = true\ncommand ="))
    assert decision(caller.call(caller.project)) is None
    assert not ran(caller)


def test_what_only_tightens_counts_and_is_missed_when_it_goes(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, f'{DENIES}name = "Dear model"\n')
    denied = caller.call(caller.project)
    assert decision(denied) == "deny"
    assert "no shell here" not in reason(denied)
    file.unlink()
    asked = caller.call(caller.project)
    assert decision(asked) == "ask"
    assert f"a rule of this project ({file}" in reason(asked)
    assert "Dear model" not in reason(asked)


def test_a_guard_that_never_ran_is_not_missed(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, GUARD)
    assert decision(caller.call(caller.project)) == "ask"
    file.unlink()
    assert decision(caller.call(caller.project)) is None


def test_a_store_that_is_damaged_trusts_nothing_and_says_so_once(caller: Caller) -> None:
    caller.write(GUARD_FILE, GUARD)
    trust = Trust(str(caller.project), os.environ)
    hooks = Engine().loader.directory(str(caller.project), ["native"], trust=trust).hooks
    trust.accept([trust.item(hook) for hook in hooks])
    assert decision(caller.call(caller.project)) == "deny"
    assert ran(caller)
    (file,) = (caller.home / ".local/state/hookline/trust").glob("*.json")
    file.write_text(file.read_text()[:-9])
    # It was active before, and may not run now.
    assert decision(caller.call(caller.project)) == "ask"
    (line,) = caller.remarks
    assert f"{file} is not used: it is damaged" in line
    assert decision(caller.call(caller.project)) == "ask"
    assert caller.remarks == ()


def test_a_link_in_the_project_does_not_take_a_guard_of_the_user_away(caller: Caller) -> None:
    """The calling agent runs the hooks of its own files itself, but not those of another agent's files."""
    guard = {"PreToolUse": [{"command": "exit 2", "match": "*"}]}
    users = caller.write("~/.reasonix/settings.json", json.dumps({"hooks": guard}))
    assert decision(caller.call(caller.project)) == "deny"
    directory = caller.project / ".claude"
    directory.mkdir()
    (directory / "settings.local.json").symlink_to(os.path.relpath(users, directory))
    assert decision(caller.call(caller.project, session_id="s-2")) == "deny"
    # The directory may be a link as well.
    (directory / "settings.local.json").unlink()
    directory.rmdir()
    directory.symlink_to("../.reasonix")
    assert decision(caller.call(caller.project, session_id="s-3")) == "deny"
