"""Test `hookline coverage`: a history with missed calls of every kind, each with its cause, and no false one."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import InProcess, in_process
from tests.history.past import START, ClaudeSession, PastJournal, codex_session, rules
from tests.history.transcripts.rebuilt import RECORDED

HOUR = 3600.0


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


class Planted:
    """Make a user with one guard, and sessions in which it ran or not."""

    def __init__(self, cli: InProcess) -> None:
        self.cli = cli
        self.home = cli.workspace.home
        self.file = cli.write("~/.config/hookline/hooks.toml", rules(guard="deny Bash(rm *)"))
        self.journal = PastJournal(self.home)

    def session(self, id: str, at: float = START, cwd: str = "/srv/app", **more: Any) -> ClaudeSession:  # noqa: A002
        return ClaudeSession(home=self.home, id=id, cwd=cwd, at=at, lines=[], calls=[], **more).prompt("go")

    def seen(self, session: ClaudeSession, **more: Any) -> None:
        made = session.call("rm -r build")
        self.journal.ran("guard", self.file, session.id, made, agent=session.subagent or None, **more)

    def coverage(self, *words: str) -> tuple[int, dict[str, Any]]:
        ran = self.cli.call("coverage", "--since", "all", "--json", *words)
        assert ran.stderr == ""
        return ran.status, json.loads(ran.stdout)


@pytest.fixture
def planted(cli: InProcess) -> Planted:
    return Planted(cli)


def causes(document: dict[str, Any]) -> dict[str, str]:
    return {
        f"{missed['session']}/{missed['subagent']}/{missed['tool']}/{missed['cwd']}": missed["cause"]
        for missed in document["missed"]
    }


def test_a_guard_that_was_asked_each_time_has_no_hole(planted: Planted) -> None:
    for number in range(3):
        session = planted.session(f"s{number}", at=START + number * HOUR)
        planted.seen(session)
        session.call("ls -la")
        session.write()
    status, document = planted.coverage()
    assert (status, document["missed"], document["unguarded"]) == (0, [], 0)
    (guard,) = document["hooks"]
    assert (guard["expected"], guard["seen"], guard["trusted"], guard["last_decision"]) == (
        3,
        3,
        True,
        "pass",
    )


def test_every_hole_is_named_with_its_cause_and_there_is_no_false_one(planted: Planted) -> None:
    early = planted.session("early", at=START)
    early.call("rm -r old")  # before Hookline was installed
    early.write()
    whole = planted.session("whole", at=START + 10 * HOUR)
    planted.seen(whole)
    whole.call("rm -r nested", cwd="/srv/app/vendor/lib")  # hooks were looked up somewhere else
    planted.seen(whole)
    whole.call("echo hi")
    whole.write()
    parent = planted.session("parent", at=START + 11 * HOUR)
    planted.seen(parent)
    parent.write()
    child = planted.session("parent", at=START + 11 * HOUR + 60, subagent="abc123")
    child.call("rm -r cache")
    child.write()
    headless = planted.session("headless", at=START + 12 * HOUR, entrypoint="sdk-cli")
    headless.call("rm -r tmp")
    headless.write()
    codex_session(planted.home, "other", "/srv/app", ["rm -r x", "ls"], at=START + 13 * HOUR)
    elsewhere = planted.session("elsewhere", at=START + 14 * HOUR, cwd="/srv/unseen")
    elsewhere.call("rm -r y")
    elsewhere.write()
    status, document = planted.coverage()
    assert causes(document) == {
        "early//Bash//srv/app": "installed later",
        "whole//Bash//srv/app/vendor/lib": "directory",
        "parent/abc123/Bash//srv/app": "subagent",
        "headless//Bash//srv/app": "headless run",
        "other//Bash//srv/app": "other agent",
        "elsewhere//Bash//srv/unseen": "directory",
    }
    assert status == 1
    assert document["unguarded"] == 6
    (guard,) = document["hooks"]
    assert (guard["expected"], guard["seen"]) == (9, 3)


def test_a_hook_that_was_not_trusted_and_one_that_came_later_are_told_apart(planted: Planted) -> None:
    planted.file.write_text(rules(guard="deny Bash(rm *)", second="ask Bash(rm *)"))
    session = planted.session("s", at=START)
    made = session.call("rm -r a")
    planted.journal.ran("guard", planted.file, "s", made)
    late = session.call("rm -r b")
    planted.journal.ran("guard", planted.file, "s", late, status="untrusted")
    planted.journal.ran("second", planted.file, "s", late)
    session.write()
    _, document = planted.coverage()
    found = {(tuple(missed["hooks"]), missed["cause"]) for missed in document["missed"]}
    assert found == {(("second",), "installed later"), (("guard",), "untrusted")}


def test_a_tool_that_never_asks_is_found_by_its_name(planted: Planted) -> None:
    text = rules(guard="deny Bash(rm *)", pages="deny WebFetch(domain:example.test)")
    planted.file.write_text(text)
    session = planted.session("s")
    page = {"url": "https://example.test/a", "prompt": "x"}
    planted.journal.ran("pages", planted.file, "s", session.call("", "WebFetch", **page))
    planted.seen(session)
    session.write()
    other = planted.session("t", at=START + HOUR)
    planted.seen(other)
    other.call("", "WebFetch", **page)
    other.write()
    _, document = planted.coverage()
    assert causes(document) == {"t//WebFetch//srv/app": "tool name"}


def test_a_shell_line_counts_for_a_rule_about_files(planted: Planted) -> None:
    planted.file.write_text(rules(files="deny Write(/srv/app/made/**)"))
    session = planted.session("s")
    made = session.call("", "Write", file_path="/srv/app/made/z", content="")
    planted.journal.ran("files", planted.file, "s", made)
    session.call("echo x > /srv/app/made/z")
    session.call("echo x > /srv/app/z")
    session.write()
    _, document = planted.coverage()
    assert [missed["count"] for missed in document["missed"]] == [1]


def test_calls_that_no_hook_is_asked_about_are_no_holes(planted: Planted) -> None:
    """A call that fails the schema of its tool, one of a session that was killed, and one that no rule is about."""
    session = planted.session("s")
    planted.seen(session)
    session.call("ls")
    lines = session.lines
    refused = json.loads(lines[-1])
    block = {"type": "tool_use", "id": "bad", "name": "Bash", "input": {"command": "rm -r q", "wrong": 1}}
    call = {**json.loads(lines[-2]), "message": {"id": "m", "content": [block], "stop_reason": "tool_use"}}
    error = "<tool_use_error>InputValidationError: Bash failed</tool_use_error>"
    answer = {"type": "tool_result", "tool_use_id": "bad", "content": error, "is_error": True}
    lines += [json.dumps(call), json.dumps({**refused, "message": {"role": "user", "content": [answer]}})]
    killed = {**block, "id": "killed"}
    lines.append(
        json.dumps({**call, "message": {"id": "m2", "content": [killed], "stop_reason": "tool_use"}})
    )
    session.write()
    status, document = planted.coverage()
    assert (status, document["missed"]) == (0, [])


def test_holes_of_an_excused_cause_are_no_problem(planted: Planted) -> None:
    early = planted.session("early")
    early.call("rm -r old")
    early.write()
    later = planted.session("later", at=START + HOUR)
    planted.seen(later)
    later.write()
    assert planted.coverage()[0] == 1
    status, document = planted.coverage("--except", "installed later")
    assert (status, document["unguarded"], [missed["excused"] for missed in document["missed"]]) == (
        0,
        0,
        [True],
    )
    ran = planted.cli.call("coverage", "--except", "instaled later")
    assert (ran.status, "did you mean 'installed later'?" in ran.stderr) == (1, True)


def test_calls_without_an_id_are_known_by_what_they_were_about(planted: Planted) -> None:
    session = planted.session("s")
    session.call("rm -r same")
    made = session.call("rm -r same")
    planted.journal.ran("guard", planted.file, "s", made)
    from hookline.model.run import Called, Run

    journal = planted.journal._file  # pyright: ignore[reportPrivateUsage] records of an older release
    journal.append(
        Run(
            hook="guard", source=f"{planted.file}:1", type="builtin", event="PreToolUse", session="s", at=START,
            call=Called(tool="Bash", input="rm -r same", caller="claude-code"),
        )
    )  # fmt: skip
    session.write()
    status, document = planted.coverage()
    assert (status, document["hooks"][0]["seen"]) == (0, 2)


def test_the_text_names_session_time_and_cause(planted: Planted) -> None:
    codex_session(planted.home, "01a1e248-aaaa", "/srv/app", ["rm -r x"])
    ran = planted.cli.call("coverage", "--since", "all")
    assert ran.status == 1
    assert "1 call that should have been guarded and was not:" in ran.stdout
    assert "Codex 01a1e248" in ran.stdout
    assert "other agent: this agent has never asked Hookline; not asked: guard" in ran.stdout
    assert "By cause: other agent 1" in ran.stdout


def test_without_transcripts_it_says_where_it_looked(cli: InProcess) -> None:
    ran = cli.call("coverage")
    assert (ran.status, ran.stderr) == (0, "")
    assert "No agent has left a session here yet; searched ~/.claude/projects" in ran.stdout
    assert "Nothing is proven yet" in ran.stdout
    assert json.loads(cli.call("coverage", "--json").stdout)["sessions"] == 0
    codex_session(cli.workspace.home, "01a1e248-aaaa", "/srv/app", ["rm -r x"])
    for file in (cli.workspace.home / ".codex/sessions").rglob("*.jsonl"):
        os.utime(file, (1e9, 1e9))
    ran = cli.call("coverage")
    assert (ran.status, "`--since all` reads older ones" in ran.stdout) == (0, True)


SWITCHES = {
    "claude": (
        ".claude/settings.json",
        '{\n  "disableAllHooks": true\n}\n',
        "2: disableAllHooks of ",
        "disableAllHooks",
    ),
    "codex": (".codex/config.toml", "[features]\nhooks = false\n", "2: features.hooks of ", "features.hooks"),
}


def written_at(file: Path, at: float) -> Path:
    os.utime(file, (at, at))
    return file


@pytest.mark.parametrize("root", ["~", "project"])
@pytest.mark.parametrize("agent", list(SWITCHES))
def test_a_switch_that_is_older_than_the_calls_is_their_cause(
    planted: Planted, agent: str, root: str
) -> None:
    name, text, says, setting = SWITCHES[agent]
    project = str(planted.cli.workspace.project)
    file = written_at(planted.cli.write(f"~/{name}" if root == "~" else name, text), START + HOUR)
    for at in (0.0, 2 * HOUR):
        if agent == "claude":
            session = planted.session(f"s{at}", at=START + at, cwd=project)
            if at:
                session.call("rm -r x")
            else:
                planted.seen(session)
            session.write()
        elif at:
            codex_session(planted.home, f"s{at}", project, ["rm -r x"], at=START + at)
    status, document = planted.coverage()
    (missed,) = document["missed"]
    whose = "a file of yours" if root == "~" else "this project"
    assert (status, missed["cause"]) == (1, "settings")
    assert missed["why"].startswith(f"{file}:{says}{whose} makes ")
    assert missed["why"].endswith(f"; fix: remove {setting}")
    assert planted.coverage("--except", "settings")[0] == 0


@pytest.mark.parametrize(("since", "cause"), [(HOUR, "settings"), (3 * HOUR, "unknown"), (-HOUR, "unknown")])
def test_a_switch_set_after_the_calls_or_that_did_not_hold_is_no_cause(
    planted: Planted, since: float, cause: str
) -> None:
    project = str(planted.cli.workspace.project)
    name, text, *_ = SWITCHES["claude"]
    written_at(planted.cli.write(name, text), START + since)
    seen = planted.session("seen", cwd=project)
    planted.seen(seen)
    seen.write()
    unseen = planted.session("unseen", at=START + 2 * HOUR, cwd=project)
    unseen.call("rm -r x")
    unseen.write()
    _, document = planted.coverage()
    (missed,) = document["missed"]
    assert missed["cause"] == cause
    if cause == "unknown":
        says = "no call of this session asked Hookline; its settings, as they are now, do not say why"
        assert missed["why"] == says


@pytest.mark.parametrize("level", ["untrusted", None, "trusted"])
def test_entries_in_a_project_that_the_agent_does_not_trust_are_the_cause(
    planted: Planted, level: str | None
) -> None:
    project = planted.cli.workspace.project
    (project / ".git").mkdir(exist_ok=True)
    entry = {"type": "command", "command": "hookline hook codex"}
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}, indent=1)
    written_at(planted.cli.write(".codex/hooks.json", text), START - HOUR)
    if level is not None:
        planted.cli.write("~/.codex/config.toml", f'[projects."{project}"]\ntrust_level = "{level}"\n')
    codex_session(planted.home, "s", str(project), ["rm -r x"])
    _, document = planted.coverage()
    (missed,) = document["missed"]
    if level == "trusted":
        assert missed["cause"] == "other agent"
        return
    assert missed["cause"] == "settings"
    assert f"{project}/.codex/hooks.json:2: " in missed["why"]
    assert ("fix: add --trust" in missed["why"]) == (level is None)


def test_entries_for_other_events_are_named_with_the_line_and_the_fix(planted: Planted) -> None:
    entry = {"type": "command", "command": "hookline hook claude-code"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [entry]}]}}, indent=1)
    file = planted.cli.write("~/.claude/settings.json", text)
    session = planted.session("s")
    session.call("rm -r x")
    session.write()
    _, document = planted.coverage()
    (missed,) = document["missed"]
    assert missed["cause"] == "event"
    assert missed["why"].startswith(f"{file}:")
    assert missed["why"].endswith(
        "Hookline's entries are not for PreToolUse; fix: hookline install claude-code"
    )


@pytest.mark.parametrize(
    ("recorded", "file", "text", "setting"),
    [
        (
            "claude-code/1-bash-edit-read",
            ".claude/settings.json",
            '{"disableAllHooks": true}',
            "disableAllHooks",
        ),
        ("codex/1-shell-patch-fail", ".codex/config.toml", "features.hooks = false", "features.hooks"),
        (
            "gemini/1-shell-edit-read",
            ".gemini/settings.json",
            '{"hooksConfig": {"enabled": false}}',
            "hooksConfig.enabled",
        ),
    ],
)
def test_recorded_sessions_name_the_switch_of_their_agent(
    planted: Planted, recorded: str, file: str, text: str, setting: str
) -> None:
    planted.file.write_text(rules(guard="deny Bash(*)"))
    status, document = planted.coverage("--from", str(RECORDED / recorded))
    assert status == 1
    assert {missed["cause"] for missed in document["missed"]} == {"other agent"}
    switch = written_at(planted.cli.write(f"~/{file}", text), START - 365 * 24 * HOUR)
    _, document = planted.coverage("--from", str(RECORDED / recorded))
    assert {missed["cause"] for missed in document["missed"]} == {"settings"}
    for missed in document["missed"]:
        assert missed["why"].startswith(f"{switch}:1: {setting} of a file of yours makes ")


def test_subagents_of_a_workflow_belong_to_its_session(planted: Planted) -> None:
    parent = planted.session("parent")
    planted.seen(parent)
    parent.write()
    child = planted.session("parent", at=START + 60, subagent="abc123", workflow="wf_1")
    planted.seen(child)
    child.write()
    status, document = planted.coverage()
    assert (status, document["missed"]) == (0, [])
    (guard,) = document["hooks"]
    assert (guard["expected"], guard["seen"]) == (2, 2)


def test_a_hook_that_judged_what_another_one_rewrote_was_not_missed(planted: Planted) -> None:
    session = planted.session("s")
    planted.seen(session)
    made = session.call("rm -r build")
    planted.journal.ran("safe-rm", planted.file, "s", made, rewrote=True)
    session.write()
    status, document = planted.coverage()
    assert (status, document["missed"]) == (0, [])


def test_a_session_among_others_that_asked_was_run_with_a_flag(planted: Planted) -> None:
    for number, hours in enumerate((0, 2)):
        session = planted.session(f"s{number}", at=START + hours * HOUR)
        planted.seen(session)
        session.write()
    bare = planted.session("bare", at=START + HOUR)
    bare.call("rm -r x")
    bare.write()
    _, document = planted.coverage()
    (missed,) = document["missed"]
    assert (missed["session"], missed["cause"]) == ("bare", "flag")
    assert missed["why"].endswith("it was likely run with --bare, which switches hooks off")


def test_text_typed_into_a_running_shell_counts_for_a_rule_about_it(planted: Planted) -> None:
    planted.file.write_text(rules(guard="deny BashInput(rm *)"))
    file = codex_session(planted.home, "s", "/srv/app", ["bash"])
    lines = file.read_text().splitlines()
    for number, typed in enumerate(("rm -r x\n", "ls\n")):
        given = json.dumps({"session_id": 1, "chars": typed})
        call = {"type": "function_call", "name": "write_stdin", "arguments": given, "call_id": f"w{number}"}
        answer = {"type": "function_call_output", "call_id": f"w{number}", "output": "ok"}
        last = json.loads(lines[-1])
        lines += [json.dumps({**last, "type": "response_item", "payload": each}) for each in (call, answer)]
    file.write_text("\n".join(lines) + "\n")
    status, document = planted.coverage()
    found = [(missed["tool"], missed["count"]) for missed in document["missed"]]
    assert (status, found) == (1, [("write_stdin", 1)])
