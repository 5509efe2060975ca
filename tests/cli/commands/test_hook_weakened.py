"""Test a guard that was active when the session began and is gone now: Hookline asks the user, or denies."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline import Engine
from hookline.trust.project import project_root
from hookline.trust.sessions import HookGuards, SessionStore
from hookline.trust.trust import Trust
from tests.cli.commands.agent_calls import DENIES, Caller, decision, reason

GUARD_FILE = ".hookline/hooks.toml"
NAMED = """
[[hooks.PreToolUse]]
matcher = "Write"
[[hooks.PreToolUse.hooks]]
name = "no-writes"
command = "exit 2"
if = "Write(*.lock)"
on_failure = "closed"
"""


@pytest.fixture(params=["process", "daemon"])
def caller(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    return Caller(tmp_path, monkeypatch, daemon=request.param == "daemon")


def changed(old: str, new: str) -> Callable[[Path], object]:
    def change(file: Path) -> None:
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return change


WEAKENED: dict[str, Callable[[Path], object]] = {
    "removed": lambda file: file.unlink(),
    "emptied": lambda file: file.write_text(""),
    "matcher": changed('"Write"', '"Edit"'),
    "condition": changed("*.lock", "*.never"),
    "command": changed("exit 2", "exit 0"),
    "off": changed("on_failure", 'mode = "off"\non_failure'),
    "shadow": changed("on_failure", 'mode = "shadow"\non_failure'),
    "not waited for": changed("on_failure", "async = true\non_failure"),
    "in doubt": changed("on_failure", 'in_doubt = "pass"\non_failure'),
    "fails open": changed('"closed"', '"open"'),
}


@pytest.mark.parametrize("weaken", WEAKENED.values(), ids=list(WEAKENED))
def test_a_guard_that_is_gone_or_weaker_is_asked_about(
    caller: Caller, weaken: Callable[[Path], object]
) -> None:
    file = caller.write(GUARD_FILE, NAMED)
    assert decision(caller.call(caller.project)) is None
    weaken(file)
    asked = caller.call(caller.project)
    assert decision(asked) == "ask"
    assert f"no-writes ({file}:4)" in reason(asked)
    assert f"run `hookline trust` in {caller.project}" in reason(asked)
    # Until the user has confirmed it; a subagent is no way round it, nor is another directory.
    assert decision(caller.call(caller.elsewhere, agent_id="a-1")) == "ask"
    # It guarded tool calls; prompts are as before.
    prompt = caller.call(caller.project, "UserPromptSubmit")
    assert (prompt.code, prompt.stdout) == (0, "")
    # Another session began without it.
    assert decision(caller.call(caller.project, session_id="s-2")) is None


def test_where_the_agent_cannot_ask_it_is_denied(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, NAMED)
    assert caller.call(caller.project, dialect="reasonix").code == 0
    file.unlink()
    denied = caller.call(caller.project, dialect="reasonix")
    assert denied.code == 2
    assert "a guard of this session is gone or was changed: no-writes" in denied.stderr
    prompts = NAMED.replace("PreToolUse", "UserPromptSubmit").replace('if = "Write(*.lock)"', "")
    file.write_text(prompts.replace("exit 2", "exit 0").replace('matcher = "Write"', ""))
    assert caller.call(caller.project, "UserPromptSubmit", session_id="s-2").stdout == ""
    file.unlink()
    # Nobody can be asked about a prompt.
    denied = caller.call(caller.project, "UserPromptSubmit", session_id="s-2")
    assert json.loads(denied.stdout)["decision"] == "block"


def test_what_stays_the_same_is_not_asked_about(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, NAMED + DENIES)
    caller.call(caller.project)
    # Another order, other lines, other names, a comment: the same guards.
    file.write_text("# ours\n\n" + DENIES + NAMED.replace("no-writes", "locked"))
    assert reason(caller.call(caller.project)) == "no shell here"
    # Its own denial is stronger than the question.
    file.write_text(DENIES)
    assert reason(caller.call(caller.project)) == "no shell here"


def test_an_added_guard_needs_no_confirmation_and_is_missed_from_then_on(caller: Caller) -> None:
    caller.call(caller.project)
    file = caller.write(GUARD_FILE, NAMED)
    assert decision(caller.call(caller.project)) is None
    file.unlink()
    assert decision(caller.call(caller.project)) == "ask"


def test_a_file_that_was_broken_for_a_while_leaves_no_trace(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, NAMED)
    caller.call(caller.project)
    file.write_text("[[hooks.PreToolUse]\n")
    closed = caller.call(caller.project)
    assert (decision(closed), str(file) in reason(closed)) == ("deny", True)
    file.write_text(NAMED)
    assert decision(caller.call(caller.project)) is None


def test_a_guard_of_the_user_is_missed_too(caller: Caller) -> None:
    file = caller.write("~/.config/hookline/hooks.toml", NAMED)
    caller.call(caller.elsewhere)
    file.unlink()
    assert f"no-writes ({file}:4)" in reason(caller.call(caller.elsewhere))


def test_the_user_confirms_the_guards_that_are_there_now(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, NAMED + DENIES)
    caller.call(caller.project)
    file.write_text(DENIES)
    assert decision(caller.call(caller.project, tool_name="Read")) == "ask"
    engine = Engine()
    guards = HookGuards(engine.load(str(caller.project)).hooks)
    present = guards.present(Trust(str(caller.project), os.environ))
    sessions = SessionStore(str(caller.home))
    assert sessions.confirm(project_root(str(caller.elsewhere)), present) == 0
    assert decision(caller.call(caller.project, tool_name="Read")) == "ask"
    assert sessions.confirm(project_root(str(caller.project)), present) == 1
    assert decision(caller.call(caller.project, tool_name="Read")) is None
    # What was there then is missed when it goes.
    file.unlink()
    assert decision(caller.call(caller.project, tool_name="Read")) == "ask"


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_start_by_the_user_begins_anew_and_a_compaction_does_not(caller: Caller, source: str) -> None:
    file = caller.write(GUARD_FILE, NAMED)
    caller.call(caller.project)
    file.unlink()
    caller.call(caller.project, "SessionStart", source=source)
    by_user = source in ("startup", "resume")
    assert decision(caller.call(caller.project)) == (None if by_user else "ask")


def test_entries_that_name_files_have_guards_of_their_own(caller: Caller) -> None:
    named = caller.write("named.toml", NAMED)
    caller.write(GUARD_FILE, NAMED.replace("Write", "Edit"))
    for _ in range(2):
        assert decision(caller.call(caller.project)) is None
        assert decision(caller.call(caller.project, files=[str(named)])) is None
    named.write_text("")
    assert decision(caller.call(caller.project, files=[str(named)])) == "ask"
    assert decision(caller.call(caller.project)) is None


def test_arguments_that_were_cut_off_do_not_pass_where_a_guard_is_missed(caller: Caller) -> None:
    file = caller.write(GUARD_FILE, NAMED)
    words = {"DEEPSEEK_TOOL_NAME": "write_file", "DEEPSEEK_WORKSPACE": str(caller.project)}
    words |= {"DEEPSEEK_SESSION_ID": "s-1", "DEEPSEEK_TOOL_ARGS": '{"path": "xxxx...[truncated]'}

    def code(**more: str) -> int:
        return caller.call(
            caller.project, "tool_call_before", dialect="codewhale", env={**words, **more}
        ).code

    assert code() == 0
    assert code(DEEPSEEK_TOOL_ARGS="{}") == 0
    file.unlink()
    assert code() == 2


SCRIPT = """
[[hooks.PreToolUse]]
matcher = "Write"
[[hooks.PreToolUse.hooks]]
name = "judge"
command = "sh tools/judge.sh --rules rules.txt --log seen.log >> said.txt"
"""


def test_a_guard_is_also_what_its_script_says(caller: Caller) -> None:
    caller.write(GUARD_FILE, SCRIPT)
    script = caller.write("tools/judge.sh", "exit 2\n")
    rules = caller.write("rules.txt", "no\n")
    assert decision(caller.call(caller.project)) is None
    # Files that it writes itself do not count.
    caller.write("seen.log", "one\n")
    caller.write("said.txt", "one\n")
    assert decision(caller.call(caller.project)) is None
    script.write_text("exit 0\n")
    assert reason(caller.call(caller.project)).startswith(
        "a guard of this session is gone or was changed: judge"
    )
    script.write_text("exit 2\n")
    assert decision(caller.call(caller.project)) is None
    rules.write_text("yes\n")
    assert decision(caller.call(caller.project)) == "ask"
