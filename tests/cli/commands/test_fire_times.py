"""`hookline fire --times`: the user's own hooks, measured."""

import json
import os
import re
import signal
import subprocess
from typing import Any

import pytest

from hookline import Engine
from hookline.cli.commands.fire.samples import plan_samples, samples
from hookline.cli.commands.fire.times_report import hook_figures, percent
from hookline.cli.times import times
from hookline.events import EVENTS, PRE_TOOL_USE, SESSION_START, STOP
from hookline.extending import Run, SessionInfo
from hookline.trust.trust import TrustStatus
from tests.cli.golden import check_golden, normalised
from tests.cli.published_schema import valid_document
from tests.cli.run_cli import Ran, Workspace, clean_env, command_line, run_cli
from tests.every import every
from tests.waiting import wait_until

YOURS = TrustStatus("trusted", "it is your own")
HOOKS = """\
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "no force push"
type = "builtin"
command = "deny"
args = ["no"]
if = "Bash(git push *--force*)"

[[hooks.PreToolUse]]
matcher = "Edit|Write"
[[hooks.PreToolUse.hooks]]
name = "format"
command = "echo x >> ran.txt"
timeout = 60

[[hooks.PreToolUse]]
matcher = "Odd[0-9]+Tool"
[[hooks.PreToolUse.hooks]]
name = "never"
command = "echo x >> ran.txt"

[[hooks.Stop]]
[[hooks.Stop.hooks]]
name = "broken"
command = "echo oops >&2; exit 1"
[[hooks.Stop.hooks]]
name = "hangs"
command = "sleep 5"
timeout = 0.05
"""


def measured(where: Workspace, *words: str) -> Ran:
    given = words if "--times" in words else ("--times", "20", *words)
    return run_cli(["fire", *given], where.project, where.home)


def document(where: Workspace, *words: str) -> Any:
    return valid_document("fire", measured(where, "--json", *words).stdout)


def runs(where: Workspace) -> int:
    file = where.project / "ran.txt"
    return len(file.read_text().split()) if file.exists() else 0


