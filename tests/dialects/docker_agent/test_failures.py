"""Test what a failure means: by event, by `on_error`, and for every cause."""

import asyncio
from typing import Any, cast

import pytest

from hookline import Engine, Outcome
from hookline.dialects.docker_agent import dialect
from hookline.engine.dispatch import dispatch
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.model.outcome import Rewrite
from tests.dialects.docker_agent.hooks import (
    PAYLOADS,
    TOOL,
    agent_file,
    agent_with,
    command,
    entry,
    fire,
    fired,
    handlers,
    says,
    specific,
)
from tests.dialects.hooked_agent import HookedAgent, read_hooks
from tests.every import every

EVENTS = ("pre_tool_use", "tool_guard", "tool_input_transform", "before_llm_call")
ALWAYS_CLOSED = ("pre_tool_use", "tool_guard")
POLICIES = ("", "warn", "ignore", "block")
FAILURES = {
    "execution": command("true", working_dir="/nonexistent/place"),
    "timeout": command("sleep 30", timeout=1),
    "exit 1": command("echo oops >&2; exit 1"),
    "missing dependency": command("exit 127"),
    "malformed JSON": command("""printf '%s' '{"decision":'"""),
    "bad decision": says({"decision": "blok"}),
    "bad permission": says(specific(permission_decision="alow")),
}


@pytest.mark.parametrize("event", EVENTS)
def test_the_failure_matrix(event: str):
    """4 events, 4 policies, 7 failures; all of one event at once, because some of them take a second."""
    cells = [(policy, failure) for policy in POLICIES for failure in FAILURES]

    async def one(policy: str, failure: str) -> Outcome:
        hook = FAILURES[failure]
        if policy:
            hook = f'{hook[:-1]}, "on_error": "{policy}"}}'
        known = handlers()
        found = read_hooks(dialect(), [("agent.yaml", "project", agent_file(entry(event, hook)))], known)
        async with Engine(found.hooks, handlers=known) as engine:
            return await engine.session("s").dispatch(dialect().events[event].event, PAYLOADS[event])

    async def every() -> list[Outcome]:
        return await asyncio.gather(*(one(*cell) for cell in cells))

    for (policy, failure), outcome in zip(cells, asyncio.run(every()), strict=True):
        closed = event in ALWAYS_CLOSED or policy == "block"
        where = f"{event}, {policy or 'no policy'}, {failure}"
        assert outcome.blocked is closed, where
        if closed:
            assert "gave no answer" in (outcome.reason or ""), where
        elif policy == "ignore":
            assert outcome.messages == (), where
        else:
            assert "gave no answer" in outcome.messages[0].text, where


@pytest.mark.parametrize(
    ("policy", "blocked", "received"),
    [("warn", False, True), ("ignore", False, False), ("block", True, False)],
)
def test_on_error_says_what_a_failure_means(policy: str, blocked: bool, received: bool):
    outcome = fire("user_prompt_submit", command("exit 3", on_error=policy))
    assert (outcome.blocked, bool(outcome.messages)) == (blocked, received)


def test_a_failing_hook_in_a_pipeline_keeps_earlier_rewrites_and_later_hooks_run():
    hooks = [
        says(specific(updated_input={"a": 1})),
        command("exit 1"),
        says(specific(updated_input={"b": 2})),
    ]
    outcome, runs = fired("tool_input_transform", *hooks)
    assert outcome.updated_input == {"cmd": "ls", "cwd": ".", "a": 1, "b": 2}
    assert [run.status for run in runs] == ["ok", "failed", "ok"]


def test_a_timeout_does_not_cancel_the_next_hook_of_a_pipeline():
    _outcome, runs = fired("pre_tool_use", command("sleep 30", timeout=1), command("true"))
    assert [run.status for run in runs] == ["timed_out", "ok"]


def test_a_rewrite_that_cannot_be_written_down_fails_and_an_earlier_deny_stays():
    agent = agent_with(
        """
        pre_tool_use:
          - hooks:
              - {type: builtin, command: deny, args: [first]}
              - {type: builtin, command: odd}
        """,
        builtins={
            "odd": lambda _args, _payload, _info: Outcome(edits=(Rewrite({"f": object()}, patch=True),))
        },
    )
    outcome = agent.fire("pre_tool_use", TOOL)
    assert outcome.blocked
    assert "first" in (outcome.reason or "")
    assert outcome.updated_input is None
    assert [run.status for run in agent.runs] == ["blocked", "failed"]


BLOCK_CAPABLE = tuple(name for name in PAYLOADS if "block" in str(dialect().events[name].policy.may).lower())


@every("event", BLOCK_CAPABLE)
def test_a_payload_that_cannot_be_written_down_blocks_wherever_that_is_possible(event: str):
    outcome = fire(
        event,
        command("true", on_error="ignore" if event not in ALWAYS_CLOSED else "block"),
        extra={"usage": object()},
    )
    assert outcome.blocked
    assert "cannot be written as JSON" in (outcome.reason or "")


def test_a_payload_that_cannot_be_written_down_does_not_stop_what_cannot_be_stopped():
    outcome, runs = fired("stop", command("true"), extra={"usage": object()})
    assert not outcome.blocked
    assert runs[0].status == "not_started"


def test_no_payload_at_all_is_an_error_of_the_hooks_and_never_raises():
    agent = agent_with(entry("pre_tool_use", command("true")))
    # Sessions refuse it before.
    assert asyncio.run(dispatch(agent.session, PRE_TOOL_USE, cast("ToolCall", None))).blocked
    assert "no payload" in agent.runs[0].detail


def test_a_command_that_no_system_can_start_is_a_failure():
    for hook in (command("true\0"), command("true", env={"A=B": "1\0"}), command("true", working_dir="a\0b")):
        outcome, runs = fired("pre_tool_use", hook)
        assert outcome.blocked
        assert runs[0].status == "not_started"


def test_a_signal_is_a_failure():
    _outcome, runs = fired("session_start", command("kill -9 $$"))
    assert runs[0].cause == "signalled"


def test_an_unknown_builtin_stays_as_a_guard_that_fails_closed():
    agent = _with_mistake("pre_tool_use", "{type: builtin, command: safer_shel}")
    assert [each.code for each in agent.reading.diagnostics] == ["cannot-run"]
    assert agent.fire("pre_tool_use", TOOL).blocked
    assert "no builtin is called" in agent.runs[0].detail


@pytest.mark.parametrize(
    ("hook", "code", "detail"),
    [
        ("{type: builtin, command: ''}", "missing-field", "command is empty"),
        ("{type: wasm}", "unknown-type", "no hook type is called 'wasm'"),
    ],
)
def test_an_empty_builtin_name_and_an_unknown_type_fail_when_due(hook: str, code: str, detail: str):
    agent = _with_mistake("pre_tool_use", hook)
    assert [each.code for each in agent.reading.diagnostics] == [code]
    assert agent.fire("pre_tool_use", TOOL).blocked
    assert agent.runs[0].detail == detail


def _with_mistake(event: str, hook: str, **more: Any) -> HookedAgent:
    return HookedAgent(
        dialect(), [("agent.yaml", "project", agent_file(entry(event, hook)))], handlers=handlers(**more)
    )
