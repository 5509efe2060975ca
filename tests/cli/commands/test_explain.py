"""`hookline explain`: the files, the lanes, and for each hook everything that decides about it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.golden import check_golden
from tests.cli.in_process import InProcess, in_process
from tests.cli.run_cli import run_cli, workspace
from tests.cli.sample_configs import ALL, CLAUDE, DOCKER, NATIVE, USER
from tests.schemas.samples import Checker
from tests.trusting import trust_nothing

SCHEMA = json.loads((Path(__file__).parents[3] / "schemas/cli-explain.schema.json").read_text())
FORCED = ("PreToolUse", "Bash", "command=cd app && git push --force")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def explained(here: InProcess, *words: str) -> dict[str, Any]:
    document = json.loads(here.call("explain", *words, "--json").stdout)
    assert Checker(SCHEMA).mistakes(document) == []
    return document


def hooks(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {hook["hook"]: hook for lane in document["lanes"] for hook in lane["hooks"]}


def test_the_whole_reasoning_about_a_tool_call() -> None:
    with workspace() as where:
        for name, text in ALL.items():
            where.write(name, text)
        ran = run_cli(["explain", *FORCED], where.project, where.home)
        assert list(where.home.rglob("journal*")) == []
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("explain.txt", ran.stdout)


def test_a_matcher_is_told_with_what_it_is_compared_with(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", NATIVE)
    document = explained(here, *FORCED)
    assert (document["subject"], document["subject_value"]) == ("tool_name", "Bash")
    found = hooks(document)
    lint, guard = found["lint"]["matcher"], found["no force push"]["matcher"]
    assert (lint["kind"], lint["field"], lint["value"], lint["matches"]) == (
        "list of exact names", "tool_name", "Bash", False,
    )  # fmt: skip
    assert (guard["kind"], guard["matches"]) == ("exact name", True)
    assert found["lint"]["would_run"] is False


@pytest.mark.parametrize(
    ("matcher", "kind"),
    [("mcp__x__*", "name with *"), ("Ba.*", "regular expression"), ("Bash", "exact name")],
)
def test_every_kind_of_matcher_has_its_name(here: InProcess, matcher: str, kind: str) -> None:
    here.write(
        ".hookline/hooks.toml",
        f'[[hooks.PreToolUse]]\nmatcher = "{matcher}"\nhooks = [{{command = "x", name = "h"}}]\n',
    )
    assert hooks(explained(here, "PreToolUse", "Bash"))["h"]["matcher"]["kind"] == kind


def test_what_a_matcher_of_claude_code_is_can_be_told_too(here: InProcess) -> None:
    here.write(".claude/settings.json", CLAUDE)
    lane = explained(here, "PreToolUse", "Read")["lanes"][0]
    assert lane["hooks"][0]["matcher"]["kind"] == "list of exact names"
    assert (
        lane["hooks"][0]["why"]
        == 'not matched: matcher "Bash|Edit" is a list of names and "Read" is not in it'
    )


def test_a_condition_says_whether_it_holds_and_why(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", NATIVE)
    held = hooks(explained(here, *FORCED))["no force push"]
    other = hooks(explained(here, "PreToolUse", "Bash", "command=ls"))["no force push"]
    assert (held["condition"]["holds"], held["would_run"]) == (True, True)
    assert (other["condition"]["holds"], other["would_run"]) == (False, False)
    assert "git push --force" in held["condition"]["why"]


def test_a_duplicate_names_the_one_it_repeats(here: InProcess) -> None:
    here.write(".claude/settings.json", CLAUDE)
    document = explained(here, "PreToolUse", "Bash", "command=ls")
    first, second = document["lanes"][0]["hooks"]
    assert (first["duplicate_of"], first["would_run"]) == (None, True)
    assert second["duplicate_of"] == ".claude/settings.json:3"
    assert second["why"] == "the same as .claude/settings.json:3, which runs once"
    assert second["would_run"] is False
    assert "the same as" in here.call("explain", "PreToolUse", "Bash").stdout


@pytest.mark.parametrize("groups", ["[]", '[{"hooks": [{"command": "false"}]}]'])
def test_a_project_file_of_gen_code_replaces_the_users_hooks_of_the_event(
    here: InProcess, groups: str
) -> None:
    mine = '[{"hooks": [{"command": "true"}]}]'
    here.write("~/.config/hookline/settings.toml", 'trusted = ["~/project"]\n')
    here.write("~/.gen/settings.json", f'{{"hooks": {{"PreToolUse": {mine}, "SessionStart": {mine}}}}}')
    here.write(".gen/settings.json", f'{{"hooks": {{"PreToolUse": {groups}}}}}')
    document = explained(here, *FORCED)
    user, project = document["layers"]
    assert (user["scope"], user["state"], user["hooks"], user["stands"]) == ("user", "inactive", 0, 1)
    assert "replaced by " in user["why"]
    assert user["why"].endswith("/project/.gen/settings.json")
    assert (project["state"], project["hooks"]) == (("nothing here", 0) if groups == "[]" else ("active", 1))
    (translated,) = [one for one in document["diagnostics"] if one["code"] == "replaced"]
    assert (translated["severity"], "home/.gen/settings.json:" in translated["where"]) == ("info", True)
    user, project = explained(here, "SessionStart", "source=startup")["layers"]
    assert (user["state"], project["state"]) == ("active", "nothing here")


def test_a_project_of_gen_code_that_is_not_trusted_replaces_nothing(here: InProcess) -> None:
    here.write("~/.gen/settings.json", '{"hooks": {"PreToolUse": [{"hooks": [{"command": "true"}]}]}}')
    here.write(".gen/settings.json", '{"hooks": {"PreToolUse": [{"hooks": [{"command": "false"}]}]}}')
    trust_nothing(here.workspace.home)
    document = explained(here, *FORCED)
    assert [layer["state"] for layer in document["layers"]] == ["active", "active"]
    assert document["diagnostics"] == []


def test_the_layers_of_hookline_add_up(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", NATIVE)
    here.write("~/.config/hookline/hooks.toml", USER)
    user, project = explained(here, *FORCED)["layers"]
    assert (user["state"], user["hooks"], project["state"], project["hooks"]) == (
        "active",
        1,
        "active",
        3,
    )


def test_settings_that_turn_a_file_off_are_told(here: InProcess) -> None:
    here.write(".claude/settings.json", CLAUDE.replace('{"hooks"', '{"disableAllHooks": true, "hooks"', 1))
    (layer,) = explained(here, *FORCED)["layers"]
    assert (layer["state"], "disableAllHooks" in layer["why"]) == ("inactive", True)


def test_a_file_that_two_agents_read_counts_for_the_first(here: InProcess) -> None:
    here.write(".claude/settings.json", CLAUDE)
    here.write(".gen/settings.json", "{}")
    by_dialect = {
        layer["dialect"]: layer
        for layer in explained(here, *FORCED)["layers"]
        if layer["file"].endswith("/.claude/settings.json")
    }
    assert by_dialect["claude-code"]["state"] == "active"
    assert by_dialect["gen-code"]["state"] == "inactive"
    assert by_dialect["gen-code"]["why"].startswith("gen-code reads this file too")
    layers = explained(here, "SessionEnd")["layers"]
    assert next(layer for layer in layers if layer["dialect"] == "claude-code")["state"] == "nothing here"


def test_an_unreadable_file_is_told_as_such(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", "[[hooks")
    ran = here.call("explain", *FORCED, "--json")
    assert ran.status == 1
    assert json.loads(ran.stdout)["layers"][0]["state"] == "unreadable"


def test_lanes_say_how_they_are_run(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", NATIVE)
    first, second = explained(here, *FORCED)["lanes"]
    assert (first["rewriters"], first["words"]["run"]) == (True, "one after another")
    assert first["words"]["see"] == "the payload as the previous hook left it"
    assert (second["rewriters"], second["words"]["run"]) == (False, "all at once")
    (stop,) = explained(here, "Stop")["lanes"]
    assert stop["words"]["limit"].startswith("8 blocks in a row are obeyed")


def test_the_reaction_to_a_failure_by_cause_and_who_set_it(here: InProcess) -> None:
    here.write(
        ".hookline/hooks.toml",
        '[[hooks.PreToolUse]]\nhooks = [{command = "x", name = "own", on_failure = {timed_out = "ask"}}, '
        '{command = "y", name = "usual"}]\n',
    )
    found = hooks(explained(here, "PreToolUse", "Bash"))
    assert found["own"]["failures"]["timed_out"] == "ask"
    assert found["own"]["failures"]["crashed"] == "block"
    assert found["own"]["failures_said_by"] == "on_failure of the hook"
    assert set(found["usual"]["failures"].values()) == {"block"}
    text = here.call("explain", "PreToolUse", "Bash").stdout
    assert "on failure  block (timed_out: ask the user), as its on_failure says\n" in text
    assert "on failure  block\n" in text


def test_strict_closes_what_would_pass(here: InProcess) -> None:
    here.write(".claude/settings.json", CLAUDE)
    open_, closed = (
        explained(here, "PreToolUse", "Bash", *more)["lanes"][0]["hooks"][0] for more in ([], ["--strict"])
    )
    assert (open_["failures"]["crashed"], closed["failures"]["crashed"]) == ("warn", "block")


def test_an_agents_own_event_name_is_explained_for_that_agent(here: InProcess) -> None:
    here.write("agent.yaml", DOCKER)
    document = explained(here, "turn_start")
    assert (document["event"], document["dialect_event"]) == ("PreModelCall", "turn_start")
    assert document["lanes"][0]["dialect_event"] == "turn_start"
    assert here.call("explain", "turn_start").stdout.startswith("turn_start [PreModelCall] of docker-agent\n")


def test_a_hook_that_is_not_trusted_is_not_admitted(here: InProcess) -> None:
    here.write(".claude/settings.json", CLAUDE)
    trusted = explained(here, *FORCED)["lanes"][0]["hooks"][0]
    assert (trusted["needs_trust"], trusted["admitted"]) == (False, True)
    trust_nothing(here.workspace.home)
    hook = explained(here, *FORCED)["lanes"][0]["hooks"][0]
    assert (hook["needs_trust"], hook["admitted"]) == (True, False)
    assert "run `hookline trust`" in hook["admission_reason"]


def test_a_hook_by_flag_and_one_that_is_off_are_there(here: InProcess) -> None:
    here.write(
        ".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{command = "x", name = "x", mode = "off"}]\n'
    )
    found = hooks(explained(here, "Stop", "--hook", "Stop=date"))
    assert (found["x"]["would_run"], found["x"]["why"]) == (False, "switched off: mode is off")
    assert found["date"]["would_run"] is True


def test_nothing_shown_carries_a_secret_or_an_escape(here: InProcess) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    here.write(
        ".hookline/hooks.toml",
        f'[[hooks.PreToolUse]]\nmatcher = "{secret}"\n'
        f'hooks = [{{name = "\\u001b[31mred {secret}", command = "curl {secret} \\u001b[2J"}}]\n',
    )
    for words in ([], ["--json"]):
        ran = here.call("explain", "PreToolUse", f"Bash\x1b[2J{secret}", *words)
        assert "red" in ran.stdout
        assert secret not in ran.stdout + ran.stderr
        assert "\x1b" not in ran.stdout + ran.stderr


@pytest.mark.parametrize("wide", [72, 80, 160])
def test_it_fits_the_terminal(here: InProcess, wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in ALL.items():
        here.write(name, text)
    monkeypatch.setenv("COLUMNS", str(wide))
    assert max(map(len, here.call("explain", *FORCED).stdout.splitlines())) <= wide


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Pretooluse"], "did you mean 'PreToolUse'?"),
        (["turn_strat"], "did you mean 'turn_start'?"),
        (["xyzzy"], "`hookline events` lists them"),
        ([], "name the event to fire"),
        (["UserPromptSubmit"], "prompt is missing"),
        (["Stop", "--payload", "missing.json"], "cannot read the payload"),
        (["Stop", "--cwd", "nowhere"], "no such directory"),
        (["Stop", "--dialect", "claude-cod"], "did you mean 'claude-code'?"),
        (["Stop", "--config", "missing.toml"], "missing.toml"),
        (["Stop"], "no hooks are configured; searched"),
    ],
)
def test_bad_input_is_a_clear_line_and_status_1(here: InProcess, words: list[str], said: str) -> None:
    ran = here.call("explain", *words)
    assert ran.status == 1
    assert said in ran.stderr


def test_variables_that_a_hook_of_a_project_does_not_get_are_named() -> None:
    hooks = "[[hooks.Stop]]\nhooks = [{ command = 'true' }]\n"
    with workspace() as where:
        where.write(".hookline/hooks.toml", hooks)
        where.write("~/.config/hookline/hooks.toml", hooks)
        env = {"NODE_OPTIONS": "--x", "MY_TOKEN": "s3cret", "AAA": "1"}
        said = run_cli(["explain", "Stop"], where.project, where.home, env=env).stdout
        facts = json.loads(run_cli(["explain", "Stop", "--json"], where.project, where.home, env=env).stdout)
        listed = json.loads(run_cli(["list", "--json"], where.project, where.home, env=env).stdout)
    assert said.count("variables   of yours only PATH, HOME,") == 1
    given = {hook["scope"]: hook["environment"] for lane in facts["lanes"] for hook in lane["hooks"]}
    # Variables that make programs load code come first, then secret ones.
    left_out = ["NODE_OPTIONS", "PYTHONUTF8", "MY_TOKEN", "AAA", "COLUMNS"]
    assert given == {
        "user": {"passed_on": "all", "left_out": []},
        "project": {"passed_on": "needed", "left_out": left_out},
    }
    assert {hook["scope"]: hook["environment"] for hook in listed["hooks"]} == given


@pytest.mark.parametrize(("in_doubt", "would_run"), [("match", True), ("ask", False), ("pass", False)])
def test_a_match_in_doubt_is_said_with_what_it_counts_as(
    here: InProcess, in_doubt: str, would_run: bool
) -> None:
    here.write(
        ".hookline/hooks.toml",
        '[[hooks.PreToolUse]]\nmatcher = "Bash(git push --force*)"\n'
        f'hooks = [{{command = "x", in_doubt = "{in_doubt}"}}]\n',
    )
    (hook,) = explained(here, "PreToolUse", "Bash", "command=git push $X")["lanes"][0]["hooks"]
    assert (hook["would_run"], hook["in_doubt"]) == (would_run, in_doubt)
    assert hook["condition"]["doubt"] == "`git push …` may be git push --force*"
    (sure,) = explained(here, "PreToolUse", "Bash", "command=git push --force")["lanes"][0]["hooks"]
    assert (sure["would_run"], sure["condition"]["doubt"]) == (True, None)
