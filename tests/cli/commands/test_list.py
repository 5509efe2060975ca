"""`hookline list`: what would run, in which order, and where it stands."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.golden import check_golden
from tests.cli.in_process import InProcess, in_process
from tests.cli.run_cli import run_cli, workspace
from tests.cli.sample_configs import ALL, NATIVE, REASONIX
from tests.schemas.samples import Checker

SCHEMA = json.loads((Path(__file__).parents[3] / "schemas/cli-list.schema.json").read_text())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def hooks(here: InProcess, *words: str) -> list[dict[str, Any]]:
    document = json.loads(here.call("list", *words, "--json").stdout)
    assert Checker(SCHEMA).mistakes(document) == []
    return document["hooks"]


def test_the_tables_of_several_agents() -> None:
    with workspace() as where:
        for name, text in ALL.items():
            where.write(name, text)
        ran = run_cli(["list"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("list.txt", ran.stdout)


def test_hooks_stand_in_the_order_they_run_not_in_that_of_the_file(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", NATIVE)
    found = hooks(here, "PreToolUse")
    assert [(hook["order"], hook["hook"]) for hook in found] == [
        (1, "tidy"),
        (2, "no force push"),
        (3, "lint"),
    ]


def test_every_fact_of_a_hook_is_told(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", NATIVE)
    by_name = {hook["hook"]: hook for hook in hooks(here)}
    guard, tell = by_name["no force push"], by_name["tell"]
    assert (guard["matcher"], guard["condition"]) == ("Bash", "Bash(git push --force*)")
    assert (guard["type"], guard["runs"]) == ("builtin", "deny force pushes rewrite history")
    assert (by_name["lint"]["mode"], by_name["lint"]["timeout"]) == ("shadow", 2.5)
    assert (tell["waits"], tell["once"], tell["matcher"]) == ("async", True, None)
    assert tell["source"] == ".hookline/hooks.toml:28"
    assert by_name["tidy"]["rewrites"]


def test_a_timeout_has_the_unit_of_its_file(here: InProcess) -> None:
    here.write(".reasonix/settings.json", REASONIX)
    (hook,) = hooks(here)
    assert (hook["timeout"], hook["timeout_unit"]) == (2000, "ms")
    assert "2000 ms" in here.call("list").stdout


def test_an_agents_own_name_lists_its_hooks(here: InProcess) -> None:
    for name, text in ALL.items():
        here.write(name, text)
    assert [(hook["event"], hook["dialect"]) for hook in hooks(here, "turn_start")] == [
        ("PreModelCall", "docker-agent")
    ]
    # Reasonix calls another event Stop: `list Stop` means one of the two.
    assert {(hook["event"], hook["dialect"]) for hook in hooks(here, "Stop")} == {
        ("Stop", "claude-code"),
        ("Stop", "native"),
        ("TurnSettled", "reasonix"),
    }


def test_only_the_dialect_or_the_files_that_were_named(here: InProcess) -> None:
    for name, text in ALL.items():
        here.write(name, text)
    assert {hook["dialect"] for hook in hooks(here, "--dialect", "reasonix")} == {"reasonix"}
    other = here.write(
        "other.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "true"\nname = "other"\n'
    )
    assert [hook["hook"] for hook in hooks(here, "--config", str(other))] == ["other"]


def test_a_model_need_not_be_there_for_a_prompt_hook_to_be_listed(here: InProcess) -> None:
    here.write(
        ".hookline/hooks.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "prompt"\nprompt = "Done?"\n'
    )
    ran = here.call("list")
    assert (ran.status, ran.stderr) == (0, "")
    assert "prompt: Done?" in ran.stdout


def test_with_nothing_configured_it_says_where_it_looked(here: InProcess) -> None:
    ran = here.call("list")
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.startswith("hookline: no hooks are configured; searched\n")
    assert "/.hookline/hooks.{toml,yaml,yml,json}" in ran.stderr
    assert "/.codex/" in ran.stderr


def test_with_a_dialect_it_names_the_files_of_that_agent_alone(here: InProcess) -> None:
    ran = here.call("list", "--dialect", "codex")
    assert ran.status == 1
    assert "/.codex/" in ran.stderr
    assert "/.hookline/" not in ran.stderr


def test_an_event_without_hooks_is_not_a_problem(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", NATIVE)
    ran = here.call("list", "SessionEnd")
    assert (ran.status, ran.stdout) == (0, "no hook is configured for SessionEnd\n")


def test_a_mistake_is_one_line_on_stderr_and_the_rest_is_listed(here: InProcess) -> None:
    here.write(
        ".hookline/hooks.toml", f'{NATIVE}[[hooks.Stop.hooks]]\ncommand = "x"\nnmae = "y"\ntimeout = "a"\n'
    )
    ran = here.call("list")
    assert ran.status == 1
    assert len(ran.stderr.splitlines()) == 2
    assert ".hookline/hooks.toml:36" in ran.stderr
    assert "no force push" in ran.stdout


def test_a_guard_that_cannot_run_is_listed_as_such(here: InProcess) -> None:
    here.write(
        ".hookline/hooks.toml",
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "bad"\ncommand = "x"\ntimeout = "soon"\n',
    )
    ran = here.call("list")
    assert ran.status == 1
    assert "cannot run:" in ran.stdout


@pytest.mark.parametrize("wide", [72, 80, 160])
def test_the_tables_fit_the_terminal(here: InProcess, wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in ALL.items():
        here.write(name, text)
    monkeypatch.setenv("COLUMNS", str(wide))
    assert max(map(len, here.call("list").stdout.splitlines())) <= wide


SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def test_nothing_shown_carries_a_secret_or_an_escape(here: InProcess) -> None:
    here.write(
        ".hookline/hooks.toml",
        f'[[hooks.PreToolUse]]\nmatcher = "{SECRET}"\n[[hooks.PreToolUse.hooks]]\n'
        f'name = "\\u001b[31mred {SECRET}"\ncommand = "curl -H {SECRET} \\u001b[2J"\n',
    )
    for words in ([], ["--json"]):
        ran = here.call("list", *words)
        assert "red" in ran.stdout
        assert SECRET not in ran.stdout + ran.stderr
        assert "\x1b" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pretooluse"], "no event is called 'pretooluse'; did you mean 'PreToolUse'?"),
        (["turn_strat"], "did you mean 'turn_start'?"),
        (["xyzzy"], "`hookline events` lists them"),
        (["--dialect", "claude-cod"], "no dialect is called 'claude-cod'; did you mean 'claude-code'?"),
        (["Stop", "--dialect", "klingon"], "no dialect is called 'klingon'"),
        (["--cwd", "nowhere"], "no such directory"),
        (["--config", "missing.toml"], "missing.toml"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_1(here: InProcess, words: list[str], said: str) -> None:
    ran = here.call("list", *words)
    assert ran.status == 1
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("columns", [40, 60, 79, 80, 100])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    with workspace() as where:
        where.write(
            ".claude/settings.json",
            json.dumps(
                {
                    "hooks": {
                        "PreToolUse": [
                            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "x" * 70}]}
                        ]
                    }
                }
            ),
        )
        ran = run_cli(["list"], where.project, where.home, env={"COLUMNS": str(columns)})
    assert max(map(len, ran.stdout.splitlines())) <= columns
    # A line to copy is not broken.
    assert ".claude/settings.json:1" in ran.stdout
