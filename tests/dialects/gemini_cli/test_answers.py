"""Test what the client reads in an answer, and what Hookline answers the client."""

import json
import random
from typing import Any

import pytest

from hookline import Outcome
from hookline.dialects.gemini_cli import dialect
from hookline.dialects.gemini_cli.events import ROWS
from hookline.events import PRE_TOOL_USE
from hookline.extending import Decoded, Exited, HookInvocation, HookReply, Replied, SessionInfo
from hookline.model.outcome import Answer, ContextItem, Halt, Message, Rewrite, Vote
from hookline.schemas.examples import example_payload
from tests.every import every

GEMINI = dialect()


def decode(raw: Any, name: str = "BeforeTool", event: Any = None) -> Decoded:
    row = GEMINI.events[name]
    hook = GEMINI.flag_hook(row, "true")
    payload = example_payload(row.event)
    return GEMINI.wire.decode(
        HookInvocation(hook=hook, event=event or row.event, payload=payload, info=SessionInfo(), timeout=1),
        raw,
    )


def says(document: Any, name: str = "BeforeTool", code: int = 0) -> Decoded:
    return decode(Exited(code, json.dumps(document).encode()), name)


def answer(name: str, outcome: Outcome) -> tuple[Any, tuple[str, ...]]:
    reply: HookReply = GEMINI.wire.answer(name, outcome)
    assert (reply.code, reply.stderr) == (0, "")
    return (json.loads(reply.stdout) if reply.stdout else None), reply.lost


# What a hook says


@pytest.mark.parametrize(("code", "blocked"), [(2, True), (3, True), (127, True), (1, False), (0, False)])
def test_text_denies_with_any_code_but_0_and_1(code: int, blocked: bool) -> None:
    said = decode(Exited(code, b"", b"why\n"))
    assert said.outcome.blocked is blocked
    assert said.outcome.reason == ("why" if blocked else None)


def test_text_with_code_0_is_a_message_and_with_1_a_warning() -> None:
    assert [one.text for one in decode(Exited(0, b"hello")).outcome.messages] == ["hello"]
    failed = decode(Exited(1, b"hello")).failure
    assert failed is not None
    assert (failed.cause, failed.words) == ("crashed", "Warning: hello")


@pytest.mark.parametrize("code", [2, 3, 127, 137])
def test_a_code_without_a_word_denies_nothing_and_is_a_failure(code: int) -> None:
    said = decode(Exited(code))
    assert said.failure is not None
    assert not said.outcome.votes


def test_stdout_is_read_before_stderr_and_an_object_whatever_the_code() -> None:
    assert decode(Exited(2, b"first", b"second")).outcome.reason == "first"
    allowed = decode(Exited(2, b'{"decision": "allow"}', b"why"))
    assert not allowed.outcome.votes
    assert allowed.failure is not None
    assert decode(Exited(0, b"", b'{"decision": "deny", "reason": "x"}')).outcome.reason == "x"


@pytest.mark.parametrize("text", ["5", "[]", "null", "true", '"\\"x\\""'])
def test_json_that_is_no_object_says_nothing(text: str) -> None:
    said = decode(Exited(0, text.encode()))
    assert said.outcome == Outcome()
    assert said.ignored


def test_a_text_in_json_that_holds_none_is_a_message() -> None:
    assert [one.text for one in decode(Exited(0, b'"hello"')).outcome.messages] == ['"hello"']


def test_neither_allow_nor_approve_approves_anything() -> None:
    for word in ("allow", "approve"):
        said = says({"decision": word})
        assert (said.outcome.permission, said.ignored) == (None, ())
    assert says({"decision": "Deny"}).ignored == ("decision",)


def test_a_field_of_another_type_is_passed_over_and_the_rest_counts() -> None:
    said = says(
        {"decision": "deny", "reason": 5, "continue": "no", "hookSpecificOutput": {"tool_input": "x"}}
    )
    assert said.outcome.blocked
    assert not said.outcome.edits
    assert set(said.ignored) == {"reason", "continue", "hookSpecificOutput.tool_input"}


def test_an_answer_of_claude_codes_is_on_record_and_changes_nothing() -> None:
    said = says({"hookSpecificOutput": {"permissionDecision": "deny", "updatedInput": {"command": "x"}}})
    assert said.outcome == Outcome()
    assert set(said.ignored) == {
        "hookSpecificOutput.permissionDecision",
        "hookSpecificOutput.updatedInput",
    }


def test_where_nothing_can_be_denied_a_denial_is_on_record() -> None:
    for name in ("SessionStart", "SessionEnd", "Notification", "PreCompress", "BeforeToolSelection"):
        assert says({"decision": "deny", "reason": "x"}, name).ignored == ("decision",)
        assert decode(Exited(2, b"", b"why"), name).failure is not None


def test_a_request_to_the_model_is_rewritten_as_far_as_an_outcome_has_words() -> None:
    new = {"model": "other", "config": {"temperature": 0}, "messages": [{"role": "model", "content": "x"}]}
    said = says({"hookSpecificOutput": {"llm_request": new}}, "BeforeModel")
    assert said.outcome.updated_messages == [{"role": "assistant", "content": "x"}]
    assert set(said.ignored) == {
        "hookSpecificOutput.llm_request.model",
        "hookSpecificOutput.llm_request.config",
    }


