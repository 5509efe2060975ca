"""Test what `hookline fire` prints: what ran, what did not and why, and the outcome."""

import json
import re
from pathlib import Path

import pytest

from hookline import Outcome
from hookline.cli.commands.fire.report import meaning
from hookline.events import EVENTS, PRE_TOOL_USE, SESSION_END, STOP, EventSpec
from hookline.model.outcome import Halt, Rewrite, Vote
from tests.cli.golden import check_golden
from tests.cli.run_cli import Ran, Workspace, run_cli, workspace
from tests.every import every
from tests.schemas.samples import POLICIES, Checker

SCHEMA = json.loads((Path(__file__).parents[3] / "schemas/cli-fire.schema.json").read_text())

#: One hook for each way it can go.
EVERY_WAY = """\
[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
name = "rewriter"
rewrites = true
command = '''echo '{"hookSpecificOutput": {"updatedInput": {"command":"ls -l"},"additionalContext":"tidied"},"x":1}' '''

[[hooks.PreToolUse.hooks]]
name = "guard"
command = '''echo "not like this, and this is a long reason that goes on for more than a line has room" >&2; exit 2'''

[[hooks.PreToolUse.hooks]]
name = "quiet"
command = "cat > /dev/null"

[[hooks.PreToolUse.hooks]]
name = "asks"
type = "builtin"
command = "ask"
args = ["sure?"]

[[hooks.PreToolUse.hooks]]
name = "shadow"
mode = "shadow"
command = "echo no >&2; exit 2"

[[hooks.PreToolUse.hooks]]
name = "crashes"
on_failure = "open"
command = '''for n in 1 2 3 4 5 6 7 8 9; do echo "  line $n" >&2; done; exit 1'''

[[hooks.PreToolUse.hooks]]
name = "missing"
command = "./nope.sh"

[[hooks.PreToolUse.hooks]]
name = "talks"
command = "echo hello"

[[hooks.PreToolUse.hooks]]
name = "slow"
timeout = 0.2
command = "sleep 30"

[[hooks.PreToolUse]]
matcher = "Edit|Write"
hooks = [{ name = "lint", command = "true" }]

[[hooks.PreToolUse]]
hooks = [{ name = "audit", command = "true", async = true, on_failure = "open" }]
"""
WORDS = ("PreToolUse", "Bash", "command=ls")


def fire(where: Workspace, *words: str) -> Ran:
    return run_cli(["fire", *words], where.project, where.home)


def test_every_way_a_hook_can_go_is_told() -> None:
    with workspace() as where:
        where.write(".hookline/hooks.toml", EVERY_WAY)
        ran = fire(where, *WORDS)
    assert ran.status == 2
    # The shell's own sentence differs from shell to shell, and says it with its path.
    text = re.sub(r"exit 127: [^\n)]*\)", "exit 127: not found)", ran.stdout)
    check_golden("fire.txt", text)


def test_a_dry_run_says_what_would_run_and_runs_nothing() -> None:
    with workspace() as where:
        where.write(".hookline/hooks.toml", EVERY_WAY.replace('"cat > /dev/null"', '"touch ran"'))
        ran = fire(where, *WORDS, "--dry-run")
        document = json.loads(fire(where, *WORDS, "--dry-run", "--json").stdout)
        assert not (where.project / "ran").exists()
        assert list(where.home.rglob("journal*")) == []
    assert ran.status == 0
    check_golden("fire_dry_run.txt", ran.stdout)
    assert Checker(SCHEMA).mistakes(document) == []
    assert {run["status"] for run in document["runs"]} == {"skipped"}
    why = {run["hook"]: run["why"] for run in document["runs"]}
    assert why["quiet"] == 'dry run: would run; matched: matcher "Bash" is "Bash"'
    assert why["lint"].startswith("not matched: ")
    assert document["outcome"]["blocked"] is False


def test_a_dry_run_of_a_hook_that_cannot_run_says_that_it_would_fail(tmp_path: Path) -> None:
    config = tmp_path / "bad.toml"
    config.write_text('[[hooks.PreToolUse]]\nhooks = [{ name = "bad", command = "x", timeout = "soon" }]\n')
    ran = run_cli(["fire", *WORDS, "--config", "bad.toml", "--dry-run"], tmp_path, tmp_path)
    assert ran.status == 1
    assert "bad: would run" in ran.stdout
    assert "      fail: timeout is " in ran.stdout


