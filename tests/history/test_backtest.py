"""`hookline backtest`: the user's hooks on past sessions, and nothing else that runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.transcript_reader import LONGEST_LINE
from tests.cli.in_process import InProcess, in_process
from tests.history.past import START, ClaudeSession, codex_session, rules

#: A hook that denies what names `secret`, and notes each time it runs.
GUARD = """#!/bin/sh
echo run >> "$HOME/runs"
if grep -q secret; then echo 'not that' >&2; exit 2; fi
"""
COMMAND = """
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "script"
command = "{home}/guard.sh"
{more}
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def history(cli: InProcess, sessions: int = 3) -> None:
    """Each session pushes by force once, asks for secrets twice, and lists files."""
    home, project = cli.workspace.home, str(cli.workspace.project)
    for number in range(sessions):
        session = ClaudeSession(
            home=home, id=f"s{number}", cwd=project, at=START + number * 86400, lines=[], calls=[]
        )
        session.prompt("go")
        session.call("git push --force origin main")
        session.call("cat secret.txt")
        session.call("cat secret.txt")
        session.call("ls -la")
        session.call("", "Read", file_path=f"{project}/README.md")
        session.write()
    codex_session(home, "codex1", project, ["git push --force", "ls"], at=START)


def backtest(cli: InProcess, *words: str) -> dict[str, Any]:
    ran = cli.call("backtest", "--since", "all", "--json", *words)
    assert ran.status == 0, ran.stderr
    return json.loads(ran.stdout)


def numbers(document: dict[str, Any], effect: str = "block") -> tuple[int, int]:
    each = document["effects"].get(effect, {"recorded_events": 0, "sessions": 0})
    return each["recorded_events"], each["sessions"]


def test_rules_and_guards_judge_every_moment_of_every_agent(cli: InProcess) -> None:
    history(cli)
    text = rules(push="deny Bash(git push --force*)", listing="ask Bash(ls *)")
    guard = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "g"\ntype = "builtin"\ncommand = "force-push"\n'
    cli.write("~/.config/hookline/hooks.toml", text + guard)
    document = backtest(cli)
    assert numbers(document) == (4, 4)
    assert numbers(document, "ask") == (4, 4)
    hooks = {hook["hook"]: hook for hook in document["hooks"]}
    assert {name: hook["said"][word]["recorded_events"] for name, word, hook in (
        ("push", "deny", hooks["push"]), ("listing", "ask", hooks["listing"]), ("g", "deny", hooks["g"]),
    )} == {"push": 4, "listing": 4, "g": 4}  # fmt: skip
    assert {agent: kinds["call"] for agent, kinds in document["agents"].items()} == {
        "Claude Code": 15,
        "Codex": 2,
    }
    example = document["effects"]["block"]["examples"][0]
    assert (example["count"], example["text"], example["tool"]) == (3, "git push --force origin main", "Bash")
    assert document["judgements"] < document["concerned"]
    assert list(document["days"]) == ["2026-11-16", "2026-11-17", "2026-11-18"]


def test_a_command_without_a_declaration_is_not_run_and_is_counted(cli: InProcess) -> None:
    history(cli)
    cli.write("~/guard.sh", GUARD)
    cli.write("~/.config/hookline/hooks.toml", COMMAND.format(home=cli.workspace.home, more=""))
    document = backtest(cli)
    assert not (cli.workspace.home / "runs").exists()
    (hook,) = document["hooks"]
    assert (hook["asked"], hook["not_judged"], hook["said"]) == (14, 14, {})
    assert hook["why_not_judged"] == 'it does not say side_effects = "none"'


@pytest.mark.parametrize("by_name", [False, True])
def test_a_declared_command_runs_once_for_each_different_call(cli: InProcess, by_name: bool) -> None:
    history(cli)
    cli.write("~/guard.sh", GUARD)
    more = "" if by_name else 'side_effects = "none"'
    cli.write("~/.config/hookline/hooks.toml", COMMAND.format(home=cli.workspace.home, more=more))
    words = ("--run", "script") if by_name else ()
    document = backtest(cli, *words)
    # Three different calls of Claude Code, and two of Codex.
    assert (cli.workspace.home / "runs").read_text().count("run") == 5
    assert numbers(document) == (6, 3)
    assert document["effects"]["block"]["examples"][0]["reason"] == "not that"
    backtest(cli, *words)
    assert (cli.workspace.home / "runs").read_text().count("run") == 5, "its answers are kept"
    cli.write("~/guard.sh", GUARD.replace("secret", "push"))
    document = backtest(cli, *words)
    assert (cli.workspace.home / "runs").read_text().count("run") == 10, "another script has other answers"
    assert numbers(document) == (4, 4)
    backtest(cli, "--fresh", *words)
    assert (cli.workspace.home / "runs").read_text().count("run") == 15


def test_nothing_that_was_recorded_is_executed(cli: InProcess) -> None:
    project = cli.workspace.project
    session = ClaudeSession(home=cli.workspace.home, id="s", cwd=str(project), lines=[], calls=[]).prompt(
        "$(touch pwned)"
    )
    session.call(f"touch {project}/pwned")
    session.call("$(touch pwned) `touch pwned`")
    session.write()
    cli.write("~/.config/hookline/hooks.toml", rules(touch="deny Bash(touch *)"))
    assert numbers(backtest(cli)) == (2, 1)
    assert sorted(path.name for path in project.iterdir()) == []


