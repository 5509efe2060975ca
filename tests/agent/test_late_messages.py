"""Words that come after the event: text of background hooks, and wakes of those that may wake the agent."""

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline.model.messages import User
from tests.agent.hook_entries import answers, command, on
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says
from tests.cli.run_cli import clean_env, command_line
from tests.waiting import LONG, until, wait_until


def test_seed001_text_of_an_async_hook_reaches_the_model_with_the_next_request(tmp_path: Path) -> None:
    late = {**answers("UserPromptSubmit", additionalContext="late but true"), "async": True}
    script = [calls(call("Probe", what="wait")), says("done"), says("again")]

    async def main() -> None:
        scripted: ScriptedSession

        async def until_it_is_there(_given: Mapping[str, Any]) -> None:
            await until(lambda: len(scripted.agent.hooks.inbox))

        scripted = ScriptedSession(
            tmp_path, script, hooks=on("UserPromptSubmit", late), tools=[Probe(does=until_it_is_there)]
        )
        async with scripted:
            await scripted.play("go")
            first, second = scripted.requests
            assert "late but true" not in str(first.messages)
            texts = [message.text for message in second.messages if isinstance(message, User)]
            assert texts == ["go", "late but true"]
            # The agent did not wait for it where it was started.
            assert scripted.events("UserPromptSubmit")[0].runs[0].status == "background"

    asyncio.run(main())


def test_seed001_late_text_that_comes_when_the_turn_is_over_waits_for_the_next_prompt(tmp_path: Path) -> None:
    over = tmp_path / "over"
    said = answers("UserPromptSubmit", additionalContext="late but true")
    waits = f"while ! [ -e {over} ]; do sleep 0.05; done; {said['command']}"
    late = {**said, "command": waits, "async": True, "once": True}

    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [says("one"), says("two")], hooks=on("UserPromptSubmit", late)
        ) as scripted:
            received = await scripted.play("first")
            assert received is not None
            assert received.text == "one", "late text is no reason to go on"
            over.touch()
            await until(lambda: len(scripted.agent.hooks.inbox))
            await scripted.play("second")
            assert "late but true" in str(scripted.requests[1].messages)

    asyncio.run(main())


def test_seed001_an_async_hook_decides_nothing_and_its_run_says_so(tmp_path: Path) -> None:
    hooks = on("PreToolUse", command("echo no >&2; exit 2", **{"async": True}))
    scripted = ScriptedSession(
        tmp_path, [calls(call("Probe", what="this")), says("done")], hooks=hooks, tools=[p := Probe()]
    )

    async def main() -> None:
        async with scripted:
            await scripted.play("go")
            runs = scripted.events("PreToolUse")[0].runs
            await until(lambda: len(runs) == 2)
            assert runs[1].dropped == ("decision",)

    asyncio.run(main())
    assert p.calls


def test_seed001_a_rewake_hook_that_finds_nothing_is_silent(tmp_path: Path) -> None:
    hooks = on("Stop", command("true", asyncRewake=True))

    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("one")], hooks=hooks) as scripted:
            received = await scripted.play("go")
            assert received is not None
            assert received.text == "one"
            assert scripted.fired.count("TurnStart") == 1

    asyncio.run(main())


def test_seed001_a_user_message_starts_the_count_of_wakes_anew(tmp_path: Path) -> None:
    hooks = on("Stop", command("echo again >&2; exit 2", asyncRewake=True))
    script = [says(str(number)) for number in range(6)]

    async def main() -> None:
        settings = tmp_path / "home" / "project" / ".hookline"
        settings.mkdir(parents=True)
        (settings / "settings.toml").write_text("[agent]\nmost_wakes = 2\n")
        async with ScriptedSession(tmp_path, script, hooks=hooks) as scripted:
            await scripted.play("go")
            assert len(scripted.requests) == 3
            await scripted.play("go on")
            assert len(scripted.requests) == 6
            assert scripted.fired.count("UserPromptSubmit") == 2, "a wake is nobody's prompt"

    asyncio.run(main())


def test_seed001_a_wake_while_a_turn_runs_waits_until_the_agent_is_idle(tmp_path: Path) -> None:
    hooks = on("UserPromptSubmit", command("echo found it >&2; exit 2", asyncRewake=True, once=True))
    script = [calls(call("Probe", what="wait")), says("done"), says("mended")]

    async def main() -> None:
        scripted: ScriptedSession

        async def until_it_is_there(_given: Mapping[str, Any]) -> None:
            await until(lambda: len(scripted.agent.hooks.inbox))

        scripted = ScriptedSession(tmp_path, script, hooks=hooks, tools=[Probe(does=until_it_is_there)])
        async with scripted:
            received = await scripted.play("go")
            assert received is not None
            assert received.text == "mended"
            assert "found it" not in str(scripted.requests[1].messages)
            assert "found it" in str(scripted.requests[2].messages)
            assert scripted.fired.count("TurnSettled") == 2

    asyncio.run(main())


def test_seed001_an_agent_that_waits_for_its_user_is_woken(tmp_path: Path) -> None:
    """Hold a real conversation: the user types nothing, and yet the agent continues."""
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    scan = "until [ -e gate ]; do sleep 0.02; done; echo 'a hole in line 3' >&2; exit 2"
    hooks = {
        **on("Stop", command(scan, asyncRewake=True, once=True)),
        **on("UserInputWaiting", command("echo idle >> idle.txt")),
    }
    (project / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    (project / "script.json").write_text(json.dumps([{"text": "written"}, {"text": "mended"}]))
    words = ["agent", "--json", "--model", "scripted:script.json", "--config", "hooks.json"]
    process = subprocess.Popen(
        command_line(words),
        cwd=project,
        env=clean_env(tmp_path / "home"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdin is not None
        _wait_until_idle(project, process, 1)
        process.stdin.write("write it\n")
        process.stdin.flush()
        _wait_until_idle(project, process, 2)
        (project / "gate").touch()
        _wait_until_idle(project, process, 3)
        out, err = process.communicate(timeout=LONG)
    finally:
        process.kill()
        process.wait()
    document = json.loads(out)
    assert document["result"] == "mended", err
    fired = [event["event"] for event in document["events"]]
    assert fired.count("UserPromptSubmit") == 1
    assert fired.count("TurnSettled") == 2


def _wait_until_idle(project: Path, process: "subprocess.Popen[str]", times: int) -> None:
    def idle() -> bool:
        assert process.poll() is None, process.communicate()
        file = project / "idle.txt"
        return file.exists() and file.read_text().count("idle") >= times

    wait_until(idle)