def test_a_dry_run_needs_no_model_for_a_prompt_hook(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[[hooks.Stop]]\nhooks = [{ name = "judge", type = "prompt", prompt = "Done?" }]\n'
    )
    ran = run_cli(["fire", "Stop", "--config", "p.toml", "--dry-run"], tmp_path, tmp_path)
    assert (ran.status, ran.stderr) == (0, "")
    assert "1 of 1 hooks would run; nothing was started" in ran.stdout


def test_the_json_of_a_real_run_is_what_its_schema_says(tmp_path: Path) -> None:
    (tmp_path / "all.toml").write_text(EVERY_WAY)
    ran = run_cli(["fire", *WORDS, "--config", "all.toml", "--json"], tmp_path, tmp_path)
    document = json.loads(ran.stdout)
    assert Checker(SCHEMA).mistakes(document) == []
    assert len(document["runs"]) == 11
    assert Checker(SCHEMA).mistakes({**document, "runs": [{"hook": "x"}]}) != []


def test_an_agents_own_name_stands_beside_the_event(tmp_path: Path) -> None:
    ran = run_cli(["fire", "turn_start", "--dry-run", "--hook", "PreModelCall=date"], tmp_path, tmp_path)
    assert ran.stdout.startswith("turn_start [PreModelCall] of docker-agent\n")


def test_the_text_fits_a_narrow_terminal() -> None:
    with workspace() as where:
        where.write(".hookline/hooks.toml", EVERY_WAY)
        words = ["fire", *WORDS, "--dry-run"]
        ran = run_cli(words, where.project, where.home, env={"COLUMNS": "60"})
    assert max(map(len, ran.stdout.splitlines())) <= 60


@every(
    ("event", "outcome", "said"),
    [
        (PRE_TOOL_USE, Outcome(), "the hooks would let the call proceed"),
        (PRE_TOOL_USE, Outcome(votes=(Vote("block", "no", means="deny_call"),)), "the call would not run"),
        (PRE_TOOL_USE, Outcome(votes=(Vote("ask"),)), "the user would be asked"),
        (PRE_TOOL_USE, Outcome(votes=(Vote("allow"),)), "without asking"),
        (PRE_TOOL_USE, Outcome(votes=(Vote("defer"),)), "left open"),
        (
            PRE_TOOL_USE,
            Outcome(edits=(Rewrite({}),)),
            "let the call proceed, as rewritten by the hooks",
        ),
        (PRE_TOOL_USE, Outcome(halts=(Halt("enough"),)), "the whole run would stop"),
        (STOP, Outcome(), "it would end here"),
        (
            STOP,
            Outcome(votes=(Vote("block", means="continue_turn"),)),
            "the agent would continue with the reason",
        ),
        (STOP, Outcome(votes=(Vote("block", means="of a host"),)), "the agent would not continue with this"),
        (SESSION_END, Outcome(), "hooks cannot stop anything at this event"),
    ],
)
def test_what_an_outcome_means_is_said_in_a_sentence(
    event: EventSpec[object], outcome: Outcome, said: str
) -> None:
    assert said in meaning(event, outcome, POLICIES.of(event).block_means)


def test_every_event_has_a_sentence_for_both_ways() -> None:
    for event in EVENTS.values():
        means = POLICIES.of(event).block_means
        blocked = meaning(event, Outcome(votes=(Vote("block", means=means),)), means)
        assert blocked != meaning(event, Outcome(), means)
        assert "of a host" not in blocked


@pytest.mark.parametrize(
    ("words", "answer", "said", "unsaid"),
    [
        (["Stop"], {"continue": False, "stopReason": "x"}, "outcome  stop", "go on"),
        (
            ["PreToolUse", "Bash", "command=x"],
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}},
            "outcome  ask",
            "reason:",
        ),
    ],
)
def test_the_outcome_contradicts_nothing_and_says_nothing_empty(
    words: list[str], answer: dict[str, object], said: str, unsaid: str
) -> None:
    with workspace() as where:
        where.write("answer.json", json.dumps(answer))
        ran = run_cli(["fire", *words, "--hook", f"{words[0]}=cat answer.json"], where.project, where.home)
    assert (ran.status, said in ran.stdout, unsaid in ran.stdout) == (0, True, False)