def test_every_hook_and_every_event_is_measured_and_judged(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    ran = measured(where, "--times", "3", "--json")
    assert ran.status == 1  # two of them fail
    assert ran.stderr.startswith("hookline fire: running 4 hooks for real, up to 5 times each")
    translated = valid_document("fire", ran.stdout)
    found = {hook["hook"]: hook for event in translated["events"] for hook in event["hooks"]}
    assert {name: hook["rating"] for name, hook in found.items()} == {
        "no force push": "fine", "format": "fine", "never": "not run", "broken": "failing", "hangs": "too slow",
    }  # fmt: skip
    assert found["format"]["times"]["count"] == 3
    assert found["format"]["statuses"] == {"ok": 3}
    assert 0 < found["format"]["spawn_share"] <= 1
    assert found["no force push"]["spawn_share"] is None
    assert found["format"]["why"].endswith("of its 60 s")
    assert found["broken"]["why"] == "3 of 3 gave no answer: exit 1: oops"
    assert found["hangs"]["why"] == "3 of 3 exceeded its timeout of 50 ms"
    assert "Odd[0-9]+Tool" in found["never"]["why"]
    assert runs(where) == 5
    assert [(event["event"], event["subject"]) for event in translated["events"]] == [
        ("PreToolUse", "Bash command=git push --force"), ("PreToolUse", "Edit file_path=README.md"),
        ("Stop", None), ("PreToolUse", None),
    ]  # fmt: skip
    assert translated["events"][2]["times"]["p50_ms"] >= 50  # the whole event waits for the one that hangs


def test_the_figures_as_text(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    ran = measured(where, "--times", "3", "PreToolUse")
    assert ran.status == 0
    # What starting a shell is a part of differs from run to run, and so does the width of the columns.
    shown = re.sub(r"\d+ %(?= +fine)", "S %", normalised(ran.stdout))
    check_golden("fire_times.txt", re.sub(r"(?<=\S) {2,}", "  ", shown))


def test_a_dry_run_lists_and_runs_nothing(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    ran = measured(where, "--dry-run")
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("fire_times_dry_run.txt", ran.stdout)
    translated = document(where, "--dry-run")
    assert {hook["rating"] for event in translated["events"] for hook in event["hooks"]} == {
        "would run",
        "not run",
    }
    assert runs(where) == 0


def test_only_picks_hooks_by_name(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    ran = measured(where, "--only", "FORM", "--times", "1", "--json")
    assert ran.status == 0
    translated = valid_document("fire", ran.stdout)
    assert [hook["hook"] for event in translated["events"] for hook in event["hooks"]] == ["format"]
    assert runs(where) == 3


def test_a_call_with_arguments_is_measured_as_it_is(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    translated = document(where, "PreToolUse", "Odd7Tool", "--times", "2")
    (event, rest) = translated["events"]
    assert (event["event"], event["subject"], event["times"]["count"]) == ("PreToolUse", "Odd7Tool", 2)
    assert {hook["hook"]: hook["rating"] for hook in event["hooks"]} == {"never": "fine"}
    assert {hook["hook"] for hook in rest["hooks"]} == {"no force push", "format"}
    assert runs(where) == 4


def test_several_events_are_measured_on_samples(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    translated = document(where, "PreToolUse", "Stop", "--times", "1", "--dry-run")
    assert {event["event"] for event in translated["events"]} == {"PreToolUse", "Stop"}
    assert runs(where) == 0


def test_only_some_hooks_are_fired_once_as_well(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    ran = run_cli(["fire", "Stop", "--only", "broken", "--json"], where.project, where.home)
    assert [run["hook"] for run in valid_document("fire", ran.stdout)["runs"]] == ["broken"]


def test_nothing_of_it_is_in_the_journal(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    measured(where, "--only", "format", "--times", "1")
    assert not (where.home / ".local").exists()


@pytest.mark.parametrize(
    ("words", "translated"),
    [
        (["PreTolUse"], "no event is called 'PreTolUse'; did you mean 'PreToolUse'?"),
        (["Xyzzy"], "no event is called 'Xyzzy'; `hookline events` lists them"),
        (["--only", "formatt"], "no hook is called 'formatt'; did you mean 'format'?"),
        (["--times", "0"], "--times 0: say how many rounds, one at least"),
        (["--times", "x"], "invalid int value"),
        (["--cwd", "nope"], "no such directory"),
        (["--dialect", "cloude-code"], "did you mean 'claude-code'?"),
        (["--config", "nope.toml"], "nope.toml"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(where: Workspace, words: list[str], translated: str) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    ran = measured(where, *words)
    assert (ran.status, ran.stdout) == (1, "")
    assert translated in ran.stderr
    assert "Traceback" not in ran.stderr


def test_without_hooks_it_says_where_it_looked(where: Workspace) -> None:
    ran = measured(where)
    assert ran.status == 1
    assert "no hooks are configured; searched" in ran.stderr
    assert ".hookline/hooks.{toml,yaml,yml,json}" in ran.stderr
    assert json.loads(measured(where, "--json").stdout)["events"] == []


def test_an_interrupt_kills_the_hook_and_ends_with_130(where: Workspace) -> None:
    where.write(
        ".hookline/hooks.toml",
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'echo $$ > pid; exec sleep 60'\n",
    )
    process = subprocess.Popen(
        command_line(["fire", "--times", "20"]), cwd=where.project, env=clean_env(where.home), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    pid = where.project / "pid"
    wait_until(lambda: pid.exists() and pid.read_text().strip())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.decode().endswith("hookline: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_an_event_may_be_called_as_its_agent_calls_it(where: Workspace) -> None:
    where.write("~/.codewhale/config.toml", '[[hooks.hooks]]\nevent = "turn_end"\ncommand = "true"\n')
    translated = document(where, "--times", "1", "turn_end")
    assert [(event["event"], event["hooks"][0]["dialect"]) for event in translated["events"]] == [
        ("TurnSettled", "codewhale")
    ]


def test_every_event_has_a_sample_payload() -> None:
    for event in EVENTS.values():
        found = samples(event, ())
        assert found, event.name
        if event.subjects:
            assert {getattr(each, event.subject or "") for each in found} >= set(event.subjects)


@every(
    ("matcher", "condition"),
    [
        ("Bash", None), ("Edit|Write", None), ("Deploy", None), ("mcp__tracker__.*", None), ("^Read$", None),
        ("exec_shell", None), ("Bash", "Bash(rm -rf *)"), ("Bash", "Bash(npm run deploy:*)"),
        (None, "Write(src/**)"), ("WebFetch", "WebFetch(domain:example.com)"), ("mcp__github__push", None),
    ],
)  # fmt: skip
def test_a_sample_is_found_for_what_hooks_ask_for(matcher: str | None, condition: str | None) -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, "true", matcher, condition=condition)
    made = plan_samples(engine, SessionInfo(session_id="fire", cwd="/p"), [PRE_TOOL_USE])
    assert (len(made.planned), made.left_out) == (1, ())


def test_few_samples_do_for_many_hooks() -> None:
    engine = Engine()
    for number in range(30):
        engine.add(PRE_TOOL_USE, f"echo {number}", "Bash")
        engine.add(PRE_TOOL_USE, f"echo {number}", "Edit|Write")
        engine.add(SESSION_START, f"echo {number}", "resume")
    made = plan_samples(engine, SessionInfo(session_id="fire", cwd="/p"), [PRE_TOOL_USE, SESSION_START, STOP])
    assert len(made.planned) == 3


def test_percentiles_are_of_what_was_measured() -> None:
    found = times([float(number) for number in range(1, 101)])
    assert found is not None
    assert (found.count, found.p50_ms, found.p95_ms, found.worst_ms) == (100, 50.5, 95.0, 100.0)
    assert times([]) is None


@pytest.mark.parametrize(
    ("took", "timeout", "rating", "why"),
    [
        (1800.0, 60.0, "slow", "every Stop waits 1.8 s for it"),
        (600.0, 60.0, "fine", "p95 is 1 % of its 60 s"),
        (30.0, 60.0, "fine", "p95 is under 1 % of its 60 s"),
        (600.0, 1.0, "slow", "p95 is over half its timeout of 1 s"),
    ],
)
def test_ratings_against_the_timeout(took: float, timeout: float, rating: str, why: str) -> None:
    hook = Engine().make_hook(STOP, "true", timeout=timeout)
    found = hook_figures(hook, "x", "", [Run(hook="x", duration_ms=took)], 2.0, YOURS)
    assert (found.rating, found.why) == (rating, why)


def test_shares_in_words() -> None:
    assert [percent(share) for share in (0.0, 0.004, 0.05, 1.0)] == ["0 %", "under 1 %", "5 %", "100 %"]


def test_python_scripts_are_measured_warm_too_and_hooks_that_cannot_be_say_why(where: Workspace) -> None:
    (where.project / "guard.py").write_text("import json, sys; json.load(sys.stdin)")
    (where.project / "hooks.toml").write_text(
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\nname = "guard"\ncommand = "/usr/bin/python3 guard.py"\n'
        '[[hooks.Stop.hooks]]\nname = "piped"\ncommand = "/usr/bin/python3 guard.py | cat"\n'
        '[[hooks.Stop.hooks]]\nname = "opted out"\ncommand = "/usr/bin/python3 guard.py x"\nwarm = false\n'
    )
    ran = measured(where, "--config", "hooks.toml", "--times", "5", "--json")
    hooks: dict[str, Any] = {each["hook"]: each for each in json.loads(ran.stdout)["events"][0]["hooks"]}
    guard = hooks["guard"]["warm"]
    assert guard["times"]["count"] + guard["misses"] == 5
    assert guard["ratio"] == pytest.approx(
        guard["times"]["p50_ms"] / hooks["guard"]["times"]["p50_ms"], abs=0.001
    )
    assert hooks["guard"]["why_cold"] is None
    assert (hooks["piped"]["warm"], hooks["piped"]["why_cold"]) == (
        None,
        "its line is more than one simple command",
    )
    assert (hooks["opted out"]["warm"], hooks["opted out"]["why_cold"]) == (None, None)
    text = measured(where, "--config", "hooks.toml", "--times", "3").stdout
    assert re.search(r"HOOK +P50 +P95 +SPAWN +WARM +RATIO +MISSES", text)
    assert "piped cannot run warm: its line is more than one simple command" in text
