"""Test pauses of guards: who can begin one, where it counts, how it ends, and how it is recorded."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import Engine
from hookline.config.pauses import LONGEST, GuardPauses, can_be_paused
from hookline.execguard.guard import guard_rows
from hookline.model.hook import Hook
from tests.cli.commands.agent_calls import Caller, decision, reason
from tests.cli.in_process import InProcess, in_process
from tests.cli.terminal import Terminal

GUARDS = """
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "force-push"
type = "builtin"
command = "force-push"

[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "mine"
command = "echo mine says no >&2; exit 2"
if = "Bash(make *)"
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    found = in_process(tmp_path, monkeypatch, capsys)
    found.write(".hookline/hooks.toml", GUARDS)
    return found


def at_terminal(*words: str, answer: str = "y") -> int | None:
    with Terminal("guard", *words) as at:
        at.wait_for("[y/N] ")
        at.enter(answer)
    return at.status


def fired(cli: InProcess, line: str) -> dict[str, Any]:
    return json.loads(cli.call("fire", "PreToolUse", "Bash", f"command={line}", "--json").stdout)


def hook_named(name: str, project: Path) -> Hook:
    return next(hook for hook in Engine().load(project, trust=True).hooks if hook.name == name)


def stored(cli: InProcess) -> Path:
    return cli.workspace.home / ".local/state/hookline/pauses.json"


def test_a_person_lets_calls_past_one_guard_for_a_while(cli: InProcess) -> None:
    assert fired(cli, "git push -f")["outcome"]["blocked"]
    assert at_terminal("pause", "force-push", "--for", "1h") == 0
    document = fired(cli, "git push -f")
    assert not document["outcome"]["blocked"]
    assert [(run["decision"], run["mode"]) for run in document["runs"] if run["status"] == "blocked"] == [
        ("deny", "paused")
    ]
    assert fired(cli, "make x")["outcome"]["blocked"], "the other guard is still there"
    listed = {each["name"]: each for each in json.loads(cli.call("guard", "--json").stdout)["hooks"]}
    assert listed["force-push"]["paused_until"] > time.time() + 3000
    assert (listed["force-push"]["mode"], listed["mine"]["paused_until"]) == ("enforce", 0.0)
    assert "hookline guard resume force-push" in cli.call("guard", "test", "git push -f").stdout
    assert cli.call("guard", "resume", "force-push").status == 0
    assert fired(cli, "git push -f")["outcome"]["blocked"]
    assert cli.call("guard", "resume", "force-push").stderr == "hookline guard: force-push is not paused\n"


def test_it_ends_by_itself_and_a_clock_that_is_set_back_ends_it(cli: InProcess) -> None:
    hook, now = hook_named("force-push", cli.workspace.project), [1000.0]
    pauses = GuardPauses(os.environ, lambda: now[0])
    pauses.begin(hook, 60)
    for at, paused in ((1000.0, True), (1059.9, True), (1060.0, False), (999.0, False)):
        now[0] = at
        assert pauses.is_paused(hook) == paused, at


def test_the_pause_and_what_it_let_pass_are_recorded(cli: InProcess) -> None:
    assert at_terminal("pause", "force-push") == 0
    fired(cli, "git push -f")
    shown = cli.call("log").stdout
    assert "would deny  force-push" in shown
    assert "paused until " in shown
    assert "1 run: 0 blocked, 1 would have blocked" in shown
    totals = json.loads(cli.call("log", "--json").stdout)["totals"]
    assert (totals["blocked"], totals["would_have_blocked"], totals["runs"]) == (0, 1, 1)
    assert "WOULD HAVE BLOCKED" in cli.call("log", "--counts").stdout
    only = json.loads(cli.call("log", "--decision", "would_block", "--json").stdout)["runs"]
    assert [run["mode"] for run in only] == ["paused"]
    (pause,) = GuardPauses(os.environ).read()
    assert (pause.guard, bool(pause.by), pause.terminal[:5]) == ("force-push", True, "/dev/")


def test_only_a_person_at_a_terminal_can_begin_one(cli: InProcess) -> None:
    for words, said in (
        (("pause", "force-push"), "only a person at a terminal"),
        (("pause", "force-push", "--yes"), "pause always asks"),
        (("pause", "force-push", "--for", "9h"), "at most 8 hours"),
        (("pause", "force-push", "--for", "soon"), "is not a time"),
        (("pause", "force-psh"), "did you mean 'force-push'?"),
        (("pause", "recommended"), "did you mean"),
    ):
        ran = cli.call("guard", *words)
        assert ran.status == 1, words
        assert said in ran.stderr or words[1] == "recommended", (words, ran.stderr)
    assert at_terminal("pause", "force-push", answer="n") == 1
    assert not stored(cli).exists() or GuardPauses(os.environ).read() == ()


def test_managed_guards_and_other_hooks_cannot_be_paused(cli: InProcess) -> None:
    hook = hook_named("force-push", cli.workspace.project)
    assert can_be_paused(hook)
    managed = replace(hook, scope="managed")
    GuardPauses(os.environ).begin(managed, 600)
    assert GuardPauses(os.environ).is_paused(hook)
    assert not GuardPauses(os.environ).is_paused(managed), "whatever the file says"
    assert not can_be_paused(replace(hook, dialect="claude-code"))


@pytest.mark.parametrize("how", ["writable", "linked", "damaged", "endless"])
def test_a_file_that_cannot_be_believed_pauses_nothing(cli: InProcess, how: str) -> None:
    assert at_terminal("pause", "force-push") == 0
    file = stored(cli)
    if how == "writable":
        file.chmod(0o666)
    elif how == "linked":
        file.rename(file.with_name("other"))
        file.symlink_to("other")
    elif how == "damaged":
        file.write_text(file.read_text()[:-3])
    else:
        document = json.loads(file.read_text())
        document["pauses"][0]["ends"] = document["pauses"][0]["begins"] + LONGEST + 60
        file.write_text(json.dumps(document))
    assert fired(cli, "git push -f")["outcome"]["blocked"]


@pytest.mark.parametrize("daemon", [False, True], ids=["process", "daemon"])
def test_calls_of_other_agents_obey_a_pause_and_its_end(
    daemon: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Caller(tmp_path, monkeypatch, daemon=daemon)
    caller.write(".hookline/hooks.toml", GUARDS)
    call: dict[str, Any] = {"tool_input": {"command": "git push -f"}}
    denied = caller.call(caller.project, **call)
    assert decision(denied) == "deny"
    assert "(Guard force-push. A person can pause it: hookline guard pause force-push --for 10m)" in reason(
        denied
    )
    pauses, hook = GuardPauses(os.environ), hook_named("force-push", caller.project)
    pauses.begin(hook, 600)
    assert decision(caller.call(caller.project, **call)) is None
    assert {run.mode for run in caller.runs if run.hook == "force-push"} == {"paused"}
    pauses.end(hook)
    assert decision(caller.call(caller.project, **call)) == "deny"
    scripted = caller.call(caller.project, tool_input={"command": "make x"})
    assert reason(scripted) == "mine says no", "the words of a script stay its author's"


def test_a_paused_guard_does_not_judge_programs_that_a_command_starts(cli: InProcess) -> None:
    """The rules of the exec guard are made anew for each command."""
    hook, pauses = hook_named("force-push", cli.workspace.project), GuardPauses(os.environ)
    assert [row.name for row in guard_rows([hook], pauses)] == ["force-push"]
    pauses.begin(hook, 600)
    assert guard_rows([hook], pauses) == ()
    pauses.end(hook)
    assert len(guard_rows([hook], pauses)) == 1


def test_the_file_of_pauses_is_protected(cli: InProcess) -> None:
    cli.write(".hookline/hooks.toml", GUARDS.replace("force-push", "self-protection"))
    for line in (
        "echo {} > ~/.local/state/hookline/pauses.json",
        "cp p.json ~/.local/state/hookline/pauses.json",
        "hookline guard pause force-push",
        "script -qc 'hookline guard pause force-push' /dev/null",
    ):
        assert fired(cli, line)["outcome"]["blocked"], line
