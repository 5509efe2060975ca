"""Test what the end of a hook means, at each event."""

import os
import time
from pathlib import Path

import pytest

from hookline.dialects.reasonix import dialect
from hookline.extending import Exited, Failed, standard_handlers
from hookline.handlers.command import CommandHandler
from hookline.handlers.process.pool import Processes
from tests.dialects.hooked_agent import HookedAgent
from tests.dialects.reasonix.hooks import (
    GLOBAL,
    PAYLOADS,
    PROJECT,
    agent_with,
    agent_with_hook,
    message_texts,
)
from tests.every import every
from tests.waiting import wait_until

GATES = ("TurnStart", "UserPromptSubmit", "PreModelCall", "PreToolUse", "TurnEnd")
OBSERVERS = tuple(name for name in PAYLOADS if name not in GATES)
MEANS = {
    "TurnStart": "end_turn",
    "UserPromptSubmit": "reject_prompt",
    "PreModelCall": "retry_call",
    "PreToolUse": "deny_call",
    "TurnEnd": "continue_turn",
}


@every("event", PAYLOADS)
def test_exit_0_passes_and_says_nothing(event: str):
    agent = agent_with_hook(event, "exit 0")
    outcome = agent.fire(event, PAYLOADS[event])
    assert not outcome.blocked
    assert outcome.messages == ()
    assert [(run.status, run.dialect_event) for run in agent.runs] == [("ok", event)]


@pytest.mark.parametrize("event", GATES)
def test_exit_2_blocks_at_a_gate(event: str):
    outcome = agent_with_hook(event, "echo not here >&2; exit 2").fire(event, PAYLOADS[event])
    assert (outcome.blocked, outcome.reason) == (True, "not here")
    assert outcome.votes[0].means == MEANS[event]
    assert message_texts(outcome)[0] == f"hook project/{event} `echo not here >&2; exit 2` block: not here"


@every("event", OBSERVERS)
def test_exit_2_anywhere_else_is_a_warning(event: str):
    agent = agent_with_hook(event, "echo not here >&2; exit 2")
    outcome = agent.fire(event, PAYLOADS[event])
    assert not outcome.blocked
    assert message_texts(outcome) == [f"hook project/{event} `echo not here >&2; exit 2` warn: not here"]
    assert [(run.status, run.cause, run.failed_open) for run in agent.runs] == [("failed", "crashed", True)]


@every("command", ["exit 1", "exit 3", "exit 127", "kill -9 $$"])
@every("event", ["PreToolUse", "PostToolUse"])
def test_any_other_end_is_a_warning(event: str, command: str):
    outcome = agent_with_hook(event, command).fire(event, PAYLOADS[event])
    assert not outcome.blocked
    (line,) = message_texts(outcome)
    assert line.startswith(f"hook project/{event} `{command}` warn")


@every("event", PAYLOADS)
def test_a_hook_that_is_too_slow_blocks_at_a_gate_and_is_a_warning_elsewhere(event: str):
    agent = agent_with_hook(event, "exec sleep 30", timeout=200)
    outcome = agent.fire(event, PAYLOADS[event])
    slow = "hook timed out after 200ms"
    decision = "block" if event in GATES else "warn"
    assert (outcome.blocked, outcome.reason) == ((True, slow) if event in GATES else (False, None))
    assert message_texts(outcome) == [f"hook project/{event} `exec sleep 30` {decision}: {slow}"]
    assert agent.runs[0].status == "timed_out"


def test_what_a_slow_hook_said_on_stderr_is_the_reason():
    outcome = agent_with_hook("PreToolUse", "echo asking >&2; exec sleep 30", timeout=2500).fire(
        "PreToolUse", PAYLOADS["PreToolUse"]
    )
    assert outcome.reason == "asking"