def test_a_rule_on_trial_is_compared_with_what_is_in_force(cli: InProcess) -> None:
    history(cli)
    cli.write("~/.config/hookline/hooks.toml", rules(listing="ask Bash(ls *)"))
    document = backtest(cli, "--rule", "deny Bash(git push --force*)", "--diff")
    assert {
        name: (each["recorded_events"], each["sessions"]) for name, each in document["changes"].items()
    } == {"none>block": (4, 4)}
    assert backtest(cli, "--rule", "deny Bash(never-run *)", "--diff")["changes"] == {}
    ran = cli.call("backtest", "--diff")
    assert (ran.status, "--diff needs --config or --rule" in ran.stderr) == (1, True)


def test_two_configurations_are_compared_moment_by_moment(cli: InProcess) -> None:
    history(cli)
    old = cli.write("old.toml", rules(push="deny Bash(git push*)", listing="ask Bash(ls *)"))
    new = cli.write("new.toml", rules(push="ask Bash(git push*)", secret="deny Bash(cat secret*)"))
    document = backtest(cli, "--config", str(new), "--diff", str(old))
    assert {name: each["recorded_events"] for name, each in document["changes"].items()} == {
        "ask>none": 4, "block>ask": 4, "none>block": 6,
    }  # fmt: skip
    text = cli.call("backtest", "--since", "all", "--config", str(new), "--diff", str(old)).stdout
    assert "6 proceeds → blocked, in 3 sessions" in text


def test_a_hook_in_shadow_is_counted_and_has_no_effect(cli: InProcess) -> None:
    history(cli)
    cli.write(
        "~/.config/hookline/hooks.toml", rules(push="deny Bash(git push*)").rstrip() + '\nmode = "shadow"\n'
    )
    document = backtest(cli)
    assert document["effects"] == {}
    (hook,) = document["hooks"]
    assert (hook["mode"], hook["said"]["deny"]["recorded_events"]) == ("shadow", 4)
    # What another one blocks is not blocked for its reason.
    document = backtest(cli, "--rule", "deny Bash(git *)")
    (example,) = document["effects"]["block"]["examples"][:1]
    assert "rule 1" in example["reason"], example


def test_hooks_of_a_project_judge_only_its_own_sessions_and_only_if_they_are_trusted(cli: InProcess) -> None:
    history(cli)
    other = ClaudeSession(home=cli.workspace.home, id="o", cwd="/srv/other", lines=[], calls=[]).prompt("x")
    other.call("git push --force")
    other.write()
    cli.write(".hookline/hooks.toml", rules(push="deny Bash(git push*)"))
    assert numbers(backtest(cli)) == (4, 4)


def test_answers_by_functions_and_results_of_tools_are_judged_each_time(cli: InProcess) -> None:
    """Hooks of a Python program, by the same classes that the command uses."""
    import asyncio

    from hookline import deny
    from hookline.config.engine import Engine
    from hookline.dialects.registry import every_dialect
    from hookline.events import POST_TOOL_USE, ToolResult
    from hookline.history.backtest import Backtest
    from hookline.history.engines import ProjectEngine, RunCollector
    from hookline.history.outcomes import EventJudge
    from hookline.history.sources import find_sources

    history(cli, 1)
    seen: list[str] = []

    def look(result: ToolResult) -> Any:
        seen.append(str(result.tool_input))
        return deny("seen") if "secret" in str(result.tool_input) else None

    engine = Engine(journal=RunCollector())
    engine.add(POST_TOOL_USE, look, name="look")

    class One:
        def at(self, directory: str) -> ProjectEngine:
            return ProjectEngine(engine, engine.loader.files([]), directory, [])

    dialects = {each.name: each for each in every_dialect()}
    sources = find_sources(list(dialects.values()), {"HOME": str(cli.workspace.home)})
    judge = EventJudge(One())  # pyright: ignore[reportArgumentType] it only asks for the engine of a place
    totals = asyncio.run(Backtest(judge).read(sources.found, dialects, lambda _: None))
    assert len(seen) == 7
    assert totals.hooks["look\0"].said["deny"].count == 2


def test_the_page_is_one_file_without_scripts_in_which_everything_is_escaped(
    cli: InProcess, tmp_path: Path
) -> None:
    session = ClaudeSession(home=cli.workspace.home, id="s", cwd="/srv/<b>", lines=[], calls=[]).prompt("x")
    session.call("git push --force '<script>alert(1)</script>' https://x.test/?token=ghp_" + "a1B2" * 9)
    session.write()
    cli.write(
        "~/.config/hookline/hooks.toml", rules(push="deny Bash(git push*)").replace('push"', '<i>push"', 1)
    )
    page = tmp_path / "report.html"
    backtest(cli, "--html", str(page))
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "&lt;i&gt;push" in text
    assert "a1B2a1B2" not in text
    assert "default-src 'none'" in text
    assert all(f"{name}=" not in text for name in ("src", "href", "onclick", "onload"))
    assert "prefers-color-scheme: dark" in text


