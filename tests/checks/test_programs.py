"""Test what a command line starts, as far as it is certain."""

from pathlib import Path

import pytest

from hookline.checks.commands.command_line import programs_of
from tests.checks.hooks import claude, here


def starts(project: Path, command: str) -> list[tuple[str, str]]:
    (hook,) = claude(project, "PreToolUse", {"command": command}).hooks
    return [(start.kind, start.word) for start in programs_of(hook, here(project))]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("jq -e .", [("name", "jq")]),
        ("A=1 B=2 jq .", [("name", "jq")]),
        ("exec timeout 5 nice -n 5 ./x.sh", [("file", "./x.sh")]),
        ("env -u A ./x.sh", [("file", "./x.sh")]),
        ("sudo -g grp ./x.sh", [("file", "./x.sh")]),
        ("ionice -c 3 chrt 5 ./x.sh", [("file", "./x.sh")]),
        ("python3 -uB hooks/x.py --y", [("name", "python3"), ("script", "hooks/x.py")]),
        ("/usr/bin/python3 x.py", [("file", "/usr/bin/python3"), ("script", "x.py")]),
        ("python3 -m hooks.x", [("name", "python3")]),
        ("python3 -W error x.py", [("name", "python3")]),
        ("bash -eu x.sh", [("name", "bash"), ("script", "x.sh")]),
        ("node x.mjs", [("name", "node"), ("script", "x.mjs")]),
        ("node --loader y x.mjs", [("name", "node")]),
        ("ruby -e 1", [("name", "ruby")]),
        ("sh x", [("name", "sh")]),
        ("if ./check.sh; then exit 2; fi", [("file", "./check.sh")]),
        ("! grep -q x || exit 2", [("name", "grep")]),
        ("./a.sh | ./b.sh", [("file", "./a.sh"), ("file", "./b.sh")]),
        ("cd x && nosuch; y", [("name", "cd"), ("name", "nosuch"), ("name", "y")]),
        ("cd x && ./a.sh", [("name", "cd")]),
        ("command -v x && x", [("name", "command")]),
        ("x || ./y.sh", [("name", "x")]),
        ("npx prettier .", [("name", "npx")]),
        ("jq . | xargs nosuch", [("name", "jq"), ("name", "xargs"), ("name", "nosuch")]),
        ("$TOOL x", []),
        ('"$(which jq)" .', [("name", "which")]),
        ("for", []),
        ("a" * 70_000, []),
    ],
)
def test_the_programs_that_run_and_their_scripts(
    tmp_path: Path, command: str, expected: list[tuple[str, str]]
) -> None:
    assert starts(tmp_path, command) == expected


@pytest.mark.parametrize(
    "quotes", ['"$CLAUDE_PROJECT_DIR"/a.sh', "$CLAUDE_PROJECT_DIR/a.sh", '"${CLAUDE_PROJECT_DIR}/a.sh"']
)
def test_a_project_with_blanks_in_its_path_is_filled_in(tmp_path: Path, quotes: str) -> None:
    project = tmp_path / "my project's (1)"
    (hook,) = claude(project, "PreToolUse", {"command": quotes}).hooks
    (start,) = programs_of(hook, here(project))
    assert start.paths == (f"{project}/a.sh",)
    assert start.word == "$CLAUDE_PROJECT_DIR/a.sh"


def test_a_relative_path_may_start_here_or_where_the_project_is(tmp_path: Path) -> None:
    (hook,) = claude(tmp_path, "PreToolUse", {"command": "./a.sh"}).hooks
    (start,) = programs_of(hook, here(tmp_path / "sub"))
    assert start.paths == (f"{tmp_path}/sub/a.sh", f"{tmp_path}/a.sh")


def test_without_a_shell_nothing_is_expanded(tmp_path: Path) -> None:
    (hook,) = claude(tmp_path, "PreToolUse", {"command": "~/a.sh", "args": ["$HOME"]}).hooks
    (start,) = programs_of(hook, here(tmp_path))
    assert start.bare
    assert start.paths == (f"{tmp_path}/~/a.sh",)


def test_powershell_is_not_read(tmp_path: Path) -> None:
    (hook,) = claude(tmp_path, "PreToolUse", {"command": "Get-Item x", "shell": "powershell"}).hooks
    assert programs_of(hook, here(tmp_path)) == ()
