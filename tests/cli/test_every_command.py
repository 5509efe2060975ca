"""Test what every command has in common: help, errors, pipes, interrupts, colours, and start-up cost."""

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.cli.output import Progress, paint, show_part
from hookline.config.commands import COMMANDS
from tests.cli.golden import check_golden
from tests.cli.run_cli import Workspace, clean_env, command_line, run_cli, run_here
from tests.every import every
from tests.waiting import wait_until
from tests.warm_process import warm_path

GUARD = """\
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "guard"
command = "true"
"""
#: Words that make each command print something; a command that is not there yet is not asked.
SHOWING = {
    "doctor": [], "list": [], "fire": ["Stop"], "explain": ["Stop"], "events": [], "schema": [],
    "guard": ["add", "force-push"],
    "convert": [".claude/settings.json", "--to", "codex"], "install": ["claude-code"], "uninstall": [],
    "trust": [], "log": [], "completion": ["bash"], "docs": [],
}  # fmt: skip
HEAVY = (
    "http",
    "httpx2",
    "yaml",
    "re2",
    "hookline.shell.walk.lines",
    "pydantic",
    "rich",
    "mcp",
    "asyncio",
    "msgspec",
    "shutil",
)


def test_help_lists_every_command_in_the_order_of_the_table(where: Workspace) -> None:
    ran = run_cli(["--help"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    more = run_cli(["help", "more"], where.project, where.home)
    assert (more.status, more.stderr) == (0, "")
    listed = re.findall(r"^  (\w+) {2,}\S", ran.stdout, re.MULTILINE)
    assert [*listed, *re.findall(r"^  (\w+) {2,}\S", more.stdout, re.MULTILINE)] == list(COMMANDS)
    groups = re.findall(r"^(\w+):", ran.stdout, re.MULTILINE)
    assert groups[1:6] == ["check", "guard", "agents", "team", "more"]
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("more: ")]
    assert (
        line
        == f"more: `hookline help more` lists {', '.join(name for name in COMMANDS if name not in listed)}"
    )
    assert "examples:\n" in ran.stdout


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["help"], ["--help"]), (["help", "fire"], ["fire", "--help"]), (["help", "--help"], ["--help"]),
        (["help", "docter"], ["docter"]), (["help", "install", "--yes"], ["install", "--help"]),
    ],
)  # fmt: skip
def test_help_of_a_command_is_its_help_and_does_nothing_else(
    words: list[str],
    same: list[str],
    where: Workspace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claude = where.home / ".claude"
    claude.mkdir()
    ran, other = (run_here(each, where, capsys, monkeypatch) for each in (words, same))
    assert (ran.status, ran.stdout, ran.stderr) == (other.status, other.stdout, other.stderr)
    assert ("did you mean 'doctor'?" in ran.stderr) == ("docter" in words)
    assert os.listdir(claude) == []


def test_alone_it_prints_its_help(where: Workspace) -> None:
    alone = run_cli([], where.project, where.home)
    assert alone.stdout == run_cli(["--help"], where.project, where.home).stdout
    assert (alone.status, alone.stderr) == (1, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_that_fits(
    command: str, where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here([command, "--help"], where, capsys, monkeypatch)
    assert (ran.status, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"usage: hookline {command}")
    assert f"examples:\n  {'source <(' if command == 'completion' else ''}hookline {command}" in ran.stdout
    assert "exit status: " in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 120


@every("command", ["", *COMMANDS])
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        "import sys; from hookline.cli.main import run\n"
        "try: run(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    words = [command, "--help"] if command else ["--help"]
    ran = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.startswith("usage: hookline")
    assert ran.stderr == "[]\n"


@pytest.mark.parametrize(
    ("word", "translated"),
    [
        ("docter", "did you mean 'doctor'?"),
        ("fyre", "did you mean 'fire'?"),
        ("EVENTS", "did you mean 'events'?"),
        ("zzzzzz", "`hookline --help` lists them"),
        ("x\x1b[31my", "`hookline --help` lists them"),
    ],
)
def test_a_misspelt_command_says_the_nearest(
    word: str,
    translated: str,
    where: Workspace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run_here([word], where, capsys, monkeypatch)
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.startswith("hookline: unknown command ")
    if "doctor" in COMMANDS or "doctor" not in translated:
        assert ran.stderr.endswith(f"{translated}\n")
    assert "\x1b" not in ran.stderr


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"hook"}))  # its misuse closes: exit 2
def test_an_option_that_does_not_exist_is_one_clear_line(
    command: str, where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here([command, *SHOWING.get(command, []), "--nope\x1b[31m"], where, capsys, monkeypatch)
    assert (ran.status, ran.stdout) == (1, "")
    assert f"hookline {command}: unrecognized arguments: --nope" in ran.stderr
    assert ran.stderr.startswith(f"usage: hookline {command} ")
    assert "\x1b" not in ran.stderr


@pytest.mark.parametrize("command", [name for name in SHOWING if name in COMMANDS])
def test_a_reader_who_is_gone_is_no_trouble(command: str, where: Workspace) -> None:
    where.write(".claude/settings.json", '{"hooks": {}}')
    words = [f"{warm_path()}/hookline", command, *SHOWING[command]]
    process = subprocess.Popen(
        words, cwd=where.project, env=clean_env(where.home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 1)
    for trouble in (b"Traceback", b"Broken", b"Exception"):
        assert trouble not in err


@pytest.mark.parametrize("words", [["log", "--follow"], ["fire", "--times", "20"], ["fire", "Stop"]])
def test_an_interrupt_ends_with_130_and_one_line(words: list[str], where: Workspace) -> None:
    where.write(
        ".hookline/hooks.toml", "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'touch began; sleep 60'\n"
    )
    process = subprocess.Popen(
        command_line(words), cwd=where.project, env=clean_env(where.home), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    if words[0] == "log":
        assert process.stderr is not None
        process.stderr.readline()
    else:
        wait_until((where.project / "began").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith(b"hookline: interrupted\n")
    assert b"Traceback" not in err


def test_an_interrupt_while_it_still_starts_leaves_no_traceback() -> None:
    code = """
import sys
class Interrupts:
    def find_spec(self, name, *_):
        if name == "hookline.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from hookline.app import main
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


def on_a_terminal(words: list[str], where: Workspace, **env: str) -> str:
    """Return what a terminal shows: stdout and stderr together."""
    master, slave = pty.openpty()
    surroundings = clean_env(where.home) | {"TERM": "xterm"}
    del surroundings["NO_COLOR"], surroundings["COLUMNS"]
    process = subprocess.Popen(
        command_line(words),
        cwd=where.project,
        env=surroundings | env,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    try:
        while piece := os.read(master, 65536):
            seen += piece
    except OSError:
        pass  # the other end is closed: that is how a terminal says it
    os.close(master)
    process.wait(timeout=60)
    return seen.decode()


def test_colours_only_on_a_terminal_that_wants_them(where: Workspace) -> None:
    assert "\x1b[31mdenied\x1b[0m" in on_a_terminal(["guard", "add", "force-push"], where)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        (where.project / ".hookline" / "hooks.toml").unlink()
        shown = on_a_terminal(["guard", "add", "force-push"], where, **env)
        assert "denied: " in shown
        assert "\x1b" not in shown
    (where.project / ".hookline" / "hooks.toml").unlink()
    words = ["guard", "add", "force-push"]
    assert "\x1b" not in run_cli(words, where.project, where.home, env={"NO_COLOR": ""}).stdout


def test_progress_is_shown_on_a_terminal_and_taken_away_again(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", GUARD.replace('"true"', '"sleep 0.02"'))
    shown = on_a_terminal(["fire", "--times", "12"], where)
    assert "\r\x1b[KPreToolUse: " in shown
    assert "of 12 rounds\r\x1b[KPreToolUse (payload" in shown
    assert "rounds\r" not in run_cli(["fire", "--times", "1"], where.project, where.home).stderr


def test_paint_leaves_text_alone_where_there_is_no_terminal() -> None:
    assert paint("error", "red") == "error"
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        assert paint("error", "red", nowhere) == "error"
    assert paint("error", "red", nowhere) == "error"  # closed by now


def test_progress_to_a_closed_stream_is_silent() -> None:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        pass
    with Progress(0.0, nowhere) as progress:
        progress.say("nothing")


def test_json_spells_out_what_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_part('{"a": "caf\u00e9 \u202e\x9b31m\x7f\u200b \U0001f600"}', as_json=True) is None
    assert capsys.readouterr().out == '{"a": "caf\u00e9 \\u202e\\u009b31m\\u007f\\u200b \U0001f600"}\n'


def test_whatever_breaks_is_one_line_and_a_status(
    where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_args: object) -> int:
        raise ValueError("ouch \x1b[31m")

    monkeypatch.setattr("hookline.cli.commands.events.run.run", breaks)
    ran = run_here(["events"], where, capsys, monkeypatch)
    assert (ran.status, ran.stdout) == (1, "")
    assert re.fullmatch(
        r"hookline: broke \(\w+\.py:\d+: ValueError: ouch ?\); please report it.*\n", ran.stderr
    )
    monkeypatch.setenv("HOOKLINE_TRACEBACK", "1")
    assert "Traceback" in run_here(["events"], where, capsys, monkeypatch).stderr


def test_the_readme_has_a_line_for_every_command() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for command in COMMANDS:
        assert f"`hookline {command}" in readme


def test_the_help_is_as_approved(where: Workspace) -> None:
    check_golden("help.txt", run_cli(["--help"], where.project, where.home).stdout)
