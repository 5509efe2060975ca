"""Test the payload of each event: exactly these variables, exactly this document."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.dialects.codewhale.wire import CodeWhaleWire
from hookline.events import (
    ModeMove,
    Prompt,
    RunError,
    SessionEnded,
    SessionStarted,
    SubagentBegun,
    SubagentEnded,
    ToolCall,
    TurnSummary,
)
from hookline.extending import Encoded, HookInvocation
from hookline.model.messages import Totals, Usage
from tests.dialects.codewhale.hooks import (
    HELLO,
    agent_with,
    bash,
    document,
    entry,
    failed,
    read_config,
    succeeded,
    variables,
)

INFO: dict[str, Any] = {
    "session_id": "sess_0a1b2c3d",
    "cwd": "/",
    "model": "deepseek-chat",
    "extra": {"total_tokens": 1234},
}
WHERE = {
    "DEEPSEEK_SESSION_ID": "sess_0a1b2c3d",
    "CODEWHALE_SESSION_ID": "sess_0a1b2c3d",
    "DEEPSEEK_WORKSPACE": "/",
    "DEEPSEEK_MODEL": "deepseek-chat",
    "DEEPSEEK_MODE": "agent",
}
SEEN_BY_UI = {**WHERE, "DEEPSEEK_TOTAL_TOKENS": "1234"}
IDS = {"DEEPSEEK_TOOL_CALL_ID": "call_1", "CODEWHALE_TOOL_CALL_ID": "call_1"}
BASH = {"DEEPSEEK_TOOL_NAME": "bash"}

VARIABLES: list[tuple[str, Any, dict[str, str]]] = [
    ("session_start", SessionStarted(), SEEN_BY_UI),
    ("session_end", SessionEnded(cost_usd=0.5), {**SEEN_BY_UI, "DEEPSEEK_SESSION_COST": "0.500000"}),
    ("message_submit", HELLO, {**SEEN_BY_UI, "DEEPSEEK_MESSAGE": "hello"}),
    (
        "tool_call_before",
        bash(tool_use_id="call_1"),
        {**WHERE, **BASH, **IDS, "DEEPSEEK_TOOL_ARGS": '{"command":"ls"}'},
    ),
    (
        "PostToolUse",
        succeeded(tool_use_id="call_1"),
        {**SEEN_BY_UI, **BASH, **IDS, "DEEPSEEK_TOOL_RESULT": "fine", "DEEPSEEK_TOOL_SUCCESS": "true"},
    ),
    (
        "PostToolUse",
        succeeded({"exit_code": 0, "output": "x"}),
        {
            **SEEN_BY_UI,
            **BASH,
            "DEEPSEEK_TOOL_RESULT": '{"exit_code":0,"output":"x"}',
            "DEEPSEEK_TOOL_SUCCESS": "true",
            "DEEPSEEK_TOOL_EXIT_CODE": "0",
        },
    ),
    ("mode_change", ModeMove(old_mode="default", new_mode="plan"),
     {**SEEN_BY_UI, "DEEPSEEK_MODE": "plan", "DEEPSEEK_PREVIOUS_MODE": "agent"}),
    ("on_error", RunError(message="no route"), {**SEEN_BY_UI, "DEEPSEEK_ERROR": "no route"}),
    ("subagent_spawn", SubagentBegun(agent_id="a", prompt="look"), {**SEEN_BY_UI, "DEEPSEEK_MESSAGE": "look"}),
    (
        "subagent_complete",
        SubagentEnded(agent_id="a", last_assistant_message="found"),
        {**SEEN_BY_UI, "DEEPSEEK_MESSAGE": "found"},
    ),
    ("turn_end", TurnSummary(), SEEN_BY_UI),
]  # fmt: skip
OWN_NAMES = {"PostToolUse": "tool_call_after"}


@pytest.mark.parametrize(("event", "payload", "expected"), VARIABLES)
def test_the_variables_of_each_event(
    event: str, payload: Any, expected: dict[str, str], tmp_path: Path
) -> None:
    env = tmp_path / "env"
    agent = agent_with(entry(OWN_NAMES.get(event, event), f"env -0 > {env}"), **INFO)

    agent.fire(event, payload)

    assert variables(env) == expected


def encoded(event: str, payload: Any, **info: Any) -> Encoded:
    agent = agent_with(entry(event, "true"), **{**INFO, **info})
    hook = agent.reading.hooks[0]
    call = HookInvocation(hook=hook, event=hook.event, payload=payload, info=agent.session.info, timeout=1)
    return CodeWhaleWire(lambda: datetime(2026, 7, 12, 10, 30, tzinfo=UTC)).encode(call)


@pytest.mark.parametrize("code", [0, 1, 3221225477])
@pytest.mark.parametrize("event", ["tool_call_after", "on_error"])
def test_a_reported_exit_code_is_told(event: str, code: int) -> None:
    env = encoded(event, failed(exit_code=code)).env

    assert env["DEEPSEEK_TOOL_EXIT_CODE"] == str(code)
    assert env["DEEPSEEK_TOOL_SUCCESS"] == "false"


@pytest.mark.parametrize(
    "payload", [failed(), succeeded(), succeeded({"success": True}), RunError(message="x")]
)
def test_an_exit_code_nobody_reported_is_not_made_up(payload: Any) -> None:
    assert "DEEPSEEK_TOOL_EXIT_CODE" not in encoded("on_error", payload).env


def test_a_failed_call_is_both_a_settled_call_and_an_error(tmp_path: Path) -> None:
    after, error = tmp_path / "after", tmp_path / "error"
    agent = agent_with(entry("tool_call_after", f"env -0 > {after}") + entry("on_error", f"env -0 > {error}"))

    agent.fire("PostToolUseFailure", failed("boo", exit_code=3))

    assert variables(after)["DEEPSEEK_TOOL_RESULT"] == "boo"
    assert variables(error)["DEEPSEEK_ERROR"] == "boo"
    assert variables(error)["DEEPSEEK_TOOL_EXIT_CODE"] == "3"


def submitted(text: str) -> Prompt:
    return Prompt(prompt=text)


def erred(text: str) -> RunError:
    return RunError(message=text)


def called(text: str) -> ToolCall:
    return ToolCall(tool_name="x", tool_input={"": text})


@pytest.mark.parametrize(
    ("event", "name", "payload", "most"),
    [
        ("message_submit", "MESSAGE", submitted, 5_000),
        ("on_error", "ERROR", erred, 5_000),
        ("tool_call_after", "TOOL_RESULT", succeeded, 10_000),
        ("tool_call_before", "TOOL_ARGS", called, 10_000),
    ],
)
def test_variables_are_cut_at_whole_characters_with_a_mark(
    event: str, name: str, payload: Any, most: int
) -> None:
    for text in ("x" * 30_000, "ü" * 30_000, "x" + "😀" * 30_000):
        value = encoded(event, payload(text)).env[f"DEEPSEEK_{name}"]

        kept = value.removesuffix("...[truncated]")
        assert kept != value
        assert most - 4 < len(kept.encode()) <= most
        assert kept.removeprefix('{"":"') == text[: len(kept.removeprefix('{"":"'))]
    short = encoded(event, payload("ü" * 100)).env[f"DEEPSEEK_{name}"]
    assert "truncated" not in short


def test_no_text_keeps_a_guard_from_starting(tmp_path: Path) -> None:
    """NUL and half characters cannot stand in a variable; a guard that cannot start would be no guard."""
    agent = agent_with(entry("message_submit", "exit 2"), model="m\0\ud800")

    assert agent.fire("message_submit", Prompt(prompt="a\0b\ud800c")).blocked
    assert agent.runs[0].exit_code == 2


def test_a_workspace_whose_name_is_not_utf_8_reaches_the_hook(tmp_path: Path) -> None:
    directory = tmp_path / "\udcff"
    directory.mkdir()
    agent = agent_with(
        entry("message_submit", '[ "$DEEPSEEK_WORKSPACE" = "$PWD" ] && exit 2'), cwd=str(directory)
    )

    assert agent.fire("message_submit", HELLO).blocked


def test_the_session_id_is_the_same_at_every_event_and_after_a_reload(tmp_path: Path) -> None:
    log = tmp_path / "log"
    events = ("session_start", "message_submit", "tool_call_before", "turn_end")
    config = "".join(entry(event, f"echo $DEEPSEEK_SESSION_ID >> {log}") for event in events)

    async def main() -> None:
        async with Engine(read_config(config).hooks) as engine:
            session = engine.session("sess_0a1b2c3d")
            for payload in (SessionStarted(), HELLO):
                await session.dispatch(engine.events[NAMES[type(payload)]], payload)
            await engine.drain()
            engine.swap(read_config(config + entry("turn_end", "true")).hooks)
            for payload in (bash(), TurnSummary()):
                await session.dispatch(engine.events[NAMES[type(payload)]], payload)
            await engine.drain()

    asyncio.run(main())
    assert log.read_text().split() == ["sess_0a1b2c3d"] * 4


NAMES: dict[type, str] = {
    SessionStarted: "SessionStart",
    type(HELLO): "UserPromptSubmit",
    ToolCall: "PreToolUse",
    TurnSummary: "TurnSettled",
}

SETTLED = TurnSummary(
    status="completed",
    turn_id="turn_12345678",
    duration_ms=1834,
    usage=Usage(input_tokens=1200, output_tokens=180, cache_read_tokens=900),
    totals=Totals(session_tokens=1380, input_tokens=1200),
    tool_count=2,
    queued_message_count=1,
    stop_hook_active=True,
)


def test_the_document_of_turn_end() -> None:
    info = {"extra": {"provider": "deepseek", "total_tokens": 1}}
    fields = json.loads(encoded("turn_end", SETTLED, **info).document)

    assert list(fields.items()) == [
        ("event", "turn_end"),
        ("session_id", "sess_0a1b2c3d"),
        ("workspace", "/"),
        ("mode", "agent"),
        ("created_at", "2026-07-12T10:30:00+00:00"),
        ("model_backed", True),
        ("provider", "deepseek"),
        ("billing_surface", None),
        ("model", "deepseek-chat"),
        ("turn_id", "turn_12345678"),
        ("status", "completed"),
        ("error", None),
        ("duration_ms", 1834),
        (
            "usage",
            {
                "input_tokens": 1200,
                "output_tokens": 180,
                "prompt_cache_hit_tokens": 900,
                "prompt_cache_miss_tokens": 300,
                "prompt_cache_write_tokens": None,
                "reasoning_tokens": None,
                "reasoning_replay_tokens": None,
            },
        ),
        (
            "totals",
            {
                "session_tokens": 1380,
                "conversation_tokens": None,
                "input_tokens": 1200,
                "output_tokens": None,
            },
        ),
        ("tool_count", 2),
        ("queued_message_count", 1),
        ("stop_hook_active", False),
    ]


def test_a_turn_without_a_model_says_so() -> None:
    info = {"extra": {"model_backed": False, "provider": "deepseek"}}
    fields = json.loads(encoded("turn_end", TurnSummary(), **info).document)

    assert fields["model_backed"] is False
    assert fields["provider"] is None
    assert fields["turn_id"].startswith("lifecycle_")


def test_the_error_of_a_turn_is_cleaned_and_cut() -> None:
    fields = json.loads(encoded("turn_end", TurnSummary(error="\x1b[1m" + "x" * 3000)).document)

    assert fields["error"] == " [1m" + "x" * 1996 + "…[truncated]"


@pytest.mark.parametrize(
    ("event", "payload", "last"),
    [
        (
            "subagent_spawn",
            SubagentBegun(agent_id="agent_1", prompt="look"),
            {"prompt_preview": "look", "prompt_truncated": False},
        ),
        (
            "subagent_spawn",
            SubagentBegun(agent_id="agent_1", prompt="ü" * 2000),
            {"prompt_preview": "ü" * 1024 + "...[truncated]", "prompt_truncated": True},
        ),
        (
            "subagent_complete",
            SubagentEnded(agent_id="agent_1", last_assistant_message="x" * 2048, status="failed"),
            {"result_preview": "x" * 2048, "result_truncated": False, "status": "failed"},
        ),
        (
            "subagent_complete",
            SubagentEnded(agent_id="agent_1", status=""),
            {"result_preview": "", "result_truncated": False, "status": "unknown"},
        ),
    ],
)
def test_the_documents_of_sub_agents(event: str, payload: Any, last: dict[str, Any]) -> None:
    first = {
        "event": event,
        "agent_id": "agent_1",
        "session_id": "sess_0a1b2c3d",
        "workspace": "/",
        "mode": "agent",
        "model": "deepseek-chat",
        "total_tokens": 1234,
    }

    assert list(json.loads(encoded(event, payload).document).items()) == list({**first, **last}.items())


def test_a_background_observer_gets_the_same_document(tmp_path: Path) -> None:
    seen = tmp_path / "stdin"
    agent = agent_with(entry("turn_end", f"cat > {seen}", background=True), **INFO)

    agent.fire("turn_end", SETTLED)

    assert document(seen)["turn_id"] == "turn_12345678"


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ("default", "agent"),
        ("acceptEdits", "agent"),
        ("PLAN", "plan"),
        ("Operate", "operate"),
        ("yolo", "yolo"),
    ],
)
def test_the_mode_has_its_name_there(mode: str, shown: str) -> None:
    received = encoded("message_submit", HELLO, permission_mode=mode)

    assert received.env["DEEPSEEK_MODE"] == shown
    assert json.loads(received.document)["mode"] == shown
