"""Test that keys do what the screen says: menus, early answers, leaving, and what a resumed session shows."""

import asyncio
from pathlib import Path

import pytest
from rich.text import Text

from hookline.agent.tui.text.paint import Painter
from hookline.agent.tui.text.stream import as_markdown
from hookline.model.safe_text import printable
from tests.agent.tui.memory_screen import OnScreen, Project

_ASKS = {
    "PreToolUse": [{"hooks": [{"type": "builtin", "command": "ask", "args": ["look"], "name": "prices"}]}]
}
_BASH = {"name": "Bash", "input": {"command": "echo hi"}, "id": "c1"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def _menu(one: OnScreen, typed: str) -> bool:
    """The menu is that of what was typed: each key opens a new one."""
    state = one.screen.buffer.complete_state
    return state is not None and bool(state.completions) and state.original_document.text == typed


def test_enter_accepts_the_open_entry(project: Project) -> None:
    """The only entry runs; the first of several is filled in, and nothing runs that was not seen whole."""

    async def main() -> None:
        async with project.agent([{"text": "fine"}]) as one:
            await one.until("Enter sends")
            one.types("/hel")
            await one.until(lambda: _menu(one, "/hel"))
            one.types("\r")
            await one.until_words("list the commands")
            one.types("/c")
            await one.until(lambda: _menu(one, "/c"))
            one.types("\r")
            await one.until(lambda: one.screen.buffer.text == "/clear")
            await one.until("> /clear")
            assert "a new conversation" not in one.words.replace("begin a new conversation", "")
            one.types("\x15/add")
            await one.until(lambda: _menu(one, "/add"))
            one.types("\r")
            await one.until(lambda: one.screen.buffer.text == "/add-dir ")

    asyncio.run(main())


def test_an_answer_that_comes_too_early_is_dropped_and_said(project: Project) -> None:
    async def main() -> None:
        async with project.agent([{"tool_calls": [_BASH]}, {"text": "Done."}], _ASKS) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("May the agent run Bash")
            one.screen.dialog._was_typing = False  # pyright: ignore[reportPrivateUsage] a slow typist
            one.types("1")
            await one.until("too early")
            assert one.screen.dialog.open is not None
            assert one.screen.dialog.draft == ""
            await one.answers("1")
            await one.until("Done.")
            assert one.screen.buffer.text == ""

    asyncio.run(main())


def test_ctrl_c_twice_counts_only_without_a_key_between(project: Project) -> None:
    async def main() -> None:
        async with project.agent([{"text": "fine"}]) as one:
            await one.until("Enter sends")
            await one.idle()
            one.types("\x03")
            await one.until("Ctrl-C again leaves")
            one.types("a")
            await one.until("> a")
            one.types("\x03")
            await one.until("cleared; Ctrl-C again leaves")
            assert not one.screen.status.leaving
            one.types("\x03")
            assert await one.left() == 0

    asyncio.run(main())


def test_a_resumed_session_is_shown_again(project: Project) -> None:
    async def main() -> None:
        script = [{"text": "I look.", "tool_calls": [_BASH]}, {"text": "It says hi."}]
        async with project.agent(script, None, "--mode", "bypass") as one:
            await one.until("Enter sends")
            one.types("what does it say?\r")
            await one.until("It says hi.")
            await one.idle()
            one.types("\x04")
            assert await one.left() == 0
        async with project.play("--model", "scripted:script.json", "--resume", "last") as one:
            await one.until("Enter sends")
            await one.until("It says hi.")
            order = [
                "continues an earlier session",
                "> what does it say?",
                "I look.",
                "● Bash echo hi",
                "It says hi.",
            ]
            places = [one.words.index(each) for each in order]
            assert places == sorted(places)
            one.types("\x14")
            await one.until("line ")
            assert "I look." in one.text
            one.types("q")

    asyncio.run(main())


def test_every_broken_guard_is_named(project: Project) -> None:
    broken = [
        {"type": "command", "command": f"exit {n}", "name": f"guard {n}", "on_failure": "closed"}
        for n in range(5, 10)
    ]

    async def main() -> None:
        script = [{"tool_calls": [_BASH]}, {"text": "Done."}]
        async with project.agent(script, {"PreToolUse": [{"hooks": broken}]}, "--mode", "bypass") as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("Done.")
            for number in range(5, 10):
                assert f"hook guard {number}" in one.words

    asyncio.run(main())


def test_parallel_subagents_are_labelled_and_speak_once(project: Project) -> None:
    def agent(what: str) -> dict[str, object]:
        return {"name": "Agent", "input": {"prompt": what, "description": what}, "id": what}

    script = [
        {"tool_calls": [agent("first"), agent("second")]},
        {"text": "Some words.", "agent": "general-purpose", "tool_calls": [_BASH]},
        {"text": "Other words.", "agent": "general-purpose", "tool_calls": [_BASH]},
        {"text": "The end of one.", "agent": "general-purpose"},
        {"text": "The end of the other.", "agent": "general-purpose"},
        {"text": "Both are back."},
    ]

    async def main() -> None:
        async with project.agent(script, None, "--mode", "bypass", rows=50) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("Both are back.")
            await one.idle()
            assert one.words.count("The end of one.") == 1
            assert one.words.count("The end of the other.") == 1
            assert "● Agent first" in one.words
            assert "● Agent second" in one.words

    asyncio.run(main())


def test_no_color_emits_no_colour(project: Project) -> None:
    async def main() -> None:
        async with project.agent(
            [{"text": "**fine** `code`", "tool_calls": [_BASH]}, {"text": "x"}], _ASKS
        ) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.answers("1")
            await one.idle()
            one.types("\x1bOR")
            await one.until("PreToolUse Bash")
            one.types("q")

            coloured = [
                part.partition("m")[0]
                for part in one.emulator.raw.split("\x1b[")[1:]
                if set(part.partition("m")[0]) <= set("0123456789;") and "m" in part[:20]
            ]
            numbers = {number for codes in coloured for number in codes.split(";")}
            assert not numbers & {
                str(n) for n in (*range(30, 39), *range(40, 49), *range(90, 98), *range(100, 108))
            }

    asyncio.run(main())


def test_tags_and_joined_emoji_are_shown_as_they_are() -> None:
    family = "👩\u200d👩\u200d👧"
    assert printable(f"a {family} b") == f"a {family} b"
    assert printable("pay\u200dpal") == "pay<U+200D>pal"
    assert printable("👩\u200dx") == "👩<U+200D>x"
    text = Painter({"NO_COLOR": "1"}).text(
        as_markdown("use <b>bold</b> and <script>x</script>\n\n<div>\nblock\n</div>"), 80
    )
    for each in ("<b>bold</b>", "<script>x</script>", "<div>", "block"):
        assert each in text


def test_backgrounds_are_tinted_only_where_there_are_256_colours() -> None:

    # A colour each: rich remembers how it wrote one.
    assert "48;5;22" in Painter({"TERM": "xterm-256color"}).text(Text("x", "on color(22)"), 40)
    assert "48;5;23" not in Painter({"TERM": "xterm"}).text(Text("x", "on color(23)"), 40)
    assert "48;5;24" not in Painter({"TERM": "xterm-256color", "NO_COLOR": "1"}).text(
        Text("x", "on color(24)"), 40
    )
