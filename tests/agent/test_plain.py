"""Test the agent without a screen: what is on stdout, what is on stderr, and how it asks questions."""

import asyncio
import json
from pathlib import Path
from typing import Any

from hookline.agent.ports import PermissionPrompt, PermissionReply
from tests.agent.scripted_session import Answers, ScriptedSession, call, calls, says
from tests.cli.run_cli import Ran, run_cli

_EDIT = {"name": "Edit", "input": {"file_path": "shop.py", "old_string": "net", "new_string": "net * 2"}}
_READ = {"name": "Read", "input": {"file_path": "shop.py"}}
_GUARD = """\
[[hooks.PreToolUse]]
matcher = "Edit"
[[hooks.PreToolUse.hooks]]
name = "prices"
type = "builtin"
command = "ask"
args = ["a person must look at prices"]
"""


def _run(directory: Path, script: list[Any], *words: str, stdin: str = "", hooks: str = "") -> Ran:
    project = directory / "home" / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / "script.json").write_text(json.dumps(script))
    (project / "hooks.toml").write_text(hooks)
    (project / "shop.py").write_text("return net\n")
    given = ["agent", "--model", "scripted:script.json", "--config", "hooks.toml", *words]
    return run_cli(given, project, project.parent, stdin=stdin)


def test_print_has_every_answer_on_stdout_and_nothing_else(tmp_path: Path) -> None:
    script = [{"text": "I look", "tool_calls": [_READ]}, {"text": "one"}, {"text": "two"}]
    ran = _run(tmp_path, script, "-p", "first", "second")
    assert (ran.status, ran.stdout) == (0, "one\ntwo\n")
    assert ran.stderr.startswith("tool: Read shop.py\n  = ")


def test_an_error_is_on_stderr_alone(tmp_path: Path) -> None:
    ran = _run(tmp_path, [{"error": "rate_limit"}], "--print", "go")
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.startswith("warning: the model failed (rate_limit)")


def test_continue_is_resume_last_and_resume_alone_lists_the_sessions(tmp_path: Path) -> None:
    _run(tmp_path, [says("hi")], "-p", "the first prompt")
    ran = _run(tmp_path, [says("again")], "--json", "--continue", "and now?")
    texts = [message.get("text") for message in json.loads(ran.stdout)["requests"][0]["messages"]]
    assert texts == ["the first prompt", "hi", "and now?"]
    listed = _run(tmp_path, [], "--resume")
    assert listed.status == 0
    assert listed.stdout.rstrip().endswith("the first prompt")


def test_stream_json_is_a_line_for_each_thing_and_the_end_last(tmp_path: Path) -> None:
    script = [{"tool_calls": [_READ]}, says("done")]
    ran = _run(tmp_path, script, "--output-format", "stream-json", "go")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    kinds = [line["type"] for line in lines if line["type"] not in {"event", "request", "usage"}]
    assert kinds == ["prompt", "call", "result", "delta", "answer", "settled", "end"]
    assert lines[-1]["status"] == "completed"
    assert next(line["event"] for line in lines if line["type"] == "event") == "SessionStart"


def test_a_question_shows_the_difference_who_asks_and_where_that_is_written(tmp_path: Path) -> None:
    script = [{"tool_calls": [_READ]}, {"tool_calls": [_EDIT]}, says("as you like"), says("later")]
    typed = "change it\nwhat?\n4 not on a Friday\nlater\n"
    ran = _run(tmp_path, script, stdin=typed, hooks=_GUARD)
    assert ran.stdout == "agent: as you like\nagent: later\n"
    question = ran.stderr[ran.stderr.index("permission:") :]
    assert question.startswith(
        "permission: may the agent run Edit shop.py?\n"
        "  file: shop.py\n"
        "  -return net\n"
        "  +return net * 2\n"
        "  why: a person must look at prices\n"
        "    (hook prices, hooks.toml:3)\n"
        "  1 yes\n"
        f"  2 yes, for this session: Edit(/{tmp_path / 'home/project/shop.py'})\n"
        "  3 no, and stop the turn\n"
        "  4 no, with a reason for the agent: 4 WHY\n"
        "  answer with the number of a choice"
    )
    assert "denied: not on a Friday" in question


