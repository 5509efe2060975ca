"""Test the Claude Agent SDK with the conformance suite and the real client; and its special cases."""

import asyncio
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    CanUseToolShadowedWarning,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLINotFoundError,
    HookMatcher,
    PermissionResultAllow,
)

from hookline import Engine
from hookline.adapters.claude_agent_sdk import with_hooks
from hookline.events import PRE_TOOL_USE, SESSION_START
from hookline.model.errors import EngineClosedError
from hookline.testing.conformance import Case, run_case
from tests.adapters.claude_agent_sdk.harness import ClaudeAgentSdkHarness
from tests.adapters.every_adapter import ROOT, conformance


@conformance
def test_conformance(case: Case) -> None:
    run_case(ClaudeAgentSdkHarness(), case).check()


def test_the_example_runs(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "examples/adapters/use_claude_agent_sdk.py"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    refused, *others = ran.stdout.splitlines()
    assert refused.endswith("deploy is for people: ask one")
    assert others == ["(sandbox) ls", "Done."]
    assert ran.stderr == ""


def said(options: ClaudeAgentOptions, event: str, **given: Any) -> Any:
    """Return the answer that the client gets at an event."""
    document: Any = {
        "hook_event_name": event,
        "session_id": "s",
        "cwd": "/proj",
        "transcript_path": "",
        **given,
    }
    matcher = (options.hooks or {})[event][-1]  # type: ignore[index]
    return matcher.hooks[0](document, given.get("tool_use_id"), {"signal": None})


def test_hooks_and_questions_of_your_own_stay() -> None:
    async def mine(*_given: Any) -> Any:
        return {}

    async def may(*_given: Any) -> Any:
        return PermissionResultAllow()

    matcher = HookMatcher(hooks=[mine])
    options = with_hooks(Engine(), ClaudeAgentOptions(hooks={"Stop": [matcher]}, can_use_tool=may))
    hooks: Any = options.hooks
    assert hooks["Stop"][0] is matcher
    assert len(hooks["Stop"]) == 2
    assert options.can_use_tool is may
    assert "PermissionRequest" in hooks
    assert "PermissionRequest" not in (with_hooks(Engine()).hooks or {})


async def _connected(options: ClaudeAgentOptions) -> None:
    """As far as the SDK comes without a client."""
    with pytest.raises(CLINotFoundError):
        await ClaudeSDKClient(replace(options, cli_path="/no/client")).connect()


def test_only_the_warning_about_its_own_callback_is_kept_back() -> None:
    async def may(*_given: Any) -> Any:
        return PermissionResultAllow()

    with warnings.catch_warnings(record=True) as received:
        warnings.simplefilter("always")
        for options in (
            ClaudeAgentOptions(allowed_tools=["Read", "Bash(ls *)", "Glob(*)"]),
            ClaudeAgentOptions(permission_mode="bypassPermissions", allowed_tools=["Read"]),
        ):
            asyncio.run(_connected(with_hooks(Engine(), options)))
        assert not received
        asyncio.run(
            _connected(with_hooks(Engine(), ClaudeAgentOptions(allowed_tools=["Edit"], can_use_tool=may)))
        )
    assert [warning.category for warning in received] == [CanUseToolShadowedWarning]


def test_a_closed_engine_is_told_and_blocks() -> None:
    engine = Engine()
    options = with_hooks(engine)
    asyncio.run(engine.close())
    answer = asyncio.run(said(options, "PreToolUse", tool_name="Bash", tool_input={}, tool_use_id="c1"))
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "closed" in answer["hookSpecificOutput"]["permissionDecisionReason"]
    with pytest.raises(EngineClosedError):
        with_hooks(engine)


def test_a_session_starts_with_its_first_prompt() -> None:
    sources: list[str] = []

    async def play() -> None:
        async with Engine() as engine:
            engine.add(SESSION_START, lambda start: sources.append(start.source))
            options = with_hooks(engine)
            for prompt in ("one", "two"):
                await said(options, "UserPromptSubmit", prompt=prompt)

    asyncio.run(play())
    assert sources == ["startup"]


def test_sub_agents_have_sessions_of_their_own_below_that_of_the_conversation() -> None:
    received: list[Any] = []

    async def play() -> None:
        async with Engine() as engine:

            async def note(_payload: Any, info: Any) -> None:
                received.append((info.session_id, info.agent_id, info.depth))

            engine.add(PRE_TOOL_USE, note)
            options = with_hooks(engine, session_id="mine")
            call: dict[str, Any] = {"tool_name": "Read", "tool_input": {}, "tool_use_id": "c1"}
            await said(options, "PreToolUse", **call)
            await said(options, "PreToolUse", agent_id="a1", agent_type="helper", **call)

    asyncio.run(play())
    assert received == [("mine", None, 0), ("mine", "a1", 1)]
