"""MCP servers in a session: their tools, and everything servers do wrong."""

import asyncio
import json
import re
import time
from pathlib import Path

from tests.agent.mcp.server_sessions import alive, configure, entry, session_with
from tests.agent.scripted_session import call, calls, says
from tests.waiting import until


def test_tools_of_a_server_are_called_and_hooks_are_told_whose_they_are(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        async with session_with(tmp_path, calls(call("mcp__hk__echo", text="x")), says("done")) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["echo x"]
            offered = {tool.name: tool for tool in scripted.requests[0].tools}
            assert offered["mcp__hk__echo"].schema["required"] == ["text"]
            (before,) = scripted.events("PreToolUse")
            assert before.payload.tool_category == "mcp"
            (after,) = scripted.events("PostToolUse")
            assert after.payload.tool_response == [{"type": "text", "text": "echo x"}]
            for fired in (before, after):
                assert fired.payload.mcp_server == {"name": "hk", "source": "project"}

    asyncio.run(main())


def test_a_question_of_permission_and_a_denial_name_the_server_too(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        script = (calls(call("mcp__hk__echo", text="x"), call("mcp__hk__env")), says("done"))
        async with session_with(tmp_path, *script, allow=(), deny=("mcp__hk__env",)) as scripted:
            await scripted.play("go")
            (asked,) = scripted.events("PermissionRequest")
            assert asked.payload.mcp_server == {"name": "hk", "source": "project"}
            refused = {
                fired.payload.tool_name: fired.payload for fired in scripted.events("PermissionDenied")
            }
            assert refused["mcp__hk__env"].mcp_server == {"name": "hk", "source": "project"}

    asyncio.run(main())


def test_an_error_of_a_tool_is_a_failure_of_the_call(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        async with session_with(tmp_path, calls(call("mcp__hk__fail", text="x")), says("done")) as scripted:
            await scripted.play("go")
            (failed,) = scripted.events("PostToolUseFailure")
            assert failed.payload.error == "it went wrong"
            assert failed.payload.mcp_server["name"] == "hk"
            assert not scripted.events("PostToolUse")

    asyncio.run(main())


def test_arguments_are_checked_before_any_hook_sees_the_call(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        async with session_with(tmp_path, calls(call("mcp__hk__echo", text=3)), says("done")) as scripted:
            await scripted.play("go")
            assert not scripted.events("PreToolUse")
            assert "text: expected string, got 3" in scripted.results()[0]

    asyncio.run(main())


def test_what_is_no_text_is_told_of_and_not_shown(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        async with session_with(tmp_path, calls(call("mcp__hk__picture")), says("done")) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["[image of type image/png, 3 bytes, not shown]"]

    asyncio.run(main())


def test_a_server_gets_what_its_entry_gives_and_no_secrets_of_the_user(tmp_path: Path):
    configure(tmp_path, hk=entry(env={"GIVEN": "${HOME}/x", "TOKEN": "${NOT_SET:-none}"}))

    async def main() -> None:
        scripted = session_with(tmp_path, calls(call("mcp__hk__env")), says("done"))
        scripted.env = {"OPENAI_API_KEY": "secret", "EDITOR": "vi"}
        async with scripted:
            await scripted.play("go")
            env = json.loads(scripted.results()[0])
            assert env["GIVEN"] == f"{scripted.home}/x"
            assert env["TOKEN"] == "none"
            assert env["HOME"] == str(scripted.home)
            assert "OPENAI_API_KEY" not in env
            assert "EDITOR" not in env

    asyncio.run(main())


def test_servers_that_cannot_be_used_are_named_and_the_session_goes_on(tmp_path: Path):
    configure(
        tmp_path,
        missing={"command": "no-such-program-anywhere"},
        dies=entry("dies"),
        silent={
            "command": "sh",
            "args": ["-c", r"printf 'Welcome!\033[2J\n'; exec sleep 600"],
            "startup_timeout": 1500,
        },
        far={"type": "http", "url": "http://127.0.0.1:9/mcp"},
    )

    async def main() -> None:
        script = (calls(call("mcp__dies__echo", text="x")), says("done"))
        async with session_with(tmp_path, *script) as scripted:
            received = await scripted.play("go")
            assert received is not None
            assert received.status == "completed"
            assert "Unknown tool 'mcp__dies__echo'" in scripted.results()[0]
            said = {
                name: _about(name, scripted.seen.texts("warning"))
                for name in ("missing", "dies", "silent", "far")
            }
            assert "no program 'no-such-program-anywhere'" in said["missing"]
            assert ".mcp.json:1" in said["missing"]
            assert "ended with exit status 1" in said["dies"]
            assert "no cheese today" in said["dies"]
            assert "did not answer within 1.5 s" in said["silent"]
            assert "Welcome!" in said["silent"]
            assert "\x1b" not in said["silent"]
            assert "cannot be reached" in said["far"]

    asyncio.run(main())


def _about(name: str, texts: list[str]) -> str:
    (found,) = [text for text in texts if text.startswith(f"the MCP server {name} ")]
    return found


def test_a_greeting_on_stdout_does_no_harm(tmp_path: Path):
    configure(tmp_path, chatty=entry("garbage"))

    async def main() -> None:
        async with session_with(
            tmp_path, calls(call("mcp__chatty__echo", text="x")), says("done")
        ) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["echo x"]

    asyncio.run(main())


def test_a_server_that_dies_fails_its_calls_at_once_and_says_its_last_words(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        script = (calls(call("mcp__hk__die")), calls(call("mcp__hk__echo", text="x")), says("done"))
        async with session_with(tmp_path, *script) as scripted:
            received = await scripted.play("go")
            assert received is not None
            assert received.status == "completed"
            errors = [fired.payload.error for fired in scripted.events("PostToolUseFailure")]
            assert len(errors) == 2
            for error in errors:
                assert "the MCP server hk" in error
                assert "ended with exit status 3; its last output: out of [31m cheese" in error
            assert any("its tools fail from now on" in text for text in scripted.seen.texts("warning"))

    asyncio.run(main())


def test_a_call_without_an_answer_fails_when_its_time_is_over_and_the_server_stays(tmp_path: Path):
    configure(tmp_path, hk=entry(timeout=1000), other=entry())

    async def main() -> None:
        script = (calls(call("mcp__hk__sleep"), call("mcp__other__echo", text="x")), says("done"))
        async with session_with(tmp_path, *script) as scripted:
            await scripted.play("go")
            slow, quick = scripted.results()
            assert slow.startswith("sleep of the MCP server hk did not answer within 1 s")
            assert quick == "echo x"

    asyncio.run(main())


def test_a_slow_server_does_not_hold_up_the_first_prompt_and_joins_later(tmp_path: Path):
    configure(tmp_path, hk=entry(), slow=entry("slow"))
    gate = tmp_path / "home" / "project" / "gate"

    async def main() -> None:
        script = (says("one"), says("two"), calls(call("mcp__slow__echo", text="x")), says("three"))
        async with session_with(tmp_path, *script) as scripted:
            # Without the gate the slow one never comes, so it is enough that this returns at all.
            scripted.ready.servers.first_wait = 0.01
            await scripted.play("one")
            assert any(
                re.match("not connected yet: MCP .*slow", text) for text in scripted.seen.texts("warning")
            )
            await until(lambda: "mcp__hk__echo" in scripted.agent.tools)
            await scripted.play("two")
            offered = {tool.name for tool in scripted.requests[1].tools}
            assert "mcp__hk__echo" in offered
            assert "mcp__slow__echo" not in offered
            gate.touch()
            await until(lambda: "mcp__slow__echo" in scripted.agent.tools)
            await scripted.play("three")
            assert scripted.results() == ["echo x"]

    asyncio.run(main())


def test_the_processes_end_with_the_session_also_one_that_will_not(tmp_path: Path):
    configure(tmp_path, hk=entry(), stubborn=entry("stubborn"))
    pids: list[int] = []

    async def main() -> float:
        script = (calls(call("mcp__hk__pid"), call("mcp__stubborn__pid")), says("done"))
        async with session_with(tmp_path, *script) as scripted:
            await scripted.play("go")
            pids.extend(int(text) for text in scripted.results())
            assert all(alive(pid) for pid in pids)
            began = time.monotonic()
        return time.monotonic() - began

    assert asyncio.run(main()) < 20
    assert len(pids) == 2
    assert not any(alive(pid) for pid in pids)


def test_an_interrupted_turn_leaves_the_server_for_the_next(tmp_path: Path):
    configure(tmp_path, hk=entry(), other=entry())

    async def main() -> None:
        script = (calls(call("mcp__hk__sleep")), calls(call("mcp__other__echo", text="x")), says("done"))
        async with session_with(tmp_path, *script) as scripted:
            await scripted.ready.begin()
            scripted.agent.submit("go")
            playing = asyncio.ensure_future(scripted.agent.run())
            await until(lambda: bool(scripted.events("PreToolUse")))
            await asyncio.sleep(0.1)
            scripted.agent.interrupt()
            received = await playing
            assert received is not None
            assert received.status == "interrupted"
            await scripted.play("again")
            assert scripted.results()[-1] == "echo x"

    asyncio.run(main())


def test_a_sub_agent_calls_servers_under_the_same_names(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        script = (
            calls(call("Agent", prompt="call it")),
            calls(call("mcp__hk__echo", text="below")),
            says("it said so"),
            says("done"),
        )
        async with session_with(tmp_path, *script) as scripted:
            await scripted.play("go")
            (inside,) = [fired for fired in scripted.events("PostToolUse") if fired.agent]
            assert inside.payload.tool_response == [{"type": "text", "text": "echo below"}]

    asyncio.run(main())


def test_without_servers_nothing_is_started_or_loaded(tmp_path: Path):
    async def main() -> None:
        async with session_with(tmp_path, says("done")) as scripted:
            await scripted.play("go")
            assert scripted.servers.connections == ()

    asyncio.run(main())


def test_a_server_that_prints_without_end_is_ended_and_the_session_has_its_turn(tmp_path: Path):
    configure(
        tmp_path,
        lines={"command": "yes"},
        line={"command": "cat", "args": ["/dev/zero"]},
        mirror={"command": "cat"},
        hk=entry(),
    )

    async def main() -> None:
        async with session_with(tmp_path, calls(call("mcp__hk__echo", text="x")), says("done")) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["echo x"]
            warnings = scripted.seen.texts("warning")
            lines, line, mirror = (_about(name, warnings) for name in ("lines", "line", "mirror"))
            assert "was ended by signal 9; its last output: 'y'; it printed more than 4 MB" in lines
            assert "it printed a line of more than 16 MB" in line
            assert "cannot be used" in mirror

    asyncio.run(main())


def test_what_a_server_started_ends_with_it(tmp_path: Path):
    configure(tmp_path, hk={"command": "sh", "args": ["-c", "sleep 600 & echo $! > child; exit 4"]})

    async def main() -> None:
        async with session_with(tmp_path, says("done")) as scripted:
            await scripted.play("go")
            child = int((scripted.project / "child").read_text())
            await until(lambda: not alive(child))
            assert "ended with exit status 4" in _about("hk", scripted.seen.texts("warning"))

    asyncio.run(main())