@pytest.mark.parametrize("event", GATES)
def test_a_hook_that_cannot_be_started_never_blocks(event: str):
    agent = agent_with_hook(event, "exit 2", cwd="/no/such/directory")
    outcome = agent.fire(event, PAYLOADS[event])
    assert not outcome.blocked
    (line,) = message_texts(outcome)
    assert line.startswith(f"hook project/{event} `exit 2` error: ")
    assert [(run.status, run.failed_open) for run in agent.runs] == [("not_started", True)]


THREE = """
{"hooks": {"PreToolUse": [
  {"command": "echo one >&2; exit 1", "name": "one"},
  {"command": "echo two >&2; exit 2", "name": "two"},
  {"command": "exit 2", "name": "three"}
]}}
"""


def test_the_first_block_ends_the_row_and_what_was_said_before_is_kept():
    user = '{"hooks": {"PreToolUse": [{"command": "exit 2", "name": "four"}]}}'
    agent = agent_with(THREE, (GLOBAL, "user", user))
    outcome = agent.fire("PreToolUse", PAYLOADS["PreToolUse"])
    assert [(run.hook, run.status) for run in agent.runs] == [("one", "failed"), ("two", "blocked")]
    assert outcome.reason == "two"
    assert [message.hook for message in outcome.messages] == ["one", "two"]


def test_a_warning_does_not_end_the_row():
    agent = agent_with("""
{"hooks": {"PostToolUse": [
  {"command": "exit 1", "name": "one"},
  {"command": "exit 2", "name": "two"},
  {"command": "exit 0", "name": "three"}
]}}
""")
    agent.fire("PostToolUse", PAYLOADS["PostToolUse"])
    assert [run.hook for run in agent.runs] == ["one", "two", "three"]


def test_hooks_run_one_after_another(tmp_path: Path):
    agent = agent_with(
        '{"hooks": {"Stop": [{"command": "sleep 0.3; echo a >> log"}, {"command": "echo b >> log"}]}}',
        cwd=str(tmp_path),
    )
    agent.fire("Stop", PAYLOADS["Stop"])
    assert (tmp_path / "log").read_text() == "a\nb\n"


def test_an_entrys_directory_comes_before_the_payloads(tmp_path: Path):
    (tmp_path / "tools").mkdir()
    entries = '[{"command": "pwd"}, {"command": "pwd", "cwd": "tools"}, {"command": "pwd", "cwd": "/"}]'
    agent = agent_with(f'{{"hooks": {{"Stop": {entries}}}}}', cwd=str(tmp_path))
    agent.fire("Stop", PAYLOADS["Stop"])
    assert [run.stdout.strip() for run in agent.runs] == [str(tmp_path), f"{tmp_path}/tools", "/"]


def test_the_whole_environment_is_inherited_and_an_entry_adds_to_it():
    handlers = dict(standard_handlers())
    handlers["command"] = CommandHandler(Processes(), base_env={**os.environ, "MY_TOKEN": "t", "LEVEL": "1"})
    text = '{"hooks": {"Stop": [{"command": "echo $MY_TOKEN $LEVEL", "env": {"LEVEL": "2"}}]}}'
    agent = HookedAgent(dialect(), [(PROJECT, "project", text)], handlers=handlers, cwd="/tmp")
    agent.fire("Stop", PAYLOADS["Stop"])
    assert agent.runs[0].stdout == "t 2\n"


def test_a_line_cuts_a_long_command_and_names_whose_hook_it_was():
    command = f"echo why >&2; exit 3 # {'x' * 80}"
    user = f'{{"hooks": {{"PostToolUse": [{{"command": "{command}"}}]}}}}'
    outcome = agent_with("{}", (GLOBAL, "user", user)).fire("PostToolUse", PAYLOADS["PostToolUse"])
    assert message_texts(outcome) == [f"hook global/PostToolUse `{command[:60]}…` warn: why"]


@pytest.mark.parametrize(
    ("prints", "reason"),
    [
        ("echo out; echo err >&2; exit 2", "err"),
        ("echo out; exit 2", "out"),
        ("exit 2", "hook exit blocked (exit 2) and gave no reason"),
    ],
)
def test_a_reason_is_stderr_else_stdout_else_a_default(prints: str, reason: str):
    assert agent_with_hook("PreToolUse", prints).fire("PreToolUse", PAYLOADS["PreToolUse"]).reason == reason


