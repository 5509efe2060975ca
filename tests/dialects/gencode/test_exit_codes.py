import time

import pytest

from tests.dialects.gencode.hooks import PAYLOADS, agent_with_hooks, bash, prints, says
from tests.every import every


def test_exit_2_blocks_with_stderr_and_stdout_is_not_read() -> None:
    allow = says("PreToolUse", permissionDecision="allow", additionalContext="not read")
    outcome = agent_with_hooks("PreToolUse", prints(allow, code=2, stderr="  not here\n")).fire(
        "PreToolUse", bash("ls")
    )
    assert (outcome.blocked, outcome.reason, outcome.permission) == (True, "not here", "deny")
    assert outcome.context == ()
    silent = agent_with_hooks("PreToolUse", "exit 2").fire("PreToolUse", bash("ls"))
    assert silent.reason == "Hook blocked execution"


@pytest.mark.parametrize(
    "event", ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "PreCompact"]
)
def test_exit_2_blocks_at_every_event_that_can_be_blocked_and_is_waited_for(event: str) -> None:
    outcome = agent_with_hooks(event, prints(code=2, stderr="no")).fire(event, PAYLOADS[event])
    assert (outcome.blocked, outcome.reason) == (True, "no")


@pytest.mark.parametrize(
    ("code", "status", "cause", "detail"),
    [
        (1, "failed", "crashed", "exit 1: oops"),
        (3, "failed", "crashed", "exit 3: oops"),
        (127, "not_started", "not_started", "the program was not found (exit 127: oops)"),
    ],
)
def test_any_other_exit_goes_on_and_is_recorded(code: int, status: str, cause: str, detail: str) -> None:
    deny = says("PreToolUse", permissionDecision="deny")
    agent = agent_with_hooks(
        "PreToolUse", prints(deny, code=code, stderr="oops\nmore"), prints(code=2, stderr="second")
    )
    outcome = agent.fire("PreToolUse", bash("ls"))
    assert outcome.reason == "second"
    first = agent.runs[0]
    assert (first.status, first.cause, first.detail) == (status, cause, detail)
    assert first.failed_open
    assert [message.text for message in outcome.messages] == [f"hook printf gave no answer: {detail}"]


def test_a_signal_goes_on_and_is_recorded() -> None:
    agent = agent_with_hooks("PreToolUse", "kill -9 $$")
    assert not agent.fire("PreToolUse", bash("ls")).blocked
    assert (agent.runs[0].status, agent.runs[0].cause) == ("failed", "signalled")


def test_a_timeout_kills_the_hook_and_does_not_block() -> None:
    agent = agent_with_hooks("PreToolUse", {"command": "sleep 60; exit 2", "timeout": 1})
    begun = time.monotonic()
    outcome = agent.fire("PreToolUse", bash("ls"))
    assert time.monotonic() - begun < 20
    assert not outcome.blocked
    assert (agent.runs[0].status, agent.runs[0].cause) == ("timed_out", "timed_out")


def test_the_timeout_is_ten_minutes_unless_the_entry_says_otherwise() -> None:
    agent = agent_with_hooks(
        "PreToolUse", "true", {"command": "true", "timeout": 7}, {"command": "true", "timeout": 0}
    )
    assert [hook.timeout for hook in agent.reading.hooks] == [600, 7, 600]


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse"])
def test_plain_text_is_no_context_but_an_answer_that_cannot_be_read(event: str) -> None:
    agent = agent_with_hooks(event, "echo hello")
    outcome = agent.fire(event, PAYLOADS[event])
    assert outcome.context == ()
    assert (agent.runs[0].status, agent.runs[0].cause) == ("failed", "unreadable")


@pytest.mark.parametrize("output", ["", "\n  \n"])
def test_printing_nothing_says_nothing(output: str) -> None:
    agent = agent_with_hooks("SessionStart", prints(output))
    assert agent.fire("SessionStart", PAYLOADS["SessionStart"]).context == ()
    assert agent.runs[0].status == "ok"


@every(
    "output",
    [
        "[1]",
        '"text"',
        "null",
        '{"continue": false',
        "{} {}",
        '\ufeff{"continue": false}',
        "```json\n{}\n```",
        "NaN",
    ],
)
def test_the_whole_of_stdout_is_one_json_object_or_nothing(output: str) -> None:
    agent = agent_with_hooks("PreToolUse", prints(output))
    assert not agent.fire("PreToolUse", bash("ls")).blocked
    assert agent.runs[0].cause == "unreadable"


def test_stdin_is_closed_so_that_a_hook_that_reads_it_to_the_end_ends() -> None:
    agent = agent_with_hooks(
        "PreToolUse", {"command": "cat > /dev/null; echo read >&2; exit 2", "timeout": 30}
    )
    assert agent.fire("PreToolUse", bash("ls")).reason == "read"


def test_output_beyond_what_is_kept_is_not_read() -> None:
    agent = agent_with_hooks(
        "PreToolUse", "head -c 2000000 /dev/zero | tr '\\0' ' '; echo '{\"continue\": false}'"
    )
    assert not agent.fire("PreToolUse", bash("ls")).blocked
    assert agent.runs[0].cause == "truncated"
