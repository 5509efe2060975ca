"""Test hooks on the screen: while they run, when they decide, and when they block the agent."""

import asyncio
import json
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from hookline.config.engine import Engine
from hookline.events import PRE_TOOL_USE, ToolCall
from tests.agent.tui import screens
from tests.agent.tui.memory_screen import Project
from tests.waiting import LONG, waits_for

_READ = {"name": "Read", "input": {"file_path": "shop.py"}}


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Generator[Project]:
    """Use a path that is equally long every time: lines are cut at the same column."""
    with tempfile.TemporaryDirectory(prefix="hl-", dir="/tmp") as directory:
        project = Project(Path(directory), monkeypatch)
        project.write("shop.py", "VAT = 19\n\ndef price(net):\n    return net\n")
        yield project


def _command(command: str, **more: object) -> dict[str, Any]:
    return {"type": "command", "command": command, **more}


def _bash(command: str, call_id: str = "") -> dict[str, Any]:
    return {"name": "Bash", "input": {"command": command}, "id": call_id}


def test_the_screens_of_a_session(project: Project) -> None:
    """The start, a running hook with a queue, a question, the answer, the inspector, the transcript."""
    go = project.root / "go"
    asks = {
        "type": "builtin",
        "command": "ask",
        "args": ["shop.py sets prices: a person must look"],
        "name": "prices",
    }
    denies = {"type": "builtin", "command": "deny", "args": ["nobody deletes folders"], "name": "no rm -rf"}
    hooks = {
        "PreToolUse": [
            {"matcher": "Edit", "hooks": [asks]},
            {"matcher": "Bash", "hooks": [{**denies, "if": "Bash(rm -rf *)"}]},
        ],
        "UserPromptSubmit": [
            {"hooks": [_command(waits_for(go), name="calendar", statusMessage="Asking the calendar")]}
        ],
    }  # fmt: skip
    edit = {
        "file_path": "shop.py",
        "old_string": "return net",
        "new_string": "return net * (100 + VAT) // 100",
    }
    script = [
        {"text": "I look at it.", "tool_calls": [_READ]},
        {"text": "The tax is missing.\n", "tool_calls": [{"name": "Edit", "input": edit}]},
        {"tool_calls": [_bash("rm -rf build")]},
        {"text": "# Done\n\nThe tax is **in**:\n\n- prices\n- `VAT`\n\n```python\nreturn net * VAT\n```\n"},
        {"text": "Later."},
    ]  # fmt: skip

    async def main() -> None:
        async with project.agent(script, hooks) as one:
            await one.until("Enter sends")
            await one.idle()
            screens.check("start", one.text)
            one.types("add the tax\r")
            await one.until("Asking the calendar")
            one.types("and then?\r")
            await one.until("queued 1: and then?  (after the next calls)")
            one.types("\t")
            await one.until("Tab sends it after the next calls")
            screens.check("running", one.text)
            go.touch()
            await one.until("May the agent run Edit shop.py?")
            await one.until(lambda: "s  (" not in one.text)
            screens.check("question", one.since("> add the tax"))
            await one.answers("1")
            await one.until("Later.")
            await one.idle()
            screens.check("answer", one.since("> add the tax"))
            one.types("\x1bOQ")
            await one.until("decided")
            screens.check("inspector", one.text, columns=True)
            one.types("\x1b[B\r")
            await one.until("at the last")
            screens.check("why", one.text)
            one.types("qo")
            await one.until("until this session ends")
            assert any(row.startswith("off") for row in one.emulator.rows)
            one.types("q")
            await one.until("1 not enforced")
            one.types("\x14")
            await one.until("line ")
            screens.check("transcript", one.text)
            one.types("q")
            await one.until("idle ·")

    asyncio.run(main())


