"""Test what a test of hooks can do: load them from files of any agent, fire events, and see each result."""

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome, ask, context, deny, rewrite
from hookline.actions import shell
from hookline.engine.host.make_hook import OnFailure
from hookline.events import (
    POST_TOOL_USE,
    PRE_TOOL_USE,
    STOP,
    USER_PROMPT_SUBMIT,
    Capability,
    EventSpec,
    Prompt,
    ToolCall,
    TurnAnswer,
)
from hookline.model.errors import UnknownDialectError, UnknownEventError
from hookline.model.outcome import Halt
from hookline.model.policy import CAUSES, Cause
from hookline.testing import AsyncHooks, Hooks, recorded
from hookline.testing.project import find_project, loader_for
from tests.testing.projects import DOCKER, GROUPED, NATIVE, write
from tests.waiting import wait_until, waits_for

REASON = "force pushes rewrite history"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working directory."""
    directory = tmp_path / "project"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def kit(project: Path) -> Iterator[Hooks]:
    with Hooks() as hooks:
        yield hooks


# Hooks of files


def test_the_guard_of_a_project(kit: Hooks, project: Path) -> None:
    write(project, ".hookline/hooks.toml", NATIVE)
    kit.load(".")
    said = kit.tool("Bash", command="cd app && git push --force")
    assert (said.denied, said.allowed, said.ran, said.skipped) == (REASON, False, ["no force push"], {})
    assert said.runs[0].exit_code == 2
    assert kit.tool("Bash", command="git push").allowed
    read = kit.tool("Read", file_path="x")
    assert read.ran == []
    assert read.skipped["no force push"].startswith("not matched")


@pytest.mark.parametrize("name", [".claude/settings.json", ".gen/settings.json"])
def test_a_file_of_another_agent_is_recognised(kit: Hooks, project: Path, name: str) -> None:
    write(project, name, GROUPED)
    kit.load(name)
    assert kit.tool("Bash", command="git push --force").denied == REASON
    assert kit.tool("Bash", command="git push").allowed


def test_a_directory_has_the_files_of_the_dialect_that_is_named(kit: Hooks, project: Path) -> None:
    write(project, ".claude/settings.json", GROUPED)
    with pytest.raises(AssertionError, match=r"dialect='claude-code'"):
        kit.load()
    kit.load(".", dialect="claude-code")
    assert kit.tool("Bash", command="git push --force").denied == REASON


@pytest.mark.parametrize(
    ("tool", "arguments"), [("shell", {"cmd": "git push --force"}), ("Bash", {"command": "git push --force"})]
)
def test_an_agents_own_tools_and_canonical_ones_reach_its_hooks(
    kit: Hooks, project: Path, tool: str, arguments: dict[str, str]
) -> None:
    write(project, "agent.yaml", DOCKER)
    kit.load("agent.yaml")
    assert kit.tool(tool, arguments).denied == REASON


def test_events_have_the_agents_own_names(kit: Hooks, project: Path) -> None:
    write(project, "agent.yaml", DOCKER)
    kit.load("agent.yaml")
    denied = kit.event("pre_tool_use", {"tool_name": "shell", "tool_input": {"cmd": "git push --force"}})
    assert denied.denied == REASON
    assert kit.event("before_llm_call").ran == ["at the call"]
    assert kit.event("turn_start").ran == ["at the turn"]
    assert kit.event("PreModelCall").ran == ["at the turn", "at the call"]


def test_a_mistake_in_a_file_fails_the_test_with_its_line(kit: Hooks, project: Path) -> None:
    write(project, ".hookline/hooks.toml", NATIVE + 'timout = 3\n\n[[hooks.PreTolUse]]\nmatcher = "x"\n')
    with pytest.raises(AssertionError) as failed:
        kit.load()
    assert re.search(r"hooks\.toml:8: .*timout", str(failed.value))
    assert re.search(r"hooks\.toml:10: .*PreTolUse", str(failed.value))
    assert kit.names == []


def test_a_diagnostic_can_be_let_pass(kit: Hooks, project: Path) -> None:
    write(project, ".hookline/hooks.toml", NATIVE + "timout = 3\n")
    kit.load(ignore=["unknown-field"])
    assert kit.names == ["no force push"]


def test_who_can_write_a_file_is_no_mistake_in_it(kit: Hooks, project: Path) -> None:
    write(project, ".hookline/hooks.toml", NATIVE).chmod(0o666)
    kit.load()


@pytest.mark.parametrize(
    ("path", "why"),
    [("nope.toml", "no such file or directory"), (".", "no file with hooks of Hookline")],
)
def test_nothing_to_load_fails(kit: Hooks, path: str, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        kit.load(path)


def test_a_file_without_hooks_fails(kit: Hooks, project: Path) -> None:
    write(project, ".hookline/hooks.toml", "# nothing\n")
    with pytest.raises(AssertionError, match="no hooks in"):
        kit.load()


def test_a_path_may_be_relative_to_the_root(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, ".claude/settings.json", GROUPED)
    write(project, "tests/x", "")
    monkeypatch.chdir(project / "tests")
    with Hooks(root=project) as hooks:
        hooks.load(".claude/settings.json")
        assert hooks.session.info.cwd == str(project)


def test_files_of_several_agents_run_in_their_usual_order(kit: Hooks, project: Path) -> None:
    write(project, ".hookline/hooks.toml", NATIVE)
    write(project, ".claude/settings.json", GROUPED)
    kit.load()
    kit.load(".claude/settings.json")
    assert kit.engine.hooks[0].dialect == "claude-code"
    assert len(kit.tool("Bash", command="git push --force").ran) == 2


# Nothing of the user


def test_no_file_of_the_user_is_read(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, trace = tmp_path / "home", tmp_path / "trace"
    hostile = NATIVE.replace("grep", f"touch {trace}; grep").replace("no force push", "hostile")
    for name in (".config/hookline/hooks.toml", ".claude/settings.json", ".gen/settings.json"):
        write(
            home, name, hostile if name.endswith("toml") else GROUPED.replace("grep", f"touch {trace}; grep")
        )
    write(home, ".config/hookline/settings.toml", "not even TOML")
    write(project, ".hookline/hooks.toml", NATIVE)
    write(project, ".hookline/hooks.local.toml", hostile)
    write(project, ".claude/settings.json", GROUPED)
    write(project, ".claude/settings.local.json", GROUPED.replace("grep", f"touch {trace}; grep"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("HOOKLINE_TRUST", "none")
    with Hooks() as hooks:
        hooks.load()
        hooks.load(".", dialect="claude-code")
        said = hooks.tool("Bash", command="git push --force")
        assert (len(said.ran), len(hooks.engine.hooks)) == (2, 2)
        assert not trace.exists()
    assert not (home / ".local").exists()


@pytest.mark.parametrize(
    "dialect",
    ["native", "claude-code", "gen-code", "reasonix", "codewhale", "docker-agent", "codex", "gemini-cli"],
)
def test_only_places_of_the_project_are_looked_at(kit: Hooks, project: Path, dialect: str) -> None:
    loader = loader_for(kit.engine)
    name = loader.dialect(dialect).project_files[0]
    write(project, name, "{")
    found = find_project(loader, [project], dialect, "")
    assert found.loaded.searched == (str(project / name),)


def test_the_trace_and_variables_of_hookline_are_ignored(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOOKLINE_TRACE", "1")
    monkeypatch.setenv("HOOKLINE_MODEL", "gpt")
    with Hooks() as hooks:
        hooks.add(USER_PROMPT_SUBMIT, "echo ${HOOKLINE_MODEL-unset} ${SET_LATER-unset}")
        monkeypatch.setenv("SET_LATER", "yes")
        assert hooks.prompt("x").context == ["unset yes"]
    assert capfd.readouterr() == ("", "")


def test_hooks_of_a_project_get_as_little_of_the_environment_as_in_an_agent(
    kit: Hooks, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_VARIABLE", "there")
    text = (
        '[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ncommand = "echo ${MY_VARIABLE-gone}"\n'
    )
    write(project, ".hookline/hooks.toml", text)
    kit.load(".hookline/hooks.toml")
    assert kit.prompt("x").context == ["gone"]


def test_secrets_are_redacted_in_the_explanation(kit: Hooks) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    kit.add(PRE_TOOL_USE, f"echo {key} >&2; exit 2")
    assert key in (kit.tool("Bash", command=f"curl -H {key}").denied or "")
    assert key not in kit.explain()
    assert "exit code 2" in kit.explain()


# Hooks in Python


def test_what_hooks_change_and_say(kit: Hooks) -> None:
    @kit.on(PRE_TOOL_USE, "Bash", rewrites=True)
    def dry(call: ToolCall) -> Outcome:
        return rewrite(command=f"{call.tool_input['command']} --dry-run")

    kit.add(POST_TOOL_USE, lambda _: rewrite("***"), "Bash")
    kit.add(USER_PROMPT_SUBMIT, lambda _: context("it is Friday"))
    kit.add(STOP, lambda _: Outcome(halts=(Halt(""),)))
    said = kit.tool("Bash", command="deploy")
    assert said.input == {"command": "deploy --dry-run"}
    assert said.rewritten == {"tool_input": {"command": "deploy --dry-run"}}
    assert kit.tool("Read", file_path="x").rewritten == {}
    assert kit.tool("Read", file_path="x").input == {"file_path": "x"}
    assert kit.result("Bash", "SECRET").output == "***"
    assert kit.result("Read", "text", file_path="x").output == "text"
    prompt = kit.prompt("deploy")
    assert (prompt.context, prompt.prompt, prompt.allowed) == (["it is Friday"], "deploy", True)
    stop = kit.event(STOP, TurnAnswer(last_assistant_message="done"))
    assert (stop.stopped, stop.allowed) == ("(no reason given)", False)


@pytest.mark.parametrize(("approve", "allowed"), [(None, False), (False, False), (True, True)])
def test_what_is_asked_goes_ahead_if_the_test_approves(
    approve: bool | None, allowed: bool, project: Path
) -> None:
    with Hooks(approve=approve) as hooks:
        hooks.add(PRE_TOOL_USE, lambda _: ask("money"), "pay")
        said = hooks.tool("pay", amount=9)
        assert (said.asked, said.denied, said.allowed) == ("money", None, allowed)


def test_a_denial_without_a_reason_is_one(kit: Hooks) -> None:
    kit.add(PRE_TOOL_USE, lambda _: deny(""))
    assert kit.tool("Bash", command="ls").denied


def test_a_result_shows_itself_in_a_line(kit: Hooks) -> None:
    kit.add(PRE_TOOL_USE, lambda _: deny("no"), "Bash", name="guard")
    kit.add(PRE_TOOL_USE, lambda _: None, "Read", name="reader")
    assert repr(kit.tool("Bash", command="ls")) == (
        "<Result PreToolUse; denied 'no'; ran: guard; did not run: reader>"
    )
    kit.fails("guard")
    assert "failed: guard crashed" in repr(kit.tool("Bash", command="ls"))
    assert repr(kit.prompt("x")) == "<Result UserPromptSubmit; allowed>"


def test_an_engine_is_tested_as_it_is_and_stays_open(kit: Hooks) -> None:
    deployed = EventSpec("Deployed", Prompt, "after a deployment.", Capability.BLOCK)
    engine = Engine(tools={"run": shell("script")}, events=[deployed])
    engine.add(PRE_TOOL_USE, "echo no >&2; exit 2", "Bash", name="guard")
    engine.add(deployed, lambda _: deny("not today"))
    kit.use(engine)
    assert kit.tool("run", script="ls").denied == "no"
    assert kit.event("Deployed", prompt="x").denied == "not today"
    with pytest.raises(RuntimeError, match="hooks are loaded already"):
        kit.use(engine)
    kit.close()
    assert not engine.closed
    asyncio.run(engine.close())


def test_once_is_once_in_a_test(kit: Hooks) -> None:
    kit.add(USER_PROMPT_SUBMIT, lambda _: context("hello"), once=True, name="greeting")
    assert kit.prompt("x").context == ["hello"]
    assert kit.prompt("x").skipped == {"greeting": "ran already: once per session"}


# Which event is meant


@pytest.mark.parametrize("event", [STOP, "Stop"])
def test_an_event_by_its_row_or_its_name(kit: Hooks, event: Any) -> None:
    kit.add(STOP, lambda answer: deny(answer.last_assistant_message))
    assert kit.event(event, last_assistant_message="done").denied == "done"
    assert kit.event(event, {"last_assistant_message": "done"}).denied == "done"


def test_a_name_of_any_agent_is_known(kit: Hooks) -> None:
    kit.add(PRE_TOOL_USE, lambda _: deny("no"))
    assert kit.event("pre_tool_use", tool_name="Bash", tool_input={"command": "ls"}).denied == "no"


def test_the_scene_may_be_said_with_an_event(kit: Hooks) -> None:
    kit.add(STOP, lambda _, info: deny(info.permission_mode))
    assert kit.event("Stop", permission_mode="plan").denied == "plan"
    assert kit.event("Stop").denied == "default"


@pytest.mark.parametrize(
    ("event", "payload", "fields", "error"),
    [
        ("PreTolUse", None, {}, "did you mean 'PreToolUse'"),
        ("Stop", None, {"last_message": "x"}, "has no field 'last_message'; did you mean"),
        (STOP, Prompt(prompt="x"), {}, "Stop takes TurnAnswer, not Prompt"),
        (STOP, TurnAnswer(), {"turn": 2}, "a payload or its fields"),
    ],
)
def test_a_wrong_event_is_told_at_once(kit: Hooks, event: Any, payload: Any, fields: Any, error: str) -> None:
    with pytest.raises((TypeError, UnknownEventError), match=error):
        kit.event(event, payload, **fields)


def test_the_caller_may_be_said(project: Path) -> None:
    with Hooks(caller="reasonix") as hooks:
        hooks.add(PRE_TOOL_USE, "echo no >&2; exit 2", "Bash(rm *)")
        assert hooks.tool("bash", command="rm -rf x").denied == "no"


# Failures


@pytest.mark.parametrize("cause", CAUSES)
def test_a_guard_that_fails_closes(kit: Hooks, project: Path, cause: Cause) -> None:
    write(project, ".hookline/hooks.toml", NATIVE)
    kit.load()
    with kit.fails("no force push", cause):
        said = kit.tool("Bash", command="git push")
        assert said.denied
        assert said.failed == {"no force push": cause}
        assert said.ran == ([] if cause == "not_started" else ["no force push"])
    assert kit.tool("Bash", command="git push").allowed


@pytest.mark.parametrize(("on_failure", "allowed"), [("open", True), ("closed", False)])
def test_a_function_can_be_made_to_fail_too(kit: Hooks, on_failure: OnFailure, allowed: bool) -> None:
    kit.add(PRE_TOOL_USE, lambda _: None, name="guard", on_failure=on_failure)
    kit.fails("guard", "timed_out")
    assert kit.tool("Bash", command="ls").allowed is allowed


def test_a_real_failure_has_its_cause(kit: Hooks) -> None:
    kit.add(PRE_TOOL_USE, "./nope.sh", name="guard")
    said = kit.tool("Bash", command="ls")
    assert (said.failed, said.ran) == ({"guard": "not_started"}, [])
    assert "could not be started" in kit.explain()


def test_what_cannot_be_made_to_fail_is_told(kit: Hooks) -> None:
    kit.add(PRE_TOOL_USE, lambda _: None, name="guard")
    with pytest.raises(LookupError, match="did you mean 'guard'"):
        kit.fails("gaurd")
    with pytest.raises(ValueError, match="there are: not_started"):
        kit.fails("guard", "timeout")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="is a function hook"):
        kit.answers("guard", "yes")


def test_a_model_answers_what_the_test_says(kit: Hooks, project: Path) -> None:
    text = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "judge"\ntype = "prompt"\nprompt = "fine?"\n'
    write(project, ".hookline/hooks.toml", text)
    kit.load()
    said = kit.tool("Bash", command="ls")
    assert said.failed == {"judge": "not_started"}
    assert "hooks.answers('judge'" in (said.denied or "")
    kit.answers("judge", {"ok": False, "reason": "not today"})
    assert kit.tool("Bash", command="ls").denied == "not today"
    kit.answers("judge", '{"ok": true}')
    assert kit.tool("Bash", command="ls").allowed


# HTTP


def _http(project: Path) -> None:
    entry = 'name = "remote"\ntype = "http"\nurl = "https://hooks.example.com/guard?team=a"\nheaders = {X-Team = "a"}\n'
    write(project, ".hookline/hooks.toml", f"[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n{entry}")


def test_http_hooks_are_answered_by_the_test(kit: Hooks, project: Path) -> None:
    _http(project)
    kit.load()
    kit.http.add_response(json={"decision": "block", "reason": "closed"}, url=re.compile("/guard"))
    kit.http.add_response(url="https://hooks.example.com/guard?team=a", text="{}")
    kit.http.add_response(status_code=503)
    assert kit.tool("Bash", command="ls").denied == "closed"
    assert kit.tool("Bash", command="ls").allowed
    assert kit.tool("Bash", command="ls").failed == {"remote": "transport"}
    kit.verify()
    request = kit.http.requests[0]
    assert request.json["tool_input"] == {"command": "ls"}
    assert request.headers["x-team"] == "a"


def test_a_response_that_was_not_used_fails(kit: Hooks) -> None:
    kit.http.add_response(url="https://hooks.example.com/guard")
    kit.http.add_response(is_optional=True)
    with pytest.raises(AssertionError, match=r"response for https://hooks\.example\.com/guard \(200\)$"):
        kit.verify()


@pytest.mark.parametrize("response", [{"url": "https://other.example.com"}, {"match_json": {"x": 1}}])
def test_a_request_without_a_response_fails_and_is_sent_nowhere(
    kit: Hooks, project: Path, response: dict[str, Any]
) -> None:
    _http(project)
    kit.load()
    kit.http.add_response(**response, is_optional=True)
    assert kit.tool("Bash", command="ls").failed == {"remote": "transport"}
    with pytest.raises(AssertionError, match=r"posted to https://hooks\.example\.com/guard, and no response"):
        kit.verify()


def test_a_response_may_be_used_again(kit: Hooks, project: Path) -> None:
    _http(project)
    kit.load()
    kit.http.add_response(json={}, is_reusable=True)
    assert [kit.tool("Bash", command="ls").allowed for _ in range(3)] == [True] * 3
    kit.verify()
    with pytest.raises(ValueError, match="302"):
        kit.http.add_response(status_code=302)


# In the background, and at the end


def test_what_hooks_say_late(kit: Hooks, tmp_path: Path) -> None:
    go = tmp_path / "go"
    kit.add(
        PRE_TOOL_USE, f"{waits_for(go)}; echo the build is broken >&2; exit 2", waiting="rewake", name="build"
    )
    assert kit.tool("Bash", command="make").ran == ["build"]
    with pytest.raises(AssertionError, match=r"these hooks still run: build"):
        kit.drain(0)
    go.touch()
    assert [late.text for late in kit.drain()] == ["the build is broken"]
    assert "ran, in the background, deny 'the build is broken', exit code 2" in kit.explain()


def test_closing_ends_hooks_in_the_background(project: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with Hooks() as hooks:
        hooks.add(PRE_TOOL_USE, f"echo $$ >{pid}; exec sleep 600", waiting="async")
        hooks.tool("Bash", command="ls")
        wait_until(lambda: pid.exists() and pid.read_text().strip())
    wait_until(lambda: not os.path.exists(f"/proc/{pid.read_text().strip()}"))


def test_hooks_that_did_not_run_are_named_with_the_reason(kit: Hooks, project: Path) -> None:
    write(project, ".hookline/hooks.toml", NATIVE)
    kit.load()
    kit.add(STOP, lambda _: None, name="at the end")
    kit.add(STOP, "./nope.sh", name="broken")
    kit.tool("Read", file_path="x")
    with pytest.raises(AssertionError) as failed:
        kit.assert_all_hooks_ran()
    assert str(failed.value).splitlines() == [
        "3 of 3 hooks did not run",
        '  no force push (.hookline/hooks.toml:5): not matched: matcher "Bash" is not "Read"',
        "  at the end: Stop was never fired",
        "  broken: Stop was never fired",
    ]
    kit.tool("Bash", command="git push")
    kit.event(STOP)
    with pytest.raises(
        AssertionError, match=r"1 of 3 hooks did not run\n  broken: the program was not found"
    ):
        kit.assert_all_hooks_ran()


# Async


def test_hooks_run_on_the_loop_of_an_async_test(project: Path) -> None:
    hooks = AsyncHooks()

    @hooks.on(PRE_TOOL_USE)
    async def on_which_loop(_: ToolCall) -> Outcome:
        return deny(str(id(asyncio.get_running_loop())))

    hooks.add(PRE_TOOL_USE, "exit 0", name="process")

    async def calls() -> None:
        here = str(id(asyncio.get_running_loop()))
        said = await asyncio.gather(*(hooks.tool("Bash", command=str(number)) for number in range(5)))
        assert [(each.denied, len(each.ran), each.input) for each in said] == [
            (here, 2, {"command": str(number)}) for number in range(5)
        ]
        assert (await hooks.prompt("x")).allowed
        assert (await hooks.result("Bash", "x")).output == "x"
        assert (await hooks.event("Stop")).allowed
        assert await hooks.drain() == []

    asyncio.run(calls())
    hooks.close()
    assert hooks.engine.closed


# Recorded payloads


def test_what_was_recorded_can_be_fired(kit: Hooks, project: Path) -> None:
    kit.add(PRE_TOOL_USE, lambda call: deny(call.tool_name))
    found = [*recorded("claude-code"), *kit.recorded("reasonix"), *recorded("gemini-cli")]
    assert len(found) > 70
    for each in found:
        said = kit.event(each)
        assert (said.event == "PreToolUse") == bool(said.denied), each.name


def test_what_was_recorded_happened_in_the_project_of_the_test(kit: Hooks, project: Path) -> None:
    kit.add(PRE_TOOL_USE, lambda call, info: deny(f"{call.tool_input.get('file_path')} {info.cwd}"))
    read = next(each for each in recorded("claude-code", "PreToolUse") if each.name == "PreToolUse.Read")
    assert kit.event(read).denied == f"{project}/sub/a.txt {project}"


@pytest.mark.parametrize("dialect", ["claude-code", "codex", "gemini-cli", "reasonix"])
def test_recordings_name_no_place_of_a_machine(dialect: str) -> None:
    for each in recorded(dialect):
        places = set(
            re.findall(r"(?<![\w.])/(?:home|tmp|root|work|Users|private|var)/[\w.]+", str(each.payload))
        )
        assert places <= {"/home/user"}, each.name


def test_what_was_not_recorded_is_told() -> None:
    with pytest.raises(UnknownDialectError, match="did you mean 'claude-code'"):
        recorded("claude-cod")
    with pytest.raises(LookupError, match="recordings of claude-code, reasonix, codex, gemini-cli"):
        recorded("docker-agent")
    with pytest.raises(UnknownEventError, match="did you mean 'PreToolUse'"):
        recorded("claude-code", "PreTolUse")
