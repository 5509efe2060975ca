"""Rules of the agents' contracts that only a whole agent can hold, each by its number."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.ports import PermissionReply
from hookline.agent.tools.base import ToolOutput, Workplace
from hookline.model.messages import User
from tests.agent.dialect_session import DialectSession
from tests.agent.scripted_session import Answers, Probe, Say, call, calls, says

_EXIT_2 = "printf '%s' '{\"reason\": \"not today\"}'; exit 2"
_SEEN = 'echo "$DEEPSEEK_TOOL_NAME" >>seen.txt'


def codewhale(
    directory: Path, script: Sequence[Say], event: str, command: str, **more: Any
) -> DialectSession:
    entry = f"[[hooks.hooks]]\nevent = {json.dumps(event)}\ncommand = {json.dumps(command)}\n"
    return DialectSession(
        directory, script, dialect="codewhale", config="config.toml", files={"config.toml": entry}, **more
    )


def gen_code(directory: Path, script: Sequence[Say], event: str, command: str, **more: Any) -> DialectSession:
    options = more.pop("options", {})
    hook = {"type": "command", "command": command, **options}
    settings = json.dumps({"hooks": {event: [{"hooks": [hook]}]}})
    config = ".gen/settings.json"
    return DialectSession(
        directory, script, dialect="gen-code", config=config, files={config: settings}, **more
    )


def _answers(event: str, **said: Any) -> str:
    """A gen-code hook that gives this answer."""
    document = json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}})
    return f"cat >/dev/null; printf '%s' '{document}'"


def test_r_cw_15_a_blocked_message_leaves_no_trace_and_is_given_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with codewhale(tmp_path, [says("hi")], "message_submit", _EXIT_2) as scripted:
            received = await scripted.play("tell them everything")
            assert not scripted.agent.busy
        assert received is not None
        assert (received.status, received.why, received.turn) == ("blocked", "not today", None)
        assert received.rejected_text == "tell them everything"
        assert scripted.requests == []
        assert scripted.agent.conversation.messages == []
        assert scripted.seen.texts("blocked") == ["not today"]
        assert scripted.seen.texts("prompt") == []
        assert {"TurnStart", "TurnSettled", "PreModelCall"}.isdisjoint(scripted.fired)
        kept = [file.read_text() for file in scripted.home.rglob("*.jsonl")]
        assert not any("tell them everything" in text for text in kept)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("use", "more"),
    [
        ({"name": "Prob", "input": {"what": "x"}}, {}),
        ({"name": "Probe", "input": {}}, {}),
        ({"name": "Probe", "input": "{broken"}, {}),
        (call("Probe", what="x"), {"deny": ("Probe",)}),
        (call("Probe", what="x"), {"max_tool_calls": 0}),
        (call("Probe", what="x"), {"tools": [Probe(callers=frozenset({"reviewer"}))]}),
        (call("Probe", what="x"), {"tools": [Probe(category="write")], "mode": "plan"}),
    ],
    ids=["unknown", "schema", "arguments", "deny_list", "budget", "caller", "mode"],
)
def test_r_cw_21_no_hook_sees_a_call_that_fails_an_earlier_check(
    use: Say, more: Mapping[str, Any], tmp_path: Path
) -> None:
    async def main() -> None:
        given = {"tools": [Probe()], **more}
        script = [calls(use), calls(call("Read", file_path="config.toml")), says("done")]
        async with codewhale(tmp_path, script, "tool_call_before", _SEEN, **given) as scripted:
            await scripted.play("go")
        # The call after it shows that the hook is active, if the budget allows a further call.
        assert scripted.text("seen.txt") == ("" if "max_tool_calls" in more else "read\n")

    asyncio.run(main())


def test_r_cw_30_an_ask_is_asked_for_tools_that_run_by_themselves_and_no_grant_takes_it_back(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        asking = 'printf \'%s\' \'{"decision": "ask", "reason": "look first"}\''
        read = calls(call("Read", file_path="config.toml"))
        person = Answers(PermissionReply(allow=True, always=True), PermissionReply(allow=True))
        async with codewhale(
            tmp_path, [read, read, says("done")], "tool_call_before", asking, asker=person
        ) as scripted:
            received = await scripted.play("go")
        assert received is not None
        assert received.status == "completed"
        assert [question.reason for question in person.questions] == ["look first", "look first"]

    asyncio.run(main())


@pytest.mark.parametrize(
    "update",
    [
        {"type": "setMode", "mode": "bypassPermissions"},
        {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"},
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "**"}], "destination": "session"},
        {"type": "addRules", "rules": [{"toolName": "*"}], "behavior": "allow", "destination": "session"},
    ],
    ids=["bypass", "whole_tool", "everything_of_it", "every_tool"],
)
def test_r_gc_17_a_hook_may_not_bypass_permissions_nor_allow_everything(
    update: Mapping[str, Any], tmp_path: Path
) -> None:
    async def main() -> None:
        answer = _answers("PermissionRequest", decision={"behavior": "allow", "updatedPermissions": [update]})
        script = [
            calls(call("Bash", command="touch one")),
            calls(call("Bash", command="touch two")),
            says("done"),
        ]
        async with gen_code(tmp_path, script, "PermissionRequest", answer) as scripted:
            await scripted.play("go")
        # Its allow holds for the call it was asked about; the next one is a question again.
        assert len(scripted.events("PermissionRequest")) == 2
        assert scripted.agent.permissions.mode == "default"
        assert len(scripted.seen.texts("warning")) == 2

    asyncio.run(main())


@pytest.mark.parametrize(
    ("use", "more", "asked"),
    [
        (call("Bash", command="touch it"), {"deny": ("Bash(touch:*)",)}, 0),
        (call("Bash", command="touch it"), {"ask": ("Bash(touch:*)",)}, 1),
        (call("Write", file_path=".git/config", content="x"), {}, 1),
    ],
    ids=["deny_rule", "ask_rule", "protected_place"],
)
def test_r_gc_18_a_hooks_allow_beats_no_rule_and_no_protected_place(
    use: Say, more: Mapping[str, Any], asked: int, tmp_path: Path
) -> None:
    async def main() -> None:
        person = Answers(PermissionReply(allow=False))
        allow = _answers("PreToolUse", permissionDecision="allow")
        async with gen_code(
            tmp_path, [calls(use), says("done")], "PreToolUse", allow, asker=person, **more
        ) as scripted:
            await scripted.play("go")
        assert len(person.questions) == asked
        assert not (scripted.project / "it").exists()
        assert not (scripted.project / ".git").exists()

    asyncio.run(main())


class Patient(Probe):
    """A tool that ends when no hook is at work any more."""

    scripted: "DialectSession | None" = None

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        while (
            self.scripted is not None
            and self.scripted.engine is not None
            and len(self.scripted.engine.background)
        ):
            await asyncio.sleep(0.01)
        return await super().run(arguments, workplace)


def test_r_gc_29_a_wake_comes_when_the_agent_is_idle_after_the_users_messages_and_in_order(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        wakes = 'cat >/dev/null; echo x >>woken; echo "wake $(wc -l <woken)" >&2; exit 2'
        tool = Patient()
        # Each call waits for the hook of the one before it, so both wakes are there before the turn ends.
        script = [calls(call("Probe", what=f"{number}")) for number in range(3)]
        answers = [says("first"), says("second"), says("third"), says("fourth"), says("fifth")]
        async with gen_code(
            tmp_path,
            [*script, *answers],
            "PostToolUse",
            wakes,
            tools=[tool],
            options={"asyncRewake": True},
        ) as scripted:
            tool.scripted = scripted
            await scripted.play("one", "two")
        asked = [request.messages[-1] for request in scripted.requests]
        begun = [message.text for message in asked if isinstance(message, User)]
        assert begun[:2] == ["one", "two"]
        assert [f"wake {number}" in text for number, text in enumerate(begun[2:], 1)] == [True, True, True]
        # The first turn went on undisturbed.
        assert all("wake" not in str(request.messages) for request in scripted.requests[:5])

    asyncio.run(main())
