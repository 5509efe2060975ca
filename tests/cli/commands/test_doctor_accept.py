"""Test accepted findings, and findings that do not decide the exit status."""

from pathlib import Path

import pytest

from hookline.cli.main import run
from tests.cli.doctor_case import DoctorCase

GUARD = """{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "grep -q rm && exit 2; exit 0"}]}]}}"""
DEAD = """{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./gone.sh"}]}]}}"""
GONE = "command-not-found:gone.sh"
MINE, PROJECT = "~/.config/hookline/hooks.toml", ".hookline/hooks.toml"


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    return DoctorCase(tmp_path, monkeypatch)


def ids(case: DoctorCase, *words: str) -> tuple[list[str], list[str]]:
    """Return the remaining findings, and the accepted ones."""
    document = case.document(words)
    assert document.counts.accepted == len(document.accepted)
    return [one.id for one in document.problems], [one.id for one in document.accepted]


def accept(*findings: str) -> str:
    return f"accept = {list(findings)}\n"


def test_what_is_accepted_is_counted_and_listed_with_the_line_that_says_so(case: DoctorCase) -> None:
    case.write(".claude/settings.json", GUARD)
    ((name,), accepted) = ids(case)
    assert (name.partition(":")[0], accepted) == ("fails-open", [])
    file = case.write(MINE, f"# mine\n{accept(name)}")
    document = case.document()
    assert (document.problems, document.counts.warnings) == ((), 0)
    (one,) = document.accepted
    assert (one.id, one.accepted_by, one.severity) == (name, f"{file}:2", "note")


def test_the_last_line_says_how_many_are_accepted(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write(".claude/settings.json", DEAD)
    words = ("doctor", "--cwd", str(case.project))
    assert run(words) == 1
    assert f"  error .claude/settings.json:1  {GONE}\n" in capsys.readouterr().out
    # The user may accept an error, too.
    case.write(MINE, accept(GONE))
    assert run(words) == 0
    assert capsys.readouterr().out.endswith(": 0 errors, 0 warnings, 0 notes, 1 accepted\n")


def test_a_project_accepts_warnings_about_itself_and_no_errors(case: DoctorCase) -> None:
    case.write(".claude/settings.json", GUARD)
    ((name,), _) = ids(case)
    case.write(PROJECT, accept(name, GONE))
    assert ids(case) == ([], [name])
    # A project cannot accept the same finding in a file of the user, nor an error of its own.
    (case.project / ".claude/settings.json").unlink()
    case.write("~/.claude/settings.json", GUARD)
    assert ids(case) == ([name], [])
    case.write("~/.claude/settings.json", "{}")
    case.write(".claude/settings.json", DEAD)
    assert GONE in ids(case)[0]


def test_an_untrusted_project_accepts_nothing(case: DoctorCase) -> None:
    case.write(".claude/settings.json", GUARD)
    ((name,), _) = ids(case)
    case.write(PROJECT, accept(name))
    case.write("~/.config/hookline/settings.toml", "")
    left, accepted = ids(case)
    assert name in left
    assert accepted == []
    # What it would accept is shown, and can be trusted like everything that loosens.
    assert "needs-trust:.hookline/hooks.toml" in left
    assert run(("trust", "--cwd", str(case.project), "--json")) in (0, 1)


def test_a_place_of_the_user_inside_the_project_is_the_projects(
    case: DoctorCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(case.project / "conf"))
    case.write("~/.config/hookline/settings.toml", "")
    case.write(".claude/settings.json", GUARD)
    case.write("conf/hookline/hooks.toml", accept("fails-open:grep"))
    assert ids(case)[1] == []


def test_the_users_list_counts_whatever_is_asked_about(case: DoctorCase) -> None:
    file = case.write(".claude/settings.json", GUARD)
    ((name,), _) = ids(case)
    case.write(MINE, accept(name))
    assert ids(case, "--dialect", "claude-code") == ([], [name])
    assert ids(case, "--config", str(file)) == ([], [name])


def test_a_named_file_accepts_for_itself(case: DoctorCase) -> None:
    text = '[[hooks.Stop]]\nhooks = [{ command = "true", rewrites = true }]\n'
    file = case.write("ci.toml", text)
    ((name,), _) = ids(case, "--config", str(file))
    case.write("ci.toml", accept(name) + text)
    assert ids(case, "--config", str(file)) == ([], [name])


@pytest.mark.parametrize(
    ("text", "code"), [('accept = "x:y"', "wrong-type"), ('accept = ["fails-open"]', "accepts-nothing")]
)
def test_a_list_that_accepts_nothing_is_said(case: DoctorCase, text: str, code: str) -> None:
    case.write(MINE, text)
    assert [(one.code, one.severity, one.line) for one in case.problems()] == [(code, "warning", 1)]


def test_a_directory_that_was_named_is_what_the_status_is_about(
    case: DoctorCase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write(PROJECT, '[[hooks.Stop]]\nhooks = [{ command = "true" }]\n')
    case.write("~/.claude/settings.json", DEAD)
    assert run(("doctor", "--cwd", str(case.project))) == 0
    assert ": 1 error (1 outside of this project)," in capsys.readouterr().out
    assert run(("doctor", "--cwd", str(case.project), "--dialect", "claude-code")) == 0
    # Where nothing is named, everything is meant.
    monkeypatch.chdir(case.project)
    assert run(("doctor",)) == 1
    assert run(("doctor", "--dialect", "claude-code")) == 1
    assert run(("doctor", "--dialect", "native")) == 0
