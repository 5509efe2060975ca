"""Test hostile output of hooks: reading it ends soon, raises nothing, and allows nothing by accident."""

import contextlib
import json
import random
import time
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import ConfigError
from hookline.dialects.gencode import dialect
from hookline.extending import Decoded, Exited, Failed, HookInvocation, Replied, Returned, SessionInfo
from hookline.model.errors import UnknownEventError
from tests.dialects.gencode.hooks import PAYLOADS
from tests.dialects.hooked_agent import read_hooks
from tests.every import every

NESTED = b'{"hookSpecificOutput":' * 100_000
HOSTILE = [
    b"",
    b"\x00",
    b"\xff\xfe{}",
    b"{" * 500_000,
    b"[" * 500_000,
    NESTED,
    b'{"a":' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"a":' + b"9" * 900_000 + b"}",
    b'{"a":' + b"1e9," * 200_000 + b"1}",
    b'{"continue": ' + b"0" * 100_000 + b"}",
    b'{"a": "' + b"\\ud800" * 150_000 + b'"}',
    b'{"' + b"k" * 900_000 + b'": 1}',
    b'{"a": NaN, "continue": false}',
    b'{"continue": false, "a": 1e999999}',
    b'{"continue": false, "a": -1e999999}',
    json.dumps({f"k{i}": i for i in range(60_000)}).encode(),
]


def call(event: str = "PreToolUse") -> HookInvocation:
    mine = dialect()
    hook = mine.flag_hook(mine.events[event], "true")
    return HookInvocation(hook=hook, event=hook.event, payload=PAYLOADS[event], info=SessionInfo(), timeout=1)


def decode(raw: Any, event: str = "PreToolUse") -> Decoded:
    one = call(event)
    return one.hook.wire.decode(one, raw)


@every("number", range(len(HOSTILE)))
def test_hostile_output_is_read_soon_and_says_nothing(number: int) -> None:
    begun = time.monotonic()
    for raw in (Exited(0, HOSTILE[number]), Replied(HOSTILE[number], 200), Replied(HOSTILE[number])):
        assert decode(raw).outcome.votes == ()
    assert time.monotonic() - begun < 20


@every("number", range(len(HOSTILE)))
def test_exit_2_blocks_whatever_stands_on_stdout(number: int) -> None:
    assert decode(Exited(2, HOSTILE[number], b"no")).outcome.reason == "no"


Some = st.SearchStrategy[Any]

_VALUES: Some = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [
        "continue", "stopReason", "reason", "systemMessage", "decision", "hookSpecificOutput", "hookEventName",
        "permissionDecision", "updatedInput", "additionalContext", "watchPaths", "retry", "behavior", "interrupt",
        "updatedPermissions", "message", "async", "Continue",
    ]
)  # fmt: skip
_WORDS = st.sampled_from(["deny", "allow", "ask", "PreToolUse", "PermissionRequest", "PermissionDenied"])
_ANSWERS: Some = st.recursive(
    _VALUES | _WORDS | st.booleans(), lambda inner: st.dictionaries(_KEYS, inner, max_size=5), max_leaves=12
)


@settings(max_examples=300, deadline=None)
@given(_ANSWERS, st.sampled_from(["PreToolUse", "PermissionRequest", "PermissionDenied", "Stop"]))
def test_any_json_gives_an_answer_or_a_failure(value: Any, event: str) -> None:
    decoded = decode(Exited(0, json.dumps(value).encode()), event)
    if decoded.failure is not None:
        assert decoded.failure.cause == "unreadable"
        assert decoded.outcome.votes == ()
    returned = decode(Returned(value), event)
    # On one line, `{"async": true ...}` is how a process moves to the background; a function has no such line.
    if isinstance(value, dict) and cast("dict[str, Any]", value).get("async") is not True:
        assert returned.outcome == decoded.outcome


def test_bytes_at_random_are_never_more_than_a_failure() -> None:
    chance = random.Random(7)
    start = b'{"continue": false, "hookSpecificOutput": {"permissionDecision": "allow"}}'
    for _ in range(500):
        text = bytearray(start)
        for _ in range(chance.randint(1, 5)):
            text[chance.randrange(len(text))] = chance.randrange(256)
        assert isinstance(decode(Exited(0, bytes(text))), Decoded)


def test_a_failure_stays_what_it_is() -> None:
    broke = Failed("timed_out", "after 1 s")
    assert decode(broke) == Decoded(failure=broke)
    assert decode(Returned(None)) == Decoded()
    failure = decode(Returned(5)).failure
    assert failure is not None
    assert failure.cause == "unreadable"


_NAMES = st.sampled_from(
    [
        "type", "command", "prompt", "url", "if", "timeout", "once", "async", "asyncRewake", "headers", "shell",
        "statusMessage", "allowedEnvVars", "model", "matcher", "hooks",
    ]
)  # fmt: skip
_SETTING: Some = st.one_of(
    _VALUES,
    st.sampled_from(
        ["command", "http", "prompt", "agent", "Bash(git:*)", "(((", "*", "http://[", "\ud800", "\0"]
    ),
)
_ENTRY: Some = st.one_of(_VALUES, st.dictionaries(_NAMES, _SETTING, max_size=6))
_GROUP: Some = st.one_of(
    _VALUES, st.fixed_dictionaries({"hooks": st.lists(_ENTRY, max_size=3)}, optional={"matcher": _SETTING})
)
_EVENTS: Some = st.one_of(st.sampled_from([*PAYLOADS, "Nothing"]), st.text(max_size=5))
_CONFIG: Some = st.one_of(
    _VALUES, st.dictionaries(_EVENTS, st.one_of(_VALUES, st.lists(_GROUP, max_size=2)), max_size=4)
)


@settings(max_examples=300, deadline=None)
@given(_CONFIG, st.sampled_from([".gen/settings.json", ".claude/settings.json"]))
def test_any_settings_give_hooks_and_diagnostics(config: Any, file: str) -> None:
    reading = read_hooks(dialect(), [(file, "project", json.dumps({"hooks": config}))])
    for hook in reading.hooks:
        assert hook.dialect == "gen-code"
    for one in reading.diagnostics:
        assert one.where.line is not None


_DOCUMENT: Some = st.dictionaries(
    st.one_of(st.sampled_from(["tool_name", "cwd", "tool_input", "source"]), st.text(max_size=5)),
    _VALUES,
    max_size=5,
)


@settings(max_examples=200, deadline=None)
@given(_DOCUMENT, _EVENTS)
def test_any_document_is_a_payload_or_says_why_not(document: dict[str, Any], event: str) -> None:
    with contextlib.suppress(ConfigError, UnknownEventError):
        dialect().wire.parse({**document, "hook_event_name": event})
