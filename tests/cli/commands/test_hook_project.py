"""Test which project a call of `hookline hook` belongs to: the guard stays, wherever the agent goes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands.agent_calls import DENIES, Caller, decision, gone, reason, repository

GUARD_FILE = ".hookline/hooks.toml"


@pytest.fixture(params=["process", "daemon"])
def caller(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    return Caller(tmp_path, monkeypatch, daemon=request.param == "daemon")


def below(directory: Path) -> Path:
    (directory / "sub" / "deeper").mkdir(parents=True)
    return directory / "sub" / "deeper"


def marked(directory: Path) -> Path:
    (directory / "x").mkdir()
    (directory / "x" / ".git").touch()
    return directory / "x"


def nested(directory: Path) -> Path:
    return repository(directory / "nested")


MOVES: dict[str, Callable[[Path], Path]] = {
    "below it": below,
    "an empty .git": marked,
    "a nested repository": nested,
    "out of it": lambda project: project.parent.parent / "elsewhere",
    "the home": lambda project: project.parent,
    "a directory that is gone": lambda project: gone(project / "gone"),
}


@pytest.mark.parametrize("in_git", [True, False], ids=["git", "no git"])
@pytest.mark.parametrize("move", MOVES.values(), ids=list(MOVES))
def test_the_guard_of_the_session_stays_wherever_the_agent_goes(
    caller: Caller, move: Callable[[Path], Path], in_git: bool
) -> None:
    caller.write(GUARD_FILE, DENIES)
    if in_git:
        repository(caller.project)
    there = move(caller.project)
    caller.call(caller.project, "SessionStart", source="startup")
    assert reason(caller.call(there)) == "no shell here"
    # A subagent has the session of its parent.
    assert decision(caller.call(there, agent_id="a-1", agent_type="Explore")) == "deny"
    # An agent that names no variable at all.
    caller.call(caller.project, "UserPromptSubmit", dialect="reasonix")
    denied = caller.call(there, dialect="reasonix")
    assert (denied.code, denied.stderr) == (2, "no shell here")


@pytest.mark.parametrize("move", MOVES.values(), ids=list(MOVES))
def test_the_variable_of_the_agent_tells_the_project_from_the_first_call_on(
    caller: Caller, move: Callable[[Path], Path]
) -> None:
    caller.write(GUARD_FILE, DENIES)
    there = move(caller.project)
    known = {"CLAUDE_PROJECT_DIR": str(caller.project)}
    assert decision(caller.call(there, env=known)) == "deny"
    # Also where the agent does not say which session it is.
    assert decision(caller.call(there, env=known, session_id="")) == "deny"
    # Reasonix has no such variable: that of another agent around it says nothing about it.
    if there == caller.elsewhere:
        assert caller.call(there, dialect="reasonix", env=known, sessionId="").code == 0


@pytest.mark.parametrize("value", ["relative", "", "/no/such/place", "/etc/passwd", "\0"])
def test_a_variable_that_names_no_directory_says_nothing(caller: Caller, value: str) -> None:
    caller.write(GUARD_FILE, DENIES)
    assert decision(caller.call(caller.project, env={"CLAUDE_PROJECT_DIR": value})) == "deny"
    assert caller.remarks == ()


def test_an_unknown_session_belongs_to_the_nearest_project(caller: Caller) -> None:
    caller.write(GUARD_FILE, DENIES)
    there = below(caller.project)
    assert decision(caller.call(there, session_id="")) == "deny"
    assert decision(caller.call(there)) == "deny"
    # And the session stays there.
    assert decision(caller.call(caller.elsewhere)) == "deny"


def test_hooks_beside_the_directory_it_began_in_count_before_those_of_the_root(caller: Caller) -> None:
    repository(caller.project)
    caller.write(GUARD_FILE, DENIES)
    caller.write(f"package/{GUARD_FILE}", DENIES.replace("no shell here", "none in the package"))
    assert reason(caller.call(caller.project / "package")) == "none in the package"
    assert reason(caller.call(caller.project)) == "none in the package"
    assert reason(caller.call(caller.project, session_id="s-2")) == "no shell here"
    assert reason(caller.call(caller.project / "package", session_id="s-2")) == "no shell here"


def test_without_a_project_the_user_decides_alone(caller: Caller) -> None:
    # The user's own directories do not mark a project, nor does anything above the home.
    caller.write("~/.hookline/hooks.toml", DENIES)
    (caller.home.parent / ".hookline").mkdir()
    (caller.home.parent / GUARD_FILE).write_text(DENIES)
    notes = caller.home / "notes" / "today"
    notes.mkdir(parents=True)
    assert decision(caller.call(notes)) is None
    caller.write("~/.config/hookline/hooks.toml", DENIES.replace("no shell here", "the user says no"))
    assert reason(caller.call(notes)) == "the user says no"


def test_a_session_that_began_outside_of_any_project_has_the_guards_of_where_it_goes(caller: Caller) -> None:
    caller.write(GUARD_FILE, DENIES)
    assert decision(caller.call(caller.elsewhere)) is None
    assert decision(caller.call(caller.project)) == "deny"
    # They are not missed when it leaves.
    assert decision(caller.call(caller.elsewhere)) is None


def test_markers_of_other_users_above_the_directory_do_not_count(caller: Caller) -> None:
    from os import chown, geteuid

    if geteuid() != 0:
        pytest.skip("only root can give files away")
    caller.write(GUARD_FILE, DENIES)
    there = below(caller.project)
    chown(caller.project / ".hookline", 65534, 65534)
    assert decision(caller.call(there, session_id="")) is None
    # The whole tree is theirs: who works there has their project.
    for directory in (there, caller.project):
        chown(directory, 65534, 65534)
    assert decision(caller.call(there, session_id="")) == "deny"


def test_it_is_closed_only_when_the_directory_is_gone_and_nothing_tells_the_project(caller: Caller) -> None:
    caller.write(GUARD_FILE, DENIES)
    there = gone(caller.project / "gone")
    closed = caller.call(there, session_id="")
    assert decision(closed) == "deny"
    assert f"the directory {there} does not exist, and nothing else names the project" in reason(closed)
    elsewhere = caller.call(there, "Stop", session_id="")
    assert (elsewhere.code, elsewhere.stdout) == (1, "")
    assert "does not exist" in elsewhere.stderr
    # Files that the entry names are found without a project.
    named = caller.write("other.toml", DENIES.replace("no shell here", "by name"))
    assert reason(caller.call(there, files=[str(named)], session_id="")) == "by name"


def test_hooks_run_where_the_agent_is_and_are_told_the_project(caller: Caller) -> None:
    seen = caller.home / "seen"
    caller.write(
        GUARD_FILE,
        "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n"
        f"command = 'echo $(pwd -P) $HOOKLINE_PROJECT_DIR >> {seen}'\n",
    )
    caller.call(caller.project)
    caller.call(caller.elsewhere)
    # Nothing can run in a directory that is gone.
    caller.call(gone(caller.project / "gone"))
    here, there = caller.project, caller.elsewhere
    assert seen.read_text().splitlines() == [f"{here} {here}", f"{there} {here}", f"{here} {here}"]


def test_a_variable_that_has_nothing_to_do_with_the_session_is_not_believed(caller: Caller) -> None:
    caller.write(GUARD_FILE, DENIES)
    other = repository(caller.elsewhere / "other")
    caller.call(caller.project)
    lie = {"CLAUDE_PROJECT_DIR": str(other)}
    assert decision(caller.call(caller.project, env=lie)) == "deny"
    (line,) = caller.remarks
    assert f"CLAUDE_PROJECT_DIR is {other}, but the session began in {caller.project}" in line
    assert line in [run.why for run in caller.runs]
    # Reported once in a session.
    assert decision(caller.call(caller.project, env=lie)) == "deny"
    assert caller.remarks == ()
    assert decision(caller.call(caller.elsewhere, env=lie)) == "deny"


def test_a_session_may_go_on_in_another_project_if_agent_and_directory_say_so(caller: Caller) -> None:
    """As with a session that is resumed in another worktree; what guarded it before is missed there."""
    caller.write(GUARD_FILE, DENIES)
    other = repository(caller.elsewhere / "other")
    caller.call(caller.project)
    moved = caller.call(other, env={"CLAUDE_PROJECT_DIR": str(other)})
    assert decision(moved) == "ask"
    assert caller.remarks == ()


def test_a_variable_that_contains_everything_takes_no_guard_away_unseen(caller: Caller) -> None:
    caller.write(GUARD_FILE, DENIES)
    assert decision(caller.call(caller.project)) == "deny"
    for lie in ("/", str(caller.home), str(repository(caller.project / "nested"))):
        there = caller.project / "nested" if lie.endswith("nested") else caller.project
        assert decision(caller.call(there, env={"CLAUDE_PROJECT_DIR": lie})) == "ask"


def test_a_link_to_the_project_that_is_turned_elsewhere_does_not_take_it_along(caller: Caller) -> None:
    caller.write(GUARD_FILE, DENIES)
    link = caller.home / "link"
    link.symlink_to(caller.project)
    known = {"CLAUDE_PROJECT_DIR": str(link)}
    assert decision(caller.call(link, env=known)) == "deny"
    assert caller.remarks == ()
    link.unlink()
    link.symlink_to(caller.elsewhere)
    assert decision(caller.call(caller.project, env=known)) == "deny"
    assert f"the session began in {caller.project}" in caller.remarks[0]


def test_variables_that_disagree_are_named(caller: Caller) -> None:
    caller.write(GUARD_FILE, DENIES)
    env = {"GEN_PROJECT_DIR": str(caller.project), "CLAUDE_PROJECT_DIR": str(caller.elsewhere)}
    assert decision(caller.call(caller.elsewhere, dialect="gen-code", env=env)) == "deny"
    first, second = caller.project, caller.elsewhere
    assert caller.remarks == (
        f"GEN_PROJECT_DIR is {first}, but CLAUDE_PROJECT_DIR is {second}: the first one is used",
        f"GEN_PROJECT_DIR is {first}, and the session is in {second} now: hooks of {first} answer",
    )
