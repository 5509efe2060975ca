"""Conversations on the screen, from the first prompt to the last."""

import asyncio
from pathlib import Path

import pytest

from tests.agent.tui.memory_screen import Project

_EDIT = {
    "name": "Edit",
    "input": {"file_path": "shop.py", "old_string": "return net", "new_string": "return net * 2"},
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def _hook(command: str, **more: object) -> list[dict[str, object]]:
    return [{"hooks": [{"type": "command", "command": command, **more}]}]


def test_words_calls_and_results_are_shown_in_order(project: Project) -> None:
    project.write("shop.py", "def price(net):\n    return net\n")
    script = [
        {"text": "I *look* first.\n", "tool_calls": [{"name": "Read", "input": {"file_path": "shop.py"}}]},
        {"text": "The tax is missing.", "tool_calls": [_EDIT]},
        {"text": "# Done\n\n- one\n- two\n"},
    ]

    async def main() -> None:
        async with project.agent(script, None, "--mode", "acceptEdits") as one:
            await one.until("Enter sends")
            one.types("fix it\r")
            await one.until("• two")
            await one.idle()
            text = one.text
            order = ["> fix it", "I look first.", "● Read shop.py", "The tax is missing.", "● Edit shop.py",
                     "-     return net", "+     return net * 2", "Done", "• one"]  # fmt: skip
            places = [text.index(each) for each in order]
            assert places == sorted(places)
            one.types("\x04")
            assert await one.left() == 0

    asyncio.run(main())


def test_a_blocked_prompt_comes_back_with_its_reason_and_is_not_in_the_history(project: Project) -> None:
    hooks = {
        "UserPromptSubmit": _hook(
            "grep -q hunter2 && { echo the prompt holds a password >&2; exit 2; }; true"
        )
    }

    async def main() -> None:
        async with project.agent([{"text": "fine"}], hooks) as one:
            await one.until("Enter sends")
            one.types("hunter2 is it\r")
            await one.until("✗ blocked: the prompt holds a password")
            assert ".hookline/hooks.json:" in one.text
            await one.until(lambda: one.screen.buffer.text == "hunter2 is it")
            assert one.screen.buffer.cursor_position == len("hunter2 is it")
            one.types("\x15ok\r")
            await one.until("fine")
            one.types("\x1b[A")
            await one.until(lambda: one.screen.buffer.text == "ok")
            one.types("\x1b[A")
            await asyncio.sleep(0.2)
            assert one.screen.buffer.text == "ok"

    asyncio.run(main())


def test_prompts_typed_while_a_hook_runs_are_queued_in_order_and_can_be_taken_back(project: Project) -> None:
    go = project.root / "go"
    hooks = {
        "UserPromptSubmit": _hook(f"while [ ! -e {go} ]; do sleep 0.02; done", statusMessage="Looking it up")
    }

    async def main() -> None:
        script = [{"text": f"answer {number}"} for number in range(5)]
        async with project.agent(script, hooks) as one:
            await one.until("Enter sends")
            one.types("first\r")
            await one.until("Looking it up")
            one.types("second\rthird\rfourth\r")
            await one.until("queued 3: fourth")
            one.types("\x1b[A")
            await one.until("\n> fourth")
            assert "queued 3" not in one.text
            one.types("\x15")
            go.touch()
            await one.until("answer 2")
            places = [
                one.text.index(each) for each in ("> first", "answer 0", "> second", "answer 1", "> third")
            ]
            assert places == sorted(places)
            assert "fourth" not in one.text

    asyncio.run(main())


def test_a_question_shows_the_change_and_the_rule_and_words_of_refusal_reach_the_model(
    project: Project,
) -> None:
    project.write("shop.py", "def price(net):\n    return net\n")
    asks = {"type": "builtin", "command": "ask", "args": ["a person must look at prices"], "name": "prices"}
    hooks = {"PreToolUse": [{"hooks": [asks]}]}
    script = [{"tool_calls": [_EDIT]}, {"text": "As you wish."}]

    async def main() -> None:
        async with project.agent(script, hooks, "--mode", "acceptEdits") as one:
            await one.until("Enter sends")
            one.types("half a dra")
            one.types("\x15go\r")
            await one.until("May the agent run Edit shop.py?")
            for each in (
                "why: a person must look at prices",
                "hook prices",
                "+     return net * 2",
                "1 yes",
                "3 no",
            ):
                assert each in one.text
            await one.answers("x")
            one.types("\x7fuse a constant\r")
            await one.until("As you wish.")
            assert "denied: use a constant" in one.text
            assert (project.root / "shop.py").read_text().endswith("return net\n")

    asyncio.run(main())


def test_what_is_typed_when_a_question_appears_is_kept_and_answers_nothing(project: Project) -> None:
    async def main() -> None:
        script = [{"tool_calls": [{"name": "Bash", "input": {"command": "touch it"}}]}, {"text": "So be it."}]
        async with project.agent(script) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("May the agent run Bash touch it?")
            one.types("1 more")
            await one.until(lambda: one.screen.dialog.draft == "1 more")
            assert one.screen.dialog.open is not None
            await one.answers("1")
            await one.until("So be it.")
            await one.until("\n> 1 more")
            assert (project.root / "it").exists()

    asyncio.run(main())


def test_ctrl_c_in_a_hook_says_what_was_stopped_and_keeps_the_queue(project: Project) -> None:
    hooks = {"PreToolUse": _hook("sleep 60", name="slow one", statusMessage="Asking around")}
    script = [
        {"tool_calls": [{"name": "Read", "input": {"file_path": "script.json"}}]},
        {"text": "next answer"},
    ]

    async def main() -> None:
        async with project.agent(script, hooks) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("Asking around")
            one.types("later\r")
            await one.until("queued 1: later")
            one.types("\x03")
            await one.until("■ stopped: hook slow one (PreToolUse)")
            await one.until("on hold")
            assert "queued 1: later" in one.text
            one.types("\r")
            await one.until("next answer")

    asyncio.run(main())


def test_nothing_that_others_write_steers_the_terminal(project: Project) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31m red &#27;[7m &#x9b;31m \u202eabc `x\x1b[0m`\r\n"
    hooks = {
        "PreToolUse": _hook("printf 'no\\033[2J\\033]0;x\\007way' >&2; exit 2", name="evil \x1b[5m name")
    }
    script = [
        {"text": evil, "tool_calls": [{"name": "Read", "input": {"file_path": "\x1b[2Ja"}}]},
        {"text": "the end"},
    ]

    async def main() -> None:
        async with project.agent(script, hooks) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("the end")
            await one.idle()
            for each in ("\x1b]0;", "\x1b[2J", "\x1b[31m", "\x1b[7m \x9b", "\x9b", "\u202e", "\x1b[5m"):
                assert each not in one.emulator.raw
            assert "noway" in one.everything

    asyncio.run(main())


def test_a_shell_line_that_was_stopped_runs_no_longer_on_the_screen(project: Project) -> None:
    async def main() -> None:
        async with project.agent([]) as one:
            await one.until("Enter sends")
            await one.idle()
            one.types("!sleep 600\r")
            await one.until(lambda: one.screen.talk.activity.calls)
            one.types("\x03")
            await one.until("■ stopped: Bash sleep 600")
            await one.idle()
            await one.until(lambda: not one.screen.talk.activity.calls)
            await one.until(lambda: one.text.count("Bash sleep 600") == 1)  # the card; no row of a call below

    asyncio.run(main())
