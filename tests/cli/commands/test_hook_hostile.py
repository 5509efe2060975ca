"""Test hostile standard input: a guard denies or judges it, and nothing is raised."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome, deny
from hookline.dialects.registry import standard_dialects
from hookline.events import EVENTS
from hookline.extending import HookReply
from hookline.hook.call.answer import AgentCall
from hookline.hook.call.payload import CallError, read_payload
from tests.agents import AGENTS, GATES
from tests.dialects.claude_code.driver import RECORDED
from tests.every import every

NAMES = list(standard_dialects())
DEEP = 100_000


async def _denies(_payload: Any) -> Outcome:
    return deny("judged")


def answered(name: str, event: str | None, raw: bytes, env: dict[str, str] | None = None) -> HookReply:
    """Make a project with a hook on every event that always denies."""

    async def main() -> HookReply:
        engine = Engine()
        for row in EVENTS.values():
            if row.name != "ExecStart":  # no agent reports it, and its hooks must name programs
                engine.add(row, _denies)
        try:
            return await AgentCall(engine, name, event, files=(), env=env or {}).answer(raw)
        finally:
            await engine.close()

    return asyncio.run(main())


def says_no(translated: HookReply) -> bool:
    return translated.code == 2 or any(word in translated.stdout for word in ('"deny"', '"block"'))


HOSTILE = {
    "nothing": b"",
    "blanks": b"   \n",
    "zero bytes": b"\0" * 100,
    "not UTF-8": b"\xff\xfe{}",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"PreToolUse"',
    "half an object": b'{"tool_name": "Bash"',
    "two objects": b"{}{}",
    "deep lists": b"[" * DEEP,
    "deep objects": b'{"a":' * DEEP,
    "deep and whole": b'{"tool_input":' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
    "an empty object": b"{}",
    "many values": b'{"tool_input": {"a": [' + b"1," * 300_000 + b"1]}}",
    "wrong types": b'{"tool_name": 7, "toolName": 7, "tool_input": 7, "toolArgs": 7, "cwd": 7, "workspace": 7}',
    "an endless number": b'{"tool_name": "Bash", "toolName": "Bash", "tool_input": {"a": '
    + b"9" * 5000
    + b"}}",
    "another event": b'{"hook_event_name": "SessionEnd", "event": "SessionEnd"}',
}


@every("name", NAMES)
@every("raw", HOSTILE.values())
def test_a_guard_never_passes_what_it_cannot_read(name: str, raw: bytes) -> None:
    translated = answered(name, GATES[name], raw)
    assert says_no(translated), translated
    assert "judged" not in translated.stdout + translated.stderr or name == "reasonix" or b"9999" in raw


@every("name", NAMES)
@every("raw", HOSTILE.values())
def test_nor_does_it_where_no_event_was_named(name: str, raw: bytes) -> None:
    translated = answered(name, None, raw)
    if not (b"SessionEnd" in raw and translated.code in (0, 1)):
        assert translated.code == 2


@pytest.mark.parametrize(
    "cwd", ["/no/such/place", "relative", "", "/tmp/\0zero", "/" + "x" * 100_000, "/tmp/\ud800half"]
)
def test_a_directory_that_is_none_is_no_way_round_the_hooks(
    cwd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    call: dict[str, Any] = {
        "hook_event_name": "PreToolUse",
        "cwd": cwd,
        "tool_name": "Bash",
        "tool_input": {},
    }

    async def main() -> HookReply:
        engine = Engine()
        engine.add(EVENTS["PreToolUse"], _denies)
        return await AgentCall(engine, "claude-code", None, None, {}).answer(json.dumps(call).encode())

    assert says_no(asyncio.run(main()))


def test_more_than_is_read_is_refused() -> None:
    dialect = Engine().loader.dialect("claude-code")
    with pytest.raises(CallError, match="more than the 10 bytes"):
        read_payload(b'{"a": "bcdefgh"}', dialect, {}, most=10)


PAYLOADS = sorted((RECORDED / "payloads").glob("*.json"))


@every("file", PAYLOADS)
def test_every_recorded_payload_is_understood(file: Path) -> None:
    document = json.loads(file.read_text())["payload"]
    translated = answered("claude-code", document["hook_event_name"], json.dumps(document).encode())
    assert "hookline hook" not in translated.stdout + translated.stderr, translated
    event = EVENTS[document["hook_event_name"]]
    if event.guard:
        assert "judged" in translated.stdout


class _Broken(Engine):
    def session(self, *_args: Any, **_more: Any) -> Any:
        raise MemoryError("no room")


@every("name", NAMES)
def test_when_hookline_itself_breaks_a_guard_says_no(name: str) -> None:
    gate = GATES[name]
    call = {
        **AGENTS.get(name, AGENTS["claude-code"]).call(gate, "Bash", {}, "/"),
        **({"tool_name": "Bash"} if name == "codewhale" else {}),
    }
    translated = asyncio.run(AgentCall(_Broken(), name, gate, (), {}).answer(json.dumps(call).encode()))
    assert says_no(translated)
    assert "it broke: MemoryError" in translated.stdout + translated.stderr


def test_elsewhere_that_stops_nothing() -> None:
    call = {"hook_event_name": "Stop", "cwd": "/"}
    translated = asyncio.run(
        AgentCall(_Broken(), "claude-code", "Stop", (), {}).answer(json.dumps(call).encode())
    )
    assert (translated.code, translated.stdout) == (1, "")
    assert "it broke: MemoryError" in translated.stderr