def test_what_is_shown_names_the_call_the_subagent_the_hook_and_its_source(tmp_path: Path) -> None:
    deny: dict[str, Any] = {"type": "command", "name": "guard", "command": "echo no >&2; exit 2"}
    hooks = {"PreToolUse": [{"matcher": "Probe", "hooks": [deny]}]}
    script = [
        calls(call("Agent", prompt="look", description="a look")),
        {"agent": "general-purpose", **calls(call("Read", file_path="hooks.json"))},
        {"agent": "general-purpose", "text": "seen"},
        says("done"),
    ]

    async def main() -> ScriptedSession:
        async with ScriptedSession(tmp_path, script, hooks=hooks) as scripted:
            await scripted.play("go")
        return scripted

    shown = asyncio.run(main()).seen.all
    begun = next(each for each in shown if each.kind == "call" and each.tool == "Agent")
    inner = [each for each in shown if each.kind in {"call", "result"} and each.tool == "Read"]
    assert begun.tool_use_id
    assert {(each.agent, each.under) for each in inner} == {("general-purpose", begun.tool_use_id)}
    assert len({each.tool_use_id for each in inner}) == 1
    assert [each.usage.total_tokens for each in shown if each.usage is not None]


def test_a_rewrite_a_denial_and_added_text_are_shown_with_their_hook(tmp_path: Path) -> None:
    rewrite = """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo b"}}}'"""  # noqa: E501
    hooks: dict[str, Any] = {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"command": rewrite, "name": "other", "rewrites": True}]}
        ],
        "PostToolUse": [
            {"hooks": [{"command": "sleep 5", "timeout": 0.2, "name": "late", "on_failure": "open"}]}
        ],
        "UserPromptSubmit": [{"hooks": [{"command": "echo be kind", "name": "kind"}]}],
        "PermissionRequest": [
            {"matcher": "Write", "hooks": [{"command": "echo no >&2; exit 2", "name": "never"}]}
        ],
    }
    script = [
        calls(call("Bash", command="echo a"), call("Write", file_path="x", content="y")),
        says("done"),
    ]

    async def main() -> ScriptedSession:
        async with ScriptedSession(tmp_path, script, hooks=hooks, allow=("Bash",)) as scripted:
            await scripted.play("go")
        return scripted

    shown = asyncio.run(main()).seen.all
    rewritten = next(each for each in shown if each.kind == "rewrite")
    assert (rewritten.hook, rewritten.before["command"], rewritten.after["command"]) == (
        "other",
        "echo a",
        "echo b",
    )
    assert rewritten.source.endswith("hooks.json:1")
    assert [(each.hook, each.text) for each in shown if each.kind == "context"] == [("kind", "be kind")]
    denied = next(each for each in shown if each.refused)
    assert (denied.tool, denied.hook, denied.source.endswith("hooks.json:1")) == ("Write", "never", True)
    silent = [each for each in shown if each.hook == "late"]
    assert len(silent) == 1
    assert "no answer" in silent[0].text


def test_a_no_with_words_lets_the_model_go_on_and_a_no_alone_ends_the_turn(tmp_path: Path) -> None:
    replies = Answers(
        PermissionReply(allow=False, message="not this one", go_on=True), PermissionReply(allow=False)
    )
    script = [calls(call("Bash", command="ls")), calls(call("Bash", command="ls")), says("never")]

    async def main() -> tuple[list[PermissionPrompt], str]:
        async with ScriptedSession(tmp_path, script, asker=replies) as scripted:
            result = await scripted.play("go")
            assert result is not None
            assert scripted.results() == ["not this one", "the user said no"]
            return replies.questions, result.status

    questions, status = asyncio.run(main())
    assert questions[0].grants
    assert status == "blocked"
