"""Test where a hook's output goes: to the system prompt, to one request, to the user, or nowhere."""

import shlex
import shutil
from pathlib import Path

import pytest

from hookline import Outcome
from hookline.dialects.reasonix.wire import Marked, read_markers
from hookline.events import TurnAnswer
from hookline.model.outcome import ContextItem
from tests.dialects.reasonix.hooks import DATA, PAYLOADS, agent_with, agent_with_hook, message_texts
from tests.every import every


@pytest.mark.parametrize(
    ("event", "placement", "lifetime"),
    [
        ("SessionStart", "system", "session"),
        ("TurnStart", "conversation", "turn"),
        ("PreModelCall", "transient", "call"),
    ],
)
def test_text_of_a_passing_hook_goes_to_its_place(event: str, placement: str, lifetime: str):
    agent = agent_with_hook(event, "echo; echo ' remember this '; echo 'and this'; echo")
    outcome = agent.fire(event, PAYLOADS[event])
    (item,) = outcome.context_items
    assert (item.text, item.placement, item.lifetime) == ("remember this \nand this", placement, lifetime)
    assert outcome.messages == ()


@every("event", ["SessionStart", "TurnStart", "PreModelCall"])
@every("command", ["true", "echo", "printf ' \\n\\t '"])
def test_no_text_changes_nothing(event: str, command: str):
    assert agent_with_hook(event, command).fire(event, PAYLOADS[event]).context_items == ()


@pytest.mark.parametrize("event", ["SessionStart", "TurnStart", "PreModelCall"])
def test_each_text_is_cut_at_4096_characters(event: str):
    agent = agent_with(f"""
{{"hooks": {{"{event}": [
  {{"command": "python3 -c \\"print('é' * 5000)\\""}},
  {{"command": "python3 -c \\"print('b' * 4096)\\""}}
]}}}}
""")
    outcome = agent.fire(event, PAYLOADS[event])
    assert outcome.context == ("é" * 4096, "b" * 4096)
    assert [run.dropped for run in agent.runs] == [("text beyond 4,096 characters",), ()]


@pytest.mark.parametrize("event", ["SessionStart", "TurnStart", "PreModelCall"])
def test_text_of_a_hook_that_failed_is_no_context(event: str):
    outcome = agent_with_hook(event, "echo half; exit 1").fire(event, PAYLOADS[event])
    assert outcome.context_items == ()
    assert message_texts(outcome) == [f"hook project/{event} `echo half; exit 1` warn: half"]


@pytest.mark.parametrize(
    "event",
    ["PreToolUse", "PostToolUse", "UserPromptSubmit", "PostModelCall", "Stop", "SessionEnd", "PostLLMCall"],
)
def test_elsewhere_text_goes_nowhere_and_the_run_says_so(event: str):
    agent = agent_with_hook(event, "echo note")
    outcome = agent.fire(event, PAYLOADS[event])
    assert (outcome.context_items, outcome.messages) == ((), ())
    assert agent.runs[0].dropped == ("stdout",)


@pytest.mark.parametrize("code", [0, 1, 2])
def test_text_before_compaction_is_guidance_whatever_the_exit(code: int):
    outcome = agent_with_hook("PreCompact", f"echo keep the plan; exit {code}").fire(
        "PreCompact", PAYLOADS["PreCompact"]
    )
    assert outcome.context == ("keep the plan",)
    assert not outcome.blocked


def test_the_documented_gate_runs_as_it_stands(tmp_path: Path):
    shutil.copy(DATA / "turn_end_gate.txt", tmp_path / "gate.py")
    text = '{"hooks": {"TurnEnd": [{"command": "python3 gate.py"}]}}'
    agent = agent_with(text, cwd=str(tmp_path))
    outcome = agent.fire("TurnEnd", TurnAnswer(last_assistant_message="done, but one todo is left"))
    assert outcome.blocked
    assert outcome.reason == "Remove TODO markers before finalizing."
    assert outcome.context_items == (
        ContextItem("Remove TODO markers before finalizing.", "user", "session", "gate.py"),
    )
    assert message_texts(outcome) == ["hook project/TurnEnd `python3 gate.py` block", "TurnEnd gate blocked."]
    outcome = agent.fire("TurnEnd", TurnAnswer(last_assistant_message="done"))
    assert (outcome.blocked, outcome.context_items, outcome.messages) == (False, (), ())


def gate(output: str, code: int, stderr: str = "") -> Outcome:
    command = f"printf %s {shlex.quote(output)}; printf %s {shlex.quote(stderr)} >&2; exit {code}"
    return agent_with_hook("TurnEnd", command, name="gate").fire("TurnEnd", PAYLOADS["TurnEnd"])


def test_a_gate_sends_its_text_or_a_default_one_and_warns():
    outcome = gate("@@INJECT: add tests\n@@WARN: sent back", 2, "two tests fail")
    assert [(item.text, item.placement) for item in outcome.context_items] == [("add tests", "user")]
    assert message_texts(outcome)[-1] == "sent back"
    outcome = gate("", 2, "two tests fail")
    (item,) = outcome.context_items
    assert item.placement == "user"
    assert "rejected. Reason: two tests fail" in item.text
    assert outcome.reason == "two tests fail"


def test_several_injected_lines_are_one_message_in_any_case_of_the_marker():
    outcome = gate(
        "  @@inject: first\n@@Inject: second\nplain\n\t@@INJECT:third\nsee @@INJECT: not this\n", 2
    )
    assert outcome.context == ("first\nsecond\nthird",)
    assert outcome.reason == "plain\nsee @@INJECT: not this"


def test_stderr_is_the_reason_and_the_injected_text_the_message():
    outcome = gate("@@INJECT: add tests", 2, "no tests")
    assert (outcome.reason, outcome.context) == ("no tests", ("add tests",))


@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_warning_counts_whatever_the_exit(code: int):
    said = message_texts(gate("@@WARN: look here\n@@warn: and here", code))
    assert [text for text in said if not text.startswith("hook ")] == ["look here", "and here"]
    assert len(said) == (2 if code == 0 else 3)


def test_an_injected_text_without_a_block_is_dropped_and_the_run_says_so():
    agent = agent_with_hook("TurnEnd", "echo '@@INJECT: more'")
    outcome = agent.fire("TurnEnd", PAYLOADS["TurnEnd"])
    assert (outcome.context_items, outcome.votes) == ((), ())
    assert agent.runs[0].dropped == ("@@INJECT without a block",)


def test_a_gate_that_was_too_slow_is_heard_as_far_as_it_came():
    agent = agent_with_hook(
        "TurnEnd", "echo '@@INJECT: hurry'; echo '@@WARN: slow'; exec sleep 30", timeout=2500
    )
    outcome = agent.fire("TurnEnd", PAYLOADS["TurnEnd"])
    assert outcome.blocked
    assert outcome.context == ("hurry",)
    assert "slow" in message_texts(outcome)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("", Marked()),
        ("@@INJECT:", Marked()),
        ("@@INJECT", Marked(rest="@@INJECT")),
        ("@@WARN:   \n", Marked()),
        ("@@INJECT: a\r\n@@WARN: b\r\nc", Marked("a", ("b",), "c")),
        ("@@INJECT: @@WARN: x", Marked("@@WARN: x")),
    ],
)
def test_markers_are_read_line_by_line(text: str, marked: Marked):
    assert read_markers(text) == marked