def test_words_of_a_background_hook_come_before_the_agent_goes_on_because_of_them(project: Project) -> None:
    """The agent is idle; the user types nothing."""
    scan = _command("sleep 0.3; echo a key is in shop.py >&2; exit 2", asyncRewake=True, name="scan")
    script = [{"tool_calls": [_READ]}, {"text": "Read it."}, {"text": "The key is out."}]

    async def main() -> None:
        async with project.agent(script, {"PostToolUse": [{"hooks": [scan]}]}) as one:
            await one.until("Enter sends")
            one.types("look\r")
            await one.until("The key is out.")
            shown = " ".join(one.text.split())
            order = (
                "Read it.",
                "↻ a background hook found something",
                "a key is in shop.py",
                "The key is out.",
            )
            places = [shown.index(each) for each in order]
            assert places == sorted(places)

    asyncio.run(main())


def test_rewrites_added_text_and_missing_answers_are_shown(project: Project) -> None:
    specific = {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo safer"}}
    rewrite = f"echo '{json.dumps({'hookSpecificOutput': specific})}'"
    hooks = {
        "PreToolUse": [
            {
                "hooks": [
                    _command(rewrite, name="safer"),
                    _command("echo deny", name="talker", on_failure="open"),
                ]
            }
        ],
        "UserPromptSubmit": [{"hooks": [_command("echo it is a tuesday", name="calendar")]}],
        "Stop": [
            {
                "hooks": [
                    _command("exit 7", name="broken", on_failure="open"),
                    _command("sleep 60", name="slow", timeout=0.2, on_failure="open"),
                    _command("kill -9 $$", name="crashed", on_failure="open"),
                ]
            }
        ],
    }
    script = [{"tool_calls": [_bash("echo risky")]}, {"text": "Done."}]

    async def main() -> None:
        async with project.agent(script, hooks, "--mode", "bypass") as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("Done.")
            await one.idle()
            assert "✎ a hook changed command: echo risky → echo safer" in one.text
            assert "● Bash echo safer" in one.text
            assert "characters for the model" in one.text
            assert "tuesday" not in one.text
            for each in (
                "! hook broken gave no answer: exit 7",
                "! hook slow gave no answer: timed out after 0.2 s",
                "! hook crashed gave no answer: ",
                "! hook talker gave no answer: ",
            ):
                assert each in one.text
            assert one.text.index("> go") < one.text.index("characters for the model")
            one.types("\x14")
            await one.until("it is a tuesday")
            one.types("q")

    asyncio.run(main())


def test_each_guard_that_broke_on_a_call_is_named_once_and_its_lines_stay_below_its_name(
    project: Project,
) -> None:
    guards = [_command("exit 7", name="first"), _command("(exit 8)", name="second")]
    guards.append(
        _command("echo 'a reason of many words that is wider than the terminal is' >&2; exit 2", name="third")
    )
    script = [{"tool_calls": [_bash("echo risky")]}, {"text": "Done."}]

    async def main() -> None:
        async with project.agent(
            script, {"PreToolUse": [{"hooks": guards}]}, "--mode", "bypass", columns=60
        ) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("Done.")
            rows = one.text.split("\n")
            start = next(at for at, row in enumerate(rows) if "denied: " in row)
            card = rows[start : rows.index("", start)]
            assert all(row.startswith("    ") for row in card[1:]), card
            said = " ".join(" ".join(card).split())
            assert "hook first gave no answer: exit 7" in said
            assert "hook second gave no answer: exit 8" in said
            assert "hook second: hook second" not in said
            assert "hook third: a reason of many words" in said
            await one.idle()
            one.types("\x1bOR")
            # Keys that have no room are left out; the one that closes the pane is there.
            await one.until("…  q close")
            # They run at the same time, and are listed as they ended.
            for _ in guards:
                one.types("\r")
                await one.until("understood as")
                if "hook second gave no answer" in one.text:
                    break
                one.types("\x1b")
                await one.until("…  q close")
                one.types("\x1b[A")
            await one.until("deny: hook second gave no answer: exit 8")
            assert not any(row.strip() == "exit 8" for row in one.text.split("\n"))

    asyncio.run(main())


def test_sub_agents_are_nested_under_their_call(project: Project) -> None:
    given = {"prompt": "check", "description": "check the shop"}
    script = [
        {"text": "Somebody checks it.", "tool_calls": [{"name": "Agent", "input": given}]},
        {"text": "I read it.", "tool_calls": [_READ], "agent": "general-purpose"},
        {"text": "It is right.", "agent": "general-purpose"},
        {"text": "Checked."},
    ]  # fmt: skip

    async def main() -> None:
        async with project.agent(script, None) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("Checked.")
            await one.idle()
            screens.check("sub-agent", one.since("> go"))

    asyncio.run(main())


def test_questions_of_parallel_calls_come_one_after_another(project: Project) -> None:
    script = [{"tool_calls": [_bash("touch first", "a"), _bash("touch second", "b")]}, {"text": "Both."}]

    async def main() -> None:
        async with project.agent(script, None) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("May the agent run Bash touch first?")
            # Who decides may want to look first; keys of the page answer nothing.
            one.types("\x1bOQ")
            await one.until("the agent asks for your permission: q goes back to it")
            one.types("1q")
            await one.until("May the agent run Bash touch first?")
            assert "touch second" not in one.text
            await one.answers("1")
            await one.until("May the agent run Bash touch second?")
            await one.answers("1")
            await one.until("Both.")
            assert (project.root / "second").exists()

    asyncio.run(main())


def test_the_project_is_asked_about_in_the_same_form(project: Project) -> None:
    hooks = {"SessionStart": [{"hooks": [_command("touch ran")]}]}

    async def main() -> None:
        async with project.agent([{"text": "Hi."}], hooks, trusted=False) as one:
            await one.until("trust it?")
            assert not (project.root / "ran").exists()
            screens.check("trust", one.text)
            await one.answers("1")
            await one.until("Enter sends")
            await one.until((project.root / "ran").exists)

    asyncio.run(main())


class Holder:
    """An async hook that does what it must not: it holds the agent's loop, until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def add(self, engine: Engine) -> None:
        engine.add(PRE_TOOL_USE, self.hook, name="the holder")

    async def hook(self, call: ToolCall) -> None:
        del call
        self.go.wait(LONG)


def test_a_hook_that_holds_the_agent_does_not_hold_the_screen(project: Project) -> None:
    """Check that the longest gap is under a quarter of the hook's time, no key is lost, and the hook is named."""
    holder = Holder()

    async def main() -> None:
        script = [{"tool_calls": [_READ]}, {"text": "Done."}]
        async with project.agent(script, None, add=holder.add) as one:
            await one.until("Enter sends")
            await one.idle()
            gaps: list[float] = []
            one.types("go\r")
            await one.until(one.screen.channel.running_hooks)
            began = time.perf_counter()
            ticking = asyncio.ensure_future(_ticks(gaps))
            typed = "abcdefghijklmnopqrstuvwxyz" * 2
            for letter in typed:
                one.types(letter)
                await asyncio.sleep(0.02)
            await one.until(f"> {typed}")
            await one.until(lambda: "has not answered for" in one.text and "s: hook the holder" in one.text)
            # A busy machine makes gaps, too: it is held for longer there. A screen that was held would have one gap.
            await one.until(lambda: time.perf_counter() - began > 4 * max(gaps))
            held = time.perf_counter() - began
            ticking.cancel()
            holder.go.set()
            await one.until("Done.")
            assert max(gaps) < held / 4
            assert one.screen.buffer.text == typed

    asyncio.run(main())


async def _ticks(gaps: list[float]) -> None:
    last = time.perf_counter()
    while True:
        await asyncio.sleep(0.02)
        now = time.perf_counter()
        gaps.append(now - last)
        last = now


def test_whoever_presses_ctrl_c_three_times_leaves_also_a_hook_that_holds_the_agent(project: Project) -> None:
    holder = Holder()

    async def main() -> None:
        async with project.agent([{"tool_calls": [_READ]}, {"text": "Done."}], None, add=holder.add) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until(one.screen.channel.running_hooks)
            one.types("\x03\x03\x03")
            await one.until(lambda: not one.screen.app.is_running)
            assert one.screen.actions.abandoned
            assert not one.agent.ended.is_set()
            holder.go.set()
            await one.until(one.agent.ended.is_set)

    asyncio.run(main())
