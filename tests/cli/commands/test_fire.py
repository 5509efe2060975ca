"""`hookline fire` as a real process: what it prints, and what it exits with."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.trusting import trust_all_of
from tests.waiting import wait_until
from tests.warm_process import run_warm

GUARD = """\
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "no force push"
command = '''grep -q -e --force && { echo "not like this" >&2; exit 2; }; exit 0'''

[[hooks.PreToolUse]]
matcher = "Edit|Write"
[[hooks.PreToolUse.hooks]]
name = "lint"
command = "true"

[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
name = "date"
type = "builtin"
command = "add_date"
"""


class Home:
    """Make a project and a user's home for one test alone."""

    def __init__(self, directory: Path) -> None:
        self.project = directory / "project"
        (self.project / ".hookline").mkdir(parents=True)
        self.state = directory / "home/.local/state/hookline"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory / "home"),
        }
        trust_all_of(directory / "home", self.project)

    def config(self, text: str, name: str = "hooks.toml") -> Path:
        file = self.project / ".hookline" / name
        file.write_text(text)
        return file

    def fire(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        ran = run_warm(["fire", *words], cwd=self.project, env=self.env, stdin=stdin.encode())
        return subprocess.CompletedProcess(words, ran.status, ran.stdout.decode(), ran.stderr.decode())

    def json(self, *words: str, stdin: str = "") -> dict[str, Any]:
        return json.loads(self.fire(*words, "--json", stdin=stdin).stdout)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_every_hook_of_the_event_is_listed_with_its_reason_and_a_block_exits_2(home: Home) -> None:
    home.config(GUARD)
    fired = home.fire("PreToolUse", "Bash", "command=git push --force")
    assert fired.returncode == 2
    lines = fired.stdout.splitlines()
    assert lines[0] == "PreToolUse"
    assert lines[1].startswith('  1 no force push: deny "not like this", ')
    assert lines[1].endswith(" .hookline/hooks.toml:3")
    assert "lint: not run" in fired.stdout
    assert 'matcher "Edit|Write"' in fired.stdout
    assert "outcome  deny (no force push)\n  reason: not like this" in fired.stdout
    assert fired.stderr == ""


def test_a_pass_exits_0(home: Home) -> None:
    home.config(GUARD)
    fired = home.fire("PreToolUse", "Bash", "command=git status")
    assert (fired.returncode, "outcome  go on" in fired.stdout) == (0, True)


RUN_KEYS = {
    "hook", "source", "dialect", "type", "status", "cause", "why", "decision", "dropped", "failed_open",
    "mode", "recheck", "exit_code", "signal", "queue_ms", "duration_ms", "stdout", "stderr", "truncated",
}  # fmt: skip
OUTCOME_KEYS = {
    "blocked", "reason", "permission", "stop", "stop_reason", "context", "context_items", "updated_input",
    "updated_prompt", "updated_output", "updated_messages", "permission_updates", "watch_paths",
    "initial_user_message", "retry", "env", "answer", "limit_reached", "messages",
}  # fmt: skip


def test_the_json_has_every_promised_name(home: Home) -> None:
    home.config(GUARD)
    document = home.json("PreToolUse", "Bash", "command=git push --force")
    assert document["event"] == "PreToolUse"
    assert set(document["outcome"]) == OUTCOME_KEYS
    assert document["outcome"]["blocked"] is True
    assert document["outcome"]["permission"] == "deny"
    ran, skipped = document["runs"]
    assert set(ran) >= RUN_KEYS
    assert (ran["status"], ran["exit_code"], ran["decision"], ran["stderr"]) == (
        "blocked",
        2,
        "deny",
        "not like this\n",
    )
    assert ran["source"] == ".hookline/hooks.toml:3"
    assert (skipped["hook"], skipped["status"]) == ("lint", "skipped")


def test_context_says_where_it_lands(home: Home) -> None:
    home.config(GUARD)
    outcome = home.json("UserPromptSubmit", "prompt=hello")["outcome"]
    assert outcome["context"][0].startswith("Today's date: ")
    item = outcome["context_items"][0]
    assert (item["placement"], item["lifetime"], item["hook"]) == ("conversation", "session", "date")


def test_a_payload_names_its_event_and_words_win_over_it(home: Home) -> None:
    home.config(GUARD)
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    file = home.project / "event.json"
    file.write_text(json.dumps(payload))
    assert home.fire("--payload", "event.json").returncode == 0
    assert home.fire("--payload", "-", stdin=json.dumps(payload)).returncode == 0
    assert (
        home.fire("PreToolUse", "Bash", "command=git push --force", "--payload", "event.json").returncode == 2
    )


def test_exactly_the_given_files_are_read(home: Home) -> None:
    home.config(GUARD)
    other = home.project / "other.yaml"
    other.write_text("hooks:\n  PreToolUse:\n    - hooks:\n        - {command: 'exit 2', name: other}\n")
    document = home.json("PreToolUse", "Bash", "command=ls", "--config", "other.yaml")
    assert [run["hook"] for run in document["runs"]] == ["other"]
    assert document["outcome"]["blocked"]


def test_a_hook_by_flag_is_one_more_hook(home: Home) -> None:
    document = home.json("Stop", "--hook", "Stop=echo again >&2; exit 2")
    assert document["outcome"]["reason"] == "again"


def test_strict_closes_what_would_pass(home: Home) -> None:
    home.config('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "exit 1"\n')
    assert home.fire("Stop").returncode == 0
    assert home.fire("Stop", "--strict").returncode == 2


def test_background_hooks_are_waited_for_and_their_words_shown(home: Home) -> None:
    home.config(
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "sleep 0.2; echo found >&2; exit 2"\nasyncRewake = true\n'
    )
    document = home.json("Stop")
    assert document["outcome"]["blocked"] is False
    assert document["runs"][0]["status"] == "background"
    assert [(item["kind"], item["text"]) for item in document["late"]] == [("wake", "found")]


def test_a_scripted_model_answers_prompt_hooks(home: Home) -> None:
    home.config('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "prompt"\nprompt = "Is it done? $ARGUMENTS"\n')
    script = home.project / "model.yaml"
    script.write_text('- text: \'{"ok": false, "reason": "tests are missing"}\'\n')
    document = home.json("Stop", "--model", "scripted:model.yaml")
    assert document["outcome"]["reason"] == "tests are missing"
    without = home.fire("Stop")
    assert without.returncode == 1
    assert "completer" in without.stderr or "model" in without.stderr


def test_one_bad_entry_is_reported_with_its_line_and_the_rest_runs(home: Home) -> None:
    home.config(GUARD + '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "true"\ntimeout = "soon"\n')
    fired = home.fire("PreToolUse", "Bash", "command=ls")
    assert fired.returncode == 1
    assert ".hookline/hooks.toml:21" in fired.stderr
    assert "no force push: pass" in fired.stdout


def test_runs_go_to_the_journal_without_secrets(home: Home) -> None:
    home.config(
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "echo token ghp_abcdefghijklmnopqrstuvwxyz0123456789"\n'
    )
    home.fire("Stop")
    text = (home.state / "journal.jsonl").read_text()
    run = json.loads(text)
    assert (run["event"], run["call"]) == ("Stop", {"project": str(home.project), "origin": "fire"})
    assert "ghp_abcdef" not in text


def test_a_name_with_line_breaks_makes_no_lines(home: Home) -> None:
    entry = 'name = "x\\noutcome  go on"\ncommand = "exit 2"\n'
    home.config(f"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n{entry}")
    shown = home.fire("Stop").stdout.splitlines()
    assert [line for line in shown if line.startswith("outcome")] == ["outcome  deny (x outcome go on)"]


def test_escapes_of_a_hook_never_reach_the_terminal(home: Home) -> None:
    name = 'name = "\\u001b[31mred"'
    command = "command = '''printf '\\033]52;c;aGk=\\007no' >&2; exit 2'''"
    home.config(f"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n{name}\n{command}\n")
    fired = home.fire("Stop")
    assert "\x1b" not in fired.stdout + fired.stderr
    assert "\x07" not in fired.stdout


SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize("odd", [SECRET, "\x1b]52;c;aGk=\x07"])
def test_a_hook_is_found_under_the_name_the_journal_gives_it(home: Home, odd: str) -> None:
    stops, other = f": {odd}; echo 'no {odd}' >&2; exit 2", f": other {odd}"
    words = ("PreToolUse", "Bash", "command=ls", "--hook", f"PreToolUse={stops}", "--hook", f"Stop={other}")
    document = home.json(*words)
    (ran,) = document["runs"]
    assert (ran["status"], ran["decision"], ran["recheck"]) == ("blocked", "deny", False)
    assert ran["why"].startswith("matched")
    text = home.fire(*words)
    assert text.returncode == 2
    assert odd not in json.dumps(document, ensure_ascii=False) + text.stdout + text.stderr


def test_a_hook_that_did_not_run_leaks_nothing_by_its_name_or_matcher(home: Home) -> None:
    named = f'name = "called {SECRET}"'
    home.config(
        f'[[hooks.PreToolUse]]\nmatcher = "{SECRET}"\n[[hooks.PreToolUse.hooks]]\ncommand = "true"\n{named}\n'
        f'[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ncommand = "echo hi"\n{named}\n'
        f'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\nasyncRewake = true\ncommand = "echo hi >&2; exit 2"\n{named}\n'
    )
    for words in (["PreToolUse", "Bash"], ["UserPromptSubmit", "prompt=x"], ["Stop"]):
        for more in ([], ["--json"]):
            fired = home.fire(*words, *more)
            assert "called " in fired.stdout
            assert SECRET not in fired.stdout + fired.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Pretooluse"], "did you mean 'PreToolUse'?"),
        ([], "name the event to fire"),
        (["UserPromptSubmit"], "prompt is missing"),
        (["Stop", "Bash"], "one word too many"),
        (["PreToolUse", "Bash", "ls", "-la"], "unrecognized arguments"),
        (["PreToolUse", "Bash", "ls"], "settings are written key=value"),
        (["Stop", "--payload", "missing.json"], "cannot read the payload"),
        (["Stop", "--payload", "-"], "cannot be read as JSON"),
        (["SessionStart", "sorce=resume"], "did you mean 'source'?"),
        (["PreToolUse", "Bash", "limit:=x"], "limit:= takes JSON"),
        (["PreToolUse", "Bash", 'limit:="\udcff"'], "not UTF-8"),
        (["Stop", "--cwd", "nowhere"], "no such directory"),
        (["Stop", "--dialect", "klingon"], "no dialect is called 'klingon'"),
        (["Stop", "--hook", "Stop"], "is not EVENT=COMMAND"),
        (["Stop", "--model", "gpt"], "use scripted:FILE"),
        (["Stop", "--config", "missing.toml"], "missing.toml"),
        (["Stop"], "no hooks are configured; searched"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_1(home: Home, words: list[str], said: str) -> None:
    fired = home.fire(*words)
    assert fired.returncode == 1
    assert said in fired.stderr
    assert "Traceback" not in fired.stderr


def test_an_interrupt_kills_the_hook_and_exits_130(home: Home) -> None:
    pid_file = home.project / "pid"
    home.config(f"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = '''echo $$ > {pid_file}; sleep 60'''\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "hookline.app", "fire", "Stop"],
        cwd=home.project, env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: pid_file.exists() and pid_file.read_text().strip())
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert not Path(f"/proc/{pid_file.read_text().strip()}").exists()


def test_a_closed_pipe_is_not_an_error(home: Home) -> None:
    home.config(GUARD)
    command = f"{sys.executable} -m hookline.app fire PreToolUse Bash command=ls --json | head -n 1"
    fired = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=home.project,
        env=home.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert fired.stdout == "{\n"
    assert fired.stderr == ""


def test_the_help_has_examples_and_no_command_prints_it() -> None:
    for words in ([], ["--help"]):
        shown = subprocess.run(
            [sys.executable, "-m", "hookline.app", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert "hookline fire PreToolUse Bash" in shown.stdout
    version = subprocess.run(
        [sys.executable, "-m", "hookline.app", "--version"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert version.stdout.startswith("hookline 0.")
