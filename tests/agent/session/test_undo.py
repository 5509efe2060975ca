"""Test /undo, `!command`, prompts that steer a turn, the list of steps and questions to the user."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hookline.agent.ports import Choice
from hookline.agent.prompts.prompt import Steering, next_steering
from hookline.agent.transcript.reader import earlier_session, read_transcript
from hookline.agent.tui.channel import PromptQueue
from hookline.model.messages import User
from tests.agent.scripted_session import Answers, Probe, ScriptedSession, call, calls, says
from tests.waiting import until

_BASH = calls(call("Bash", command="echo by the shell > c.txt; echo again > b.txt"))


def _prompts(scripted: ScriptedSession) -> list[str]:
    return [one.text for one in scripted.agent.conversation.messages if isinstance(one, User) and not one.by]


def test_undo_restores_files_and_conversation_and_names_what_the_shell_changed(tmp_path: Path) -> None:
    write = calls(
        call("Write", file_path="a.txt", content="new\n"), call("Write", file_path="b.txt", content="b\n")
    )
    again = calls(call("Edit", file_path="a.txt", old_string="new", new_string="newer"))
    script = [says("one"), calls(call("Read", file_path="a.txt")), write, again, _BASH, says("two")]

    async def main() -> None:
        async with ScriptedSession(tmp_path, script, mode="bypass") as scripted:
            for name in ("a.txt", "c.txt"):
                (scripted.project / name).write_text("old\n")
            await scripted.play("first", "second")
            back = await scripted.play("/undo both")
            assert back is not None
            assert back.rejected_text == "second"
            assert (scripted.project / "a.txt").read_text() == "old\n"
            assert _prompts(scripted) == ["first"]
            said = scripted.seen.texts("notice")[-2]
            assert "restored: " in said
            assert "a.txt" in said
            kept, others = scripted.seen.texts("warning")[-2:]
            assert "b.txt" in kept
            assert "c.txt" in others
            assert (scripted.project / "c.txt").read_text() == "by the shell\n"
            path = scripted.agent.conversation.records.path
            assert [one.text for one in earlier_session(read_transcript(path)).messages] == ["first", "one"]
            await scripted.play("/undo")
            assert _prompts(scripted) == []
            left = await scripted.play("/undo")
            assert left is not None
            assert "no prompt of this run" in left.why

    asyncio.run(main())


def test_undo_removes_a_new_file_and_leaves_the_conversation_if_asked(tmp_path: Path) -> None:
    script = [calls(call("Write", file_path="a.txt", content="new\n")), says("done")]

    async def main() -> None:
        async with ScriptedSession(tmp_path, script, mode="acceptEdits") as scripted:
            await scripted.play("go")
            await scripted.play("/undo code")
            assert not (scripted.project / "a.txt").exists()
            assert _prompts(scripted) == ["go"]
            wrong = await scripted.play("go")
            assert wrong is not None

    asyncio.run(main())


def test_a_command_that_the_user_types_passes_guards_and_is_offered_to_the_model(tmp_path: Path) -> None:
    hooks = {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": "grep -q secret && exit 2 || exit 0"}],
            }
        ]
    }

    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("I see")], hooks=hooks, asker=Answers()) as scripted:
            await scripted.play("!echo hello from here", "!!echo for me alone", "!cat secret")
            await scripted.play("what did it say?")
            sent = str(scripted.requests[0].messages)
            assert "hello from here" in sent
            assert "for me alone" not in sent
            assert len(scripted.events("PreToolUse")) == 3
            assert [one.refused for one in scripted.seen.all if one.kind == "result"] == [False, False, True]
            assert len(scripted.events("UserPromptSubmit")) == 1

    asyncio.run(main())


def test_without_a_user_an_exclamation_mark_is_text(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("yes")]) as scripted:
            await scripted.play("!important: look")
            assert _prompts(scripted) == ["!important: look"]

    asyncio.run(main())


def test_a_prompt_typed_while_it_works_steers_the_turn_through_its_hooks(tmp_path: Path) -> None:
    hooks = {
        "UserPromptSubmit": [
            {
                "hooks": [
                    {"type": "command", "command": "grep -q forbidden && { echo no >&2; exit 2; }; exit 0"}
                ]
            }
        ]
    }

    async def main() -> None:
        async def type_more(_given: object) -> None:
            scripted.agent.queue.extend([Steering("use tabs"), "afterwards", Steering("forbidden words")])

        script = [calls(call("Probe", what="x")), says("with tabs"), says("the last")]
        tool = Probe(does=type_more)
        async with ScriptedSession(tmp_path, script, hooks=hooks, tools=[tool]) as scripted:
            received = await scripted.play("go")
            assert received is not None
            assert received.text == "the last"
            assert [message.text for message in scripted.requests[1].messages[-1:]] == ["use tabs"]
            assert "forbidden words" not in str(scripted.requests)
            assert _prompts(scripted) == ["go", "use tabs", "afterwards"]
            assert len(scripted.events("TurnStart")) == 2
            assert len(scripted.events("UserPromptSubmit")) == 4

    asyncio.run(main())


def test_the_screens_queue_gives_steering_prompts_away() -> None:
    posted: list[object] = []
    queue = PromptQueue(posted.append)
    queue.extend(["later", Steering("now"), Steering("then")])
    assert [next_steering(queue), next_steering(queue), next_steering(queue)] == ["now", "then", None]
    assert list(queue) == ["later"]
    assert len(posted) == 2


class _Picks:
    def __init__(self, *answers: tuple[str | None, str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def pick(
        self, title: str, body: Sequence[str], choices: Sequence[Choice], *, words: bool = False
    ) -> tuple[str | None, str]:
        del body, choices, words
        self.asked.append(title)
        return self._answers.pop(0)


def test_the_model_asks_the_user_and_keeps_a_list(tmp_path: Path) -> None:
    options = [{"label": "Red"}, {"label": "Blue", "description": "like the sky"}]
    asks = calls(
        call("AskUserQuestion", questions=[{"question": "Which?", "options": options}]),
        call("TodoWrite", todos=[{"content": "paint", "status": "in_progress"}]),
    )

    async def main() -> None:
        for answer, expected in (
            (("2", ""), "Blue"), (("words", "1, 2"), "Red, Blue"), (("words", "green"), "green"),
        ):  # fmt: skip
            picks = _Picks(answer)
            async with ScriptedSession(tmp_path / expected, [asks, says("ok")], chooser=picks) as scripted:
                await scripted.play("go")
                assert scripted.results()[0] == f"Which?\n= {expected}"
                assert [todo.content for todo in scripted.ready.todos] == ["paint"]
                assert "$ref" not in str(scripted.requests[0].tools)

    asyncio.run(main())


def test_commands_show_tasks_servers_and_changes(tmp_path: Path) -> None:
    script = [
        calls(call("Bash", command="echo begun; sleep 600", run_in_background=True)),
        calls(call("Write", file_path="a.txt", content="new\n")),
        says("done"),
    ]

    async def main() -> None:
        async with ScriptedSession(tmp_path, script, mode="bypass") as scripted:
            await scripted.play("go")
            await until(lambda: scripted.ready.tasks.all[0].streams.tail(1) == ["begun"])
            await scripted.play("/tasks", "/tasks task_1", "/diff", "/mcp", "/tasks kill task_1", "/tasks")
            tasks, one, diff, mcp, killed, after = scripted.seen.texts("notice")[-6:]
            assert tasks.startswith("task_1  running")
            assert one.endswith("begun")
            assert diff.endswith("a.txt (new)\n  +new")
            assert mcp == "no MCP server is configured"
            assert "has been killed" in killed
            assert "killed" in after

    asyncio.run(main())