def test_tools_are_offered_by_their_canonical_names() -> None:
    config = {"mode": "ANY", "allowedFunctionNames": ["read_file", "read_many_files", "my_tool"]}
    said = says({"hookSpecificOutput": {"toolConfig": config}}, "BeforeToolSelection")
    assert said.outcome.answer == ["Read", "my_tool"]
    assert said.ignored == ("hookSpecificOutput.toolConfig.mode",)
    nothing = says({"hookSpecificOutput": {"toolConfig": {"mode": "AUTO"}}}, "BeforeToolSelection")
    assert nothing.outcome.answers == ()


def test_only_commands_are_hooks() -> None:
    assert decode(Replied(b"{}", 200)).failure is not None


@every(
    "output",
    [
        b"\x00",
        b"\xff\xfe{}",
        b"{" * 500_000,
        b"[" * 500_000,
        b'{"hookSpecificOutput":' * 100_000,
        b'{"a":' + b"9" * 900_000 + b"}",
        b'"' * 900_001,
        b'"' + b'\\"' * 400_000 + b'"',
        b'{"a": "' + b"\\ud800" * 150_000 + b'"}',
        b'{"decision": NaN}',
    ],
)
def test_hostile_output_allows_nothing_by_accident(output: bytes) -> None:
    for code in (0, 1, 2):
        said = decode(Exited(code, output))
        assert said.outcome.permission in (None, "deny")
        assert not said.outcome.edits


def test_whatever_is_printed_nothing_is_raised() -> None:
    dice = random.Random(7)
    words = [
        "decision",
        "deny",
        "reason",
        "hookSpecificOutput",
        "tool_input",
        "llm_request",
        "toolConfig",
        "messages",
    ]
    values: list[Any] = [
        None,
        True,
        5,
        "x",
        [],
        {},
        [{}],
        {"messages": [5]},
        {"allowedFunctionNames": [5, "x"]},
    ]
    for _ in range(500):
        top = {
            dice.choice(words): dice.choice([*values, {dice.choice(words): dice.choice(values)}])
            for _ in range(4)
        }
        for name in ROWS:
            says(top, name, dice.choice([0, 1, 2]))


# What Hookline answers


def test_a_denial_a_question_and_a_stop() -> None:
    assert answer("BeforeTool", Outcome(votes=(Vote("block", "no"),))) == (
        {"decision": "deny", "reason": "no"},
        (),
    )
    assert answer("BeforeTool", Outcome(votes=(Vote("ask", "?"),))) == (
        {"decision": "ask", "reason": "?"},
        (),
    )
    stopped = answer("AfterModel", Outcome(halts=(Halt("enough"),)))
    assert stopped == ({"continue": False, "stopReason": "enough"}, ())


def test_a_rewrite_of_a_call_is_all_of_its_arguments() -> None:
    edit = Rewrite(
        {"command": "ls"}, patch=True, field="tool_input", whole={"command": "ls", "dir_path": "x"}
    )
    said, lost = answer("BeforeTool", Outcome(edits=(edit,)))
    assert said["hookSpecificOutput"]["tool_input"] == {"command": "ls", "dir_path": "x"}
    assert lost == ()


def test_a_rewrite_that_cannot_be_told_at_a_guard_is_a_denial_on_record() -> None:
    said, lost = answer("BeforeAgent", Outcome(edits=(Rewrite("other", field="prompt"),)))
    assert (said["decision"], lost) == ("deny", ("rewrite",))
    assert "does not support" in said["reason"]
    patch = Rewrite({"command": "ls"}, patch=True, field="tool_input")
    said, lost = answer("BeforeTool", Outcome(edits=(patch,)))
    assert (said["decision"], lost) == ("deny", ("rewrite",))


def test_a_result_is_replaced_by_denying_it() -> None:
    assert (
        answer("AfterTool", Outcome(edits=(Rewrite("[cut]", field="tool_response"),)))[0]["reason"] == "[cut]"
    )
    whole = Rewrite({"llmContent": "[cut]", "returnDisplay": "x"}, field="tool_response")
    assert answer("AfterTool", Outcome(edits=(whole,)))[0]["reason"] == "[cut]"
    other = Rewrite({"stdout": "[cut]"}, field="tool_response")
    assert json.loads(answer("AfterTool", Outcome(edits=(other,)))[0]["reason"]) == {"stdout": "[cut]"}


def test_tools_can_be_taken_away_but_not_chosen() -> None:
    none = answer("BeforeToolSelection", Outcome(answers=(Answer([]),)))
    assert none[0]["hookSpecificOutput"]["toolConfig"] == {"mode": "NONE"}
    assert answer("BeforeToolSelection", Outcome(answers=(Answer(["Read"]),))) == (None, ("answer",))


def test_text_for_model_and_user() -> None:
    said, lost = answer(
        "BeforeAgent", Outcome(context_items=(ContextItem("a"), ContextItem("b")), messages=(Message("m"),))
    )
    assert said["hookSpecificOutput"]["additionalContext"] == "a\nb"
    assert (said["systemMessage"], lost) == ("m", ())
    assert answer("BeforeTool", Outcome(context_items=(ContextItem("a"),))) == (None, ("context",))


def test_what_has_no_json_form_closes() -> None:
    reply = GEMINI.wire.answer(
        "BeforeTool", Outcome(edits=(Rewrite({"command": object()}, field="tool_input"),))
    )
    assert (reply.code, bool(reply.stderr)) == (2, True)


def test_the_arguments_that_the_next_hook_in_order_sees_are_laid_over_each_other() -> None:
    before = example_payload(PRE_TOOL_USE)
    after = GEMINI.wire.advance(PRE_TOOL_USE, before, Outcome(edits=(Rewrite({"x": 1}, field="tool_input"),)))
    assert after.tool_input == {**before.tool_input, "x": 1}