FLOOD = "python3 -c \"import sys; sys.stdout.write('x' * 300_000)\""


@pytest.mark.parametrize(("code", "status"), [(0, "ok"), (1, "failed"), (2, "blocked")])
def test_too_much_output_is_cut_and_the_exit_code_still_counts(code: int, status: str):
    agent = agent_with_hook("PreToolUse", f"{FLOOD}; exit {code}")
    outcome = agent.fire("PreToolUse", PAYLOADS["PreToolUse"])
    (run,) = agent.runs
    assert (run.status, run.truncated) == (status, True)
    if code:
        (line,) = message_texts(outcome)
        assert "(output truncated at 256KB): xxx" in line
        assert line.endswith("x" * 1000)
        assert line.count("x") < 256 * 1024 + 100


def test_a_hook_that_never_reads_its_stdin_is_no_error():
    payload = PAYLOADS["UserPromptSubmit"].__class__(prompt="x" * 3_000_000)
    agent = agent_with_hook("UserPromptSubmit", "exec true")
    assert not agent.fire("UserPromptSubmit", payload).blocked
    assert [(run.status, run.exit_code) for run in agent.runs] == [("ok", 0)]


@pytest.mark.parametrize(
    "command", ["sleep 60; echo x", "sleep 60 & sleep 60", "trap '' TERM; sleep 60; sleep 60"]
)
def test_a_timeout_bounds_the_wall_time_grandchildren_included(command: str):
    agent = agent_with_hook("PreToolUse", command, timeout=300)
    started = time.monotonic()
    assert agent.fire("PreToolUse", PAYLOADS["PreToolUse"]).blocked
    assert time.monotonic() - started < 15
    assert agent.runs[0].status == "timed_out"


def test_what_a_hook_leaves_behind_goes_on_as_it_does_there(tmp_path: Path):
    command = "(sleep 0.4; echo late > late) >/dev/null 2>&1 </dev/null & exit 0"
    one_hook = f'{{"hooks": {{"Stop": [{{"command": "{command}"}}]}}}}'
    agent_with(one_hook, cwd=str(tmp_path)).fire("Stop", PAYLOADS["Stop"])
    wait_until((tmp_path / "late").exists)


def test_a_first_line_that_means_async_elsewhere_does_not_free_a_gate():
    agent = agent_with_hook("PreToolUse", """echo '{"async": true}'; sleep 0.2; echo no >&2; exit 2""")
    outcome = agent.fire("PreToolUse", PAYLOADS["PreToolUse"])
    assert (outcome.blocked, outcome.reason) == (True, "no")


def test_a_failed_tool_reaches_hooks_after_tools_too():
    agent = agent_with_hook("PostToolUse", "cat >&2; exit 1", match="bash")
    outcome = agent.fire("PostToolUseFailure", PAYLOADS["PostToolUseFailure"])
    assert [run.dialect_event for run in agent.runs] == ["PostToolUse"]
    assert '"event":"PostToolUse"' in message_texts(outcome)[0]
    assert '"toolResult":"gone"' in message_texts(outcome)[0]


@every("event", PAYLOADS)
@every("code", [0, 1, 2])
def test_bytes_that_are_no_text_are_read_as_far_as_they_go(event: str, code: int):
    from hookline.model.session_info import SessionInfo
    from hookline.model.wire import HookInvocation

    (hook, *_) = agent_with_hook(event, "x").reading.hooks
    call = HookInvocation(hook=hook, event=hook.event, payload=PAYLOADS[event], info=SessionInfo(), timeout=1)
    noise = bytes(range(256)) * 2000
    assert hook.wire.decode(call, Exited(code, noise, noise)).outcome is not None
    assert hook.wire.decode(call, Failed("truncated", "too much", noise, noise)).failure is not None
