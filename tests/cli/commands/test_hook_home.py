"""The user's guards hold in a call whatever HOME says, and where their directory cannot be read it is denied."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli.commands.agent_calls import DENIES
from tests.cli.commands.test_hook_unaffected import without_rights
from tests.cli.run_cli import Ran, clean_env, command_line, run_cli
from tests.homes import NOBODYS_HOME

_WORDS = ("hook", "--dialect", "claude-code", "PreToolUse")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    config = tmp_path / "home" / ".config" / "hookline"
    config.mkdir(parents=True)
    (config / "hooks.toml").write_text(DENIES)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "home"


def payload(home: Path) -> str:
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": str(home.parent / "project")}
    return json.dumps({"hook_event_name": "PreToolUse", "session_id": "s-1", **call})


def reason(ran: Ran) -> str:
    said = json.loads(ran.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    return said["permissionDecisionReason"]


def by(home: Path, words: Sequence[str], env: Mapping[str, str], *before: str) -> Ran:
    done = subprocess.run(
        [*before, *command_line(words)], input=payload(home), text=True, capture_output=True, check=False,
        cwd=home.parent / "project", env={**clean_env(home), **env},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("given", ["/nonexistent", "/tmp", "", "relative", "/proc/self/none"])
def test_a_home_that_the_entry_names_holds_whatever_the_variable_says(home: Path, given: str) -> None:
    env = {"HOME": given, "XDG_CONFIG_HOME": "/nonexistent", "XDG_STATE_HOME": str(home.parent / "project")}
    ran = run_cli([*_WORDS, "--home", str(home)], home.parent / "project", home, stdin=payload(home), env=env)
    assert reason(ran) == "no shell here"
    assert list((home.parent / "project").iterdir()) == [home.parent / "project" / ".git"]


def test_a_call_that_names_no_home_says_which_one_it_uses(home: Path) -> None:
    code = (
        f"import sys; sys.path.append({str(Path(__file__).parents[3])!r}); "
        "from tests.homes import hide_own_home; hide_own_home(); from hookline.app import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *_WORDS], input=payload(home), text=True, capture_output=True, check=False,
        cwd=home.parent / "project", env=clean_env(home),
    )  # fmt: skip
    assert done.stdout == ""  # the user of that home has no guards
    assert f"HOME is {home}, your home directory is {NOBODYS_HOME}: that is used instead" in done.stderr


@pytest.mark.parametrize("closed", [".config/hookline", ".config", "."])
def test_a_directory_without_rights_is_a_denial(home: Path, closed: str) -> None:
    directory = home / closed
    directory.chmod(0)
    try:
        ran = by(home, [*_WORDS, "--home", str(home)], {}, *without_rights())
    finally:
        directory.chmod(0o700)
    assert "hooks.toml" in reason(ran)
    assert "Permission denied" in reason(ran)


def test_a_user_without_an_entry_has_the_home_that_is_theirs_alone(home: Path) -> None:
    """In a name space of users, in which this user has a number that the user database does not know."""
    nobody = ("unshare", "--user", "--map-user=54321")
    if shutil.which("unshare") is None or subprocess.run([*nobody, "true"], check=False).returncode:
        pytest.skip("this system makes no name spaces of users")
    assert reason(by(home, _WORDS, {}, *nobody)) == "no shell here"
    for given in ("/nonexistent", "/tmp", str(home.parent / "project")):
        said = reason(by(home, _WORDS, {"HOME": given}, *nobody))
        assert "the user database has no entry for uid 54321: set HOME" in said
    named = by(home, [*_WORDS, "--home", str(home)], {"HOME": "/tmp"}, *nobody)
    assert reason(named) == "no shell here"
