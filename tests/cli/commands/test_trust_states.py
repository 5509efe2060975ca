"""The trust of each hook, as every command shows it, and what they do when one may not run."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import InProcess, in_process
from tests.cli.published_schema import valid_document
from tests.trusting import trust_all_of, trust_nothing

PROJECT = """\
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "old"
command = "sh old.sh"
[[hooks.PreToolUse.hooks]]
name = "changed"
command = "sh changed.sh"
"""
NEW = """\
[[hooks.PreToolUse.hooks]]
name = "new"
command = "touch new.txt"
[[hooks.PreToolUse.hooks]]
name = "tightens"
type = "builtin"
command = "deny"
args = ["no rm"]
if = "Bash(rm *)"
"""
MINE = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "mine"\ncommand = "true"\n'
ALL = {
    "mine": "trusted",
    "old": "trusted",
    "changed": "modified",
    "new": "untrusted",
    "tightens": "untrusted",
}
LS = ("PreToolUse", "Bash", "command=ls")
RM = ("PreToolUse", "Bash", "command=rm -rf x")
LINE = (
    "hookline: not trusted, so not run: 2 hooks: changed (.hookline/hooks.toml:5), new (.hookline/hooks.toml:8); "
    "`hookline trust` shows them and asks\n"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    """A project whose first hooks are trusted; one has changed since, and two are new."""
    monkeypatch.delenv("HOOKLINE_TRUST", raising=False)
    made = in_process(tmp_path, monkeypatch, capsys)
    trust_nothing(made.workspace.home)
    made.write("~/.config/hookline/hooks.toml", MINE)
    made.write(".hookline/hooks.toml", PROJECT)
    for name in ("old", "changed"):
        made.write(f"{name}.sh", "true\n")
    hashes = json.loads(made.call("trust", "--json").stdout)["hashes"]
    assert made.call("trust", "--yes", hashes).status == 0
    made.write("changed.sh", "touch changed.txt\n")
    made.write(".hookline/hooks.toml", PROJECT + NEW)
    return made


def test_list(here: InProcess) -> None:
    ran = here.call("list", "--json")
    assert ran.status == 0
    assert ran.stderr == LINE
    hooks = valid_document("list", ran.stdout)["hooks"]
    assert {hook["hook"]: hook["trust"]["state"] for hook in hooks} == ALL
    whys = {hook["hook"]: hook["trust"]["why"] for hook in hooks}
    assert whys == {
        "mine": "it is your own",
        "old": "you trusted it as it is",
        "changed": "changed.sh changed since you trusted it",
        "new": "you have not trusted it",
        "tightens": "you have not trusted it; only its denials and questions count",
    }
    text = here.call("list").stdout
    assert "modified: changed: changed.sh changed since you trusted it\n" in text
    assert "untrusted: new: you have not trusted it\n" in text


def test_explain(here: InProcess) -> None:
    ran = here.call("explain", *LS, "--json")
    assert (ran.status, ran.stderr) == (0, LINE)
    (lane,) = valid_document("explain", ran.stdout)["lanes"]
    assert {hook["hook"]: hook["trust"]["state"] for hook in lane["hooks"]} == ALL
    assert {hook["hook"]: hook["would_run"] for hook in lane["hooks"]} == {
        "mine": True, "old": True, "changed": False, "new": False, "tightens": False,
    }  # fmt: skip
    text = here.call("explain", *RM).stdout
    assert "trust       modified: changed.sh changed since you trusted it\n" in text
    assert "trust       untrusted: you have not trusted it; only its denials and questions count\n" in text
    assert "trust       trusted: it is your own\n" in text


def test_doctor(here: InProcess) -> None:
    ran = here.call("doctor", "--json")
    found = valid_document("doctor", ran.stdout)
    assert (ran.status, ran.stderr) == (0, "")
    translated = [
        (one["hook"], one["severity"], one["message"], one["fix"])
        for one in found["problems"]
        if one["code"] == "needs-trust"
    ]
    fix = "run `hookline trust`"
    assert translated == [
        ("changed", "warning", "it does not run: changed.sh changed since you trusted it", fix),
        ("new", "warning", "it does not run: you have not trusted it", fix),
        ("tightens", "warning", "only its denials and questions count: you have not trusted it", fix),
    ]
    (project,) = [file for file in found["found"] if file["scope"] == "project"]
    assert project["trust"] == {"trusted": 1, "modified": 1, "untrusted": 2}
    assert "4 hooks: PreToolUse 4; 1 modified; 2 untrusted" in here.call("doctor").stdout


def fired(here: InProcess, *words: str) -> dict[str, Any]:
    return valid_document("fire", here.call("fire", *words, "--json").stdout)


def test_fire_says_which_hooks_did_not_run(here: InProcess) -> None:
    ran = here.call("fire", *LS)
    assert (ran.status, ran.stderr) == (1, LINE)
    assert "changed.sh changed since you trusted it; run `hookline trust`" in ran.stdout
    runs = fired(here, *LS)["runs"]
    assert {run["hook"]: run["trust"]["state"] for run in runs} == ALL
    assert {run["hook"]: run["status"] for run in runs} == {
        "mine": "ok", "old": "ok", "changed": "untrusted", "new": "untrusted", "tightens": "skipped",
    }  # fmt: skip
    for name in ("changed.txt", "new.txt"):
        assert not (here.workspace.project / name).exists()


def test_a_denial_wins_over_untrusted_hooks(here: InProcess) -> None:
    ran = here.call("fire", *RM)
    assert (ran.status, ran.stderr) == (2, LINE)
    assert "untrusted: you have not trusted it; only its denials and questions count\n" in ran.stdout


def test_an_event_without_untrusted_hooks_is_fine(here: InProcess) -> None:
    here.write("~/.config/hookline/hooks.toml", MINE.replace("PreToolUse", "Stop"))
    ran = here.call("fire", "Stop")
    assert (ran.status, ran.stderr) == (0, "")


def test_a_dry_run_says_so_too(here: InProcess) -> None:
    ran = here.call("fire", *LS, "--dry-run")
    assert (ran.status, ran.stderr) == (1, LINE)
    assert "new: not run" in ran.stdout
    assert "2 of 5 hooks would run" in ran.stdout


def test_fire_times(here: InProcess) -> None:
    ran = here.call("fire", "--times", "1", "--json")
    assert (ran.status, LINE in ran.stderr) == (1, True)
    hooks = [hook for event in valid_document("fire", ran.stdout)["events"] for hook in event["hooks"]]
    assert {hook["hook"]: hook["trust"]["state"] for hook in hooks} == ALL
    assert {hook["hook"]: hook["rating"] for hook in hooks if hook["hook"] in ("new", "changed")} == {
        "new": "untrusted", "changed": "untrusted",
    }  # fmt: skip
    dry = here.call("fire", "--times", "1", "--dry-run")
    assert (dry.status, "(untrusted)" in dry.stdout, "(modified)" in dry.stdout) == (1, True, True)


@pytest.mark.parametrize("words", [("list",), ("explain", *LS), ("doctor",), ("fire", *LS, "--dry-run")])
def test_trust_for_one_run(here: InProcess, words: tuple[str, ...]) -> None:
    ran = here.call(*words, "--trust")
    assert (ran.status, "untrusted" in ran.stdout, ran.stderr) == (0, False, "")
    assert "untrusted" in here.call(*words).stdout + here.call(*words).stderr.replace(
        "not trusted", "untrusted"
    )


def test_a_hook_that_is_off_is_disabled(here: InProcess) -> None:
    here.write("~/.config/hookline/hooks.toml", f'disable = ["new"]\n{MINE}')
    hooks = json.loads(here.call("list", "--json").stdout)["hooks"]
    trust = {hook["hook"]: hook["trust"] for hook in hooks}
    assert trust["new"]["state"] == "disabled"
    assert trust["new"]["why"].endswith("hooks.toml:1")
    assert "new (" not in here.call("list").stderr


def test_files_that_are_named_are_trusted(here: InProcess) -> None:
    ran = here.call("list", "--config", ".hookline/hooks.toml", "--json")
    assert {(hook["trust"]["state"], hook["trust"]["why"]) for hook in json.loads(ran.stdout)["hooks"]} == {
        ("trusted", "you named it")
    }


@pytest.mark.parametrize("words", [("list",), ("explain", *LS), ("fire", *LS), ("doctor",)])
def test_a_damaged_store_is_told_and_is_a_problem(here: InProcess, words: tuple[str, ...]) -> None:
    for file in (here.workspace.home / ".local/state/hookline/trust").glob("*.json"):
        file.write_text("{")
    ran = here.call(*words)
    assert ran.status == 1
    assert (ran.stdout + ran.stderr).replace("\n    ", " ").count("is not used: it is damaged") == 1


def test_what_guard_add_writes_is_trusted(here: InProcess) -> None:
    other = here.workspace.home / "other"
    (other / ".git").mkdir(parents=True)
    assert here.call("guard", "add", "force-push", "--cwd", str(other)).status == 0
    assert here.call("trust", "--cwd", str(other)).status == 0
    assert json.loads(here.call("trust", "--list", "--json").stdout)["projects"][0]["items"] == 1


def test_guard_add_says_when_it_cannot_be_trusted(here: InProcess) -> None:
    (here.workspace.home / ".local/state/hookline/trust").chmod(0o770)
    other = here.workspace.home / "other"
    (other / ".git").mkdir(parents=True)
    ran = here.call("guard", "add", "force-push", "--cwd", str(other))
    assert (ran.status, "not trusted yet" in ran.stderr) == (1, True)


def test_a_directory_of_the_settings(here: InProcess) -> None:
    trust_all_of(here.workspace.home, here.workspace.project)
    ran = here.call("list", "--json")
    assert ran.stderr == ""
    assert {hook["trust"]["state"] for hook in json.loads(ran.stdout)["hooks"]} == {"trusted"}
