"""Test what the user types beside prompts: keys, and answers to forms; and the line at the bottom."""

import asyncio
from pathlib import Path

import pytest

from tests.agent.mcp.server_sessions import configure, entry
from tests.agent.tui.memory_screen import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def test_earlier_prompts_are_searched_modes_change_and_the_cost_is_shown(project: Project) -> None:
    usage = {"input_tokens": 1000, "output_tokens": 10, "cost_usd": 0.0123}
    edit = {"name": "Write", "input": {"file_path": "new.txt", "content": "new"}}
    script = [
        {"text": "One.", "usage": usage},
        {"text": "Two.", "usage": usage},
        {"tool_calls": [edit]},
        {"text": "Written."},
    ]

    async def main() -> None:
        async with project.agent(script) as one:
            await one.until("Enter sends")
            one.types("the first prompt\r")
            await one.until("1010 tok · $0.01")
            one.types("another thing\r")
            await one.until("1010 tok · $0.02")
            one.types("\x12fir")
            await one.until("> the first prompt\nsearch: fir")
            one.types("\r")
            await one.until(lambda: one.screen.buffer.text == "the first prompt")
            await one.until(lambda: "search:" not in one.text)
            one.types("\x15")
            one.types("\x1b[Z")
            await one.until("· acceptEdits ·")
            # It counts, not only on the line: there is no question.
            one.types("write it\r")
            await one.until("Written.")
            one.types("\x1b[Z")
            await one.until("· plan ·")
            one.types("\x1b[Z")
            await one.until("· default ·")

    asyncio.run(main())


def test_what_is_not_trusted_is_counted_at_the_start_and_below(project: Project) -> None:
    hooks = {
        "Stop": [{"hooks": [{"type": "command", "command": "touch ran", "name": "toucher"}]}],
        "PreToolUse": [{"hooks": [{"type": "builtin", "command": "deny", "args": ["no"], "name": "none"}]}],
    }

    async def main() -> None:
        async with project.agent([{"text": "Hi."}], hooks, trusted=False) as one:
            await one.until("trust it?")
            await one.answers("3")
            await one.until("Enter sends")
            # The guard only tightens: it needs no trust.
            await one.until("2 hooks (1 untrusted)")
            assert "1 of them not trusted, so it does not run; /trust shows it" in one.text
            one.types("hello\r")
            await one.until("Hi.")
            one.types("\x1bOQ")
            await one.until(lambda: any("toucher" in row and "untrusted" in row for row in one.emulator.rows))
            assert any("none" in row and "untrusted" not in row for row in one.emulator.rows)
            one.types("\r")
            await one.until("it did not run: untrusted")
            one.types("q\x1b[B\r")
            await one.until("not needed to deny and to ask")
            await one.until("no PreToolUse has happened yet")
            one.types("qq")
            await one.until("idle ·")
            one.types("/trust\r")
            await one.until("trust it?")
            await one.answers("1")
            await one.until("· 2 hooks ·")

    asyncio.run(main())


def test_a_form_of_an_mcp_server_is_a_question_like_others(project: Project, tmp_path: Path) -> None:
    configure(tmp_path, hk=entry())
    script = [
        {"tool_calls": [{"name": "mcp__hk__ask", "input": {"text": "x"}}]},
        {"tool_calls": [{"name": "mcp__hk__ask", "input": {"text": "y"}}]},
        {"text": "Asked."},
    ]

    async def main() -> None:
        async with project.agent(script, None, "--allow", "mcp__*") as one:
            await one.until("Enter sends")
            one.types("half a dr")
            one.types("\x15go\r")
            await one.until("An MCP server asks")
            for each in ("the MCP server hk asks: who?", "username (Username)", "waits for you"):
                assert each in one.text
            await one.answers("ann\r")
            await one.until_words('"username": "ann"')
            await one.until("An MCP server asks")
            await one.answers("\x1b")
            await one.until("Asked.")
            assert '{"action": "cancel"}' in one.words

    asyncio.run(main())


def test_a_hook_answers_for_the_user_and_another_one_lets_the_agent_try_again(project: Project) -> None:
    allows = (
        '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}'
    )
    retries = '{"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": true}}'
    hooks = {
        "PermissionRequest": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": f"echo '{allows}'"}]}
        ],
        "PermissionDenied": [{"hooks": [{"type": "command", "command": f"echo '{retries}'"}]}],
    }
    script = [
        {"tool_calls": [{"name": "Bash", "input": {"command": "touch made"}}]},
        {"tool_calls": [{"name": "Write", "input": {"file_path": "no.txt", "content": "x"}}]},
        {"text": "Another way."},
    ]

    async def main() -> None:
        async with project.agent(script, hooks) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("May the agent run Write no.txt?")
            assert (project.root / "made").exists()
            assert "May the agent run Bash" not in one.everything
            await one.answers("3")
            await one.until("Another way.")
            assert not (project.root / "no.txt").exists()

    asyncio.run(main())


def test_words_that_are_no_answer_do_not_let_the_next_enter_take_what_was_marked(project: Project) -> None:
    """At the question of trust, where nothing but a choice is an answer."""
    project.write(".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{ command = "touch ran" }]\n')

    async def main() -> None:
        async with project.agent([{"text": "fine"}], trusted=False) as one:
            await one.until("trust it?")
            await one.answers("look at @s")
            await one.until("> look at @s")
            one.types("\t\r\r")
            await one.until("answer with 1, 2, 3, 4")
            await one.until("\n>\n")
            assert one.screen.dialog.open is not None
            one.types("3")
            await one.until("1 untrusted")

    asyncio.run(main())


def test_a_command_is_echoed_in_its_turn_and_nothing_is_said_to_be_added_for_the_model(
    project: Project,
) -> None:
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo it is a tuesday"}]}]}

    async def main() -> None:
        async with project.agent([{"text": "one"}], hooks) as one:
            await one.until("Enter sends")
            one.types("hello\r/cost\r")
            await one.until("tokens in")
            places = [one.words.index(each) for each in ("> hello", "a hook added", "one", "> /cost")]
            assert places == sorted(places)
            assert one.words.count("a hook added") == 1

    asyncio.run(main())


def test_sessions_and_modes_are_chosen_from_a_menu(project: Project) -> None:
    async def main() -> None:
        async with project.agent([{"text": "The answer is forty-two."}]) as one:
            await one.until("Enter sends")
            one.types("what is it?\r")
            await one.until("forty-two.")
            one.types("/mode ")
            await one.until("plan  ")
            one.types("inside")
            await one.until(lambda: "plan  " not in one.text and "acceptEdits  " in one.text)
            one.types("\t")
            await one.until("> /mode acceptEdits")
            one.types("\r")
            await one.until("permission mode: acceptEdits")
            one.types("\x04")
            assert await one.left() == 0
        async with project.play("--model", "scripted:script.json") as one:
            await one.until("Enter sends")
            one.types("/resume ")
            # The menu is there before what is in it.
            await one.until(lambda: (menu := one.screen.buffer.complete_state) and menu.completions)
            one.types("\t")
            await one.until(lambda: len(one.screen.buffer.text) > len("/resume "))
            one.types("\r")
            await one.until("continues an earlier session: 2 messages")
            assert "The answer is forty-two." in one.words

    asyncio.run(main())