def test_mistakes_are_told_before_anything_is_read(cli: InProcess) -> None:
    history(cli, 1)
    bad = cli.write("bad.toml", "[[hooks.PreToolUse]]\nmatcher = 7\n")
    for words, said in (
        (("--rule", "dney Bash"), "did you mean 'deny'?"),
        (("--rule", "deny Bash(("), "never closed"),
        (("--config", "gone.toml"), "no such file: gone.toml"),
        (("--config", str(bad)), "has mistakes"),
        (("--from", "nowhere"), "No such file"),
        (("--from", str(bad)), "not a transcript of an agent that can be read"),
        (("--since", "yesterday"), "is not a time"),
        (("--dialect", "codx"), "codex"),
    ):
        ran = cli.call("backtest", *words)
        assert (ran.status, ran.stdout) == (1, ""), words
        assert said in ran.stderr, (words, ran.stderr)


def test_without_transcripts_it_says_where_it_looked(cli: InProcess) -> None:
    ran = cli.call("backtest")
    assert (ran.status, ran.stderr) == (0, "")
    assert "No agent has left a session here yet; searched ~/.claude/projects" in ran.stdout
    assert "hookline guard test" in ran.stdout
    assert json.loads(cli.call("backtest", "--json").stdout)["sessions"] == 0
    history(cli, 1)
    ran = cli.call("backtest", "--since", "1h", "--from", str(cli.workspace.home / ".claude"))
    assert (ran.status, "have nothing of that time; --since all" in ran.stdout) == (0, True)
    ran = cli.call("backtest", "--since", "all")
    assert (ran.status, "No hook concerns these events" in ran.stdout) == (0, True)


@pytest.mark.parametrize("command", ["backtest", "coverage"])
def test_what_cannot_be_read_is_counted_in_words(cli: InProcess, command: str) -> None:
    cli.write("~/.config/hookline/hooks.toml", rules(push="deny Bash(git push*)"))
    session = ClaudeSession(
        home=cli.workspace.home, id="bad", cwd=str(cli.workspace.project), at=START, lines=[], calls=[]
    )
    session.prompt("go")
    session.call("git push")
    call = next(line for line in session.lines if "git push" in line)
    session.lines += [call, call[:40], '{"type": "assistant", "message": 7}', '{"a new": "kind"}']
    session.at -= 86400
    session.call("ls")
    session.write()
    with next(cli.workspace.home.rglob("bad.jsonl")).open("ab") as file:
        file.truncate(file.tell() + LONGEST_LINE)  # one line, which takes no room on the disk
    ran = cli.call(command, "--since", "all")
    received = " ".join(ran.stdout.split())
    for words in (
        "1 torn line", "1 line that is too long", "2 × record of an unknown kind", "1 call with an id seen before",
        "1 jump of the clock",
    ):  # fmt: skip
        assert words in received, (words, received)
    assert ran.status == (1 if command == "coverage" else 0), ran.stderr


def test_transcripts_that_are_named_are_known_by_their_first_record(cli: InProcess) -> None:
    history(cli, 2)
    claude = next(cli.workspace.home.rglob("s0.jsonl"))
    cli.write("~/.config/hookline/hooks.toml", rules(push="deny Bash(git push*)"))
    assert numbers(backtest(cli, "--from", str(claude))) == (1, 1)
    directory = str(cli.workspace.home / ".codex")
    assert numbers(backtest(cli, "--from", str(claude), "--from", directory)) == (2, 2)


def test_several_processes_find_what_one_finds(cli: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    from hookline.history import workers as worker

    history(cli, 6)
    cli.write("~/.config/hookline/hooks.toml", rules(push="deny Bash(git push*)", listing="ask Bash(ls *)"))
    alone = backtest(cli)
    monkeypatch.setattr(worker, "_WORTH_A_PROCESS", 1)
    together = backtest(cli)
    for document in (alone, together):
        document.pop("seconds")
        document.pop("judgements")
        for hook in document["hooks"]:
            hook.pop("milliseconds")
    assert together == alone


def test_a_directory_that_is_no_path_is_told_and_the_rest_is_judged(cli: InProcess) -> None:
    """Directories in a transcript are text, and may be anything."""
    for number, cwd in enumerate(("/srv/\0x", "", "relative/x", "/nowhere/at/all", "/proc/1/root")):
        session = ClaudeSession(
            home=cli.workspace.home, id=f"s{number}", cwd="/srv", lines=[], calls=[]
        ).prompt("go")
        session.call("git push --force")
        session.lines[:] = [
            line.replace('"cwd": "/srv"', f'"cwd": {json.dumps(cwd)}') for line in session.lines
        ]
        session.write()
    cli.write("~/.config/hookline/hooks.toml", rules(push="deny Bash(git push*)"))
    document = backtest(cli)
    assert numbers(document) == (4, 4)
    assert document["problems"] == {"error: its directory is not a path": 1}
    assert cli.call("coverage", "--since", "all").status == 1
