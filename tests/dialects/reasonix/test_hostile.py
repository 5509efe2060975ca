"""Test hostile settings and payloads: the answer is a diagnostic or a typed error."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as fuzz
from hypothesis import strategies as st

from hookline import HooklineError, Outcome
from hookline.dialects.reasonix import dialect
from hookline.dialects.reasonix.payload import KEYS
from hookline.dialects.reasonix.settings import FIELDS
from hookline.extending import Exited, HookInvocation, SessionInfo
from hookline.model.outcome import ContextItem, Vote
from tests.dialects.reasonix.hooks import PAYLOADS, read_settings
from tests.every import every

KNOWN = sorted({key.name for keys in KEYS.values() for key in keys})
_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_entries = st.dictionaries(st.sampled_from([*FIELDS, "hooks", "x"]), _json, max_size=5)
_tables = st.dictionaries(st.sampled_from([*PAYLOADS, "x"]), _json | st.lists(_entries | _json, max_size=3))


@fuzz(max_examples=200, deadline=None)
@given(st.fixed_dictionaries({"hooks": _tables | _json}) | _json)
def test_any_settings_are_read(value: Any):
    reading = read_settings(json.dumps(value))
    for each in reading.diagnostics:
        assert each.where.line is not None
        assert str(each)
    assert all(hook.spec.command.strip() and hook.timeout > 0 for hook in reading.hooks)
    assert isinstance(dialect().recognises(value), bool)


@fuzz(max_examples=200, deadline=None)
@given(
    st.sampled_from([*PAYLOADS, "x"]),
    st.dictionaries(
        st.sampled_from([*KNOWN, "cwd"]),
        _json,
    ),
)
def test_any_payload_is_parsed_or_refused_in_words(event: str, document: dict[str, Any]):
    with contextlib.suppress(HooklineError):
        assert dialect().wire.parse({"event": event, **document}).event is not None


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + '{"hooks": {"Stop": [{"command": "echo x"}]}}',
        '{"hooks": {"Stop": [{"command": "echo x"}]}, "deep": ' + "[" * 40 + "]" * 40 + "}",
    ],
)
def test_what_is_unusual_but_right_is_read(text: str):
    reading = read_settings(text)
    assert (len(reading.hooks), reading.diagnostics) == (1, ())


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 5000, '{"hooks": {"Stop": [' + "1," * 300_000 + "1]}}", "\0"]
)
def test_what_is_too_much_is_refused_in_words(text: str):
    reading = read_settings(text)
    assert reading.hooks == ()
    assert [each.severity for each in reading.diagnostics] == ["error"]


def test_a_mistake_names_no_other_entry() -> None:
    entries = [{"command": "./first.sh"}, {"command": 1}, {"name": "third"}]
    found = read_settings(json.dumps({"hooks": {"PreToolUse": entries}})).diagnostics
    assert [one.hook for one in found] == ["command", "third"]


@pytest.mark.parametrize("beside", [rb'"x": "\ud83d"', b'"x": 1e400', b'"x": "\xff"'])
def test_a_denial_counts_beside_what_a_strict_reader_refuses(beside: bytes) -> None:
    entry = {"command": "true", "payloadFormat": "claude"}
    hook = read_settings(json.dumps({"hooks": {"PreToolUse": [entry]}})).hooks[0]
    call = HookInvocation(
        hook=hook, event=hook.event, payload=PAYLOADS["PreToolUse"], info=SessionInfo(), timeout=1
    )
    denial = b'"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}'
    assert hook.wire.decode(call, Exited(0, b"{" + beside + b", " + denial + b"}")).outcome.blocked


@every("event", sorted(PAYLOADS))
def test_an_answer_can_be_printed_whatever_its_texts_hold(event: str) -> None:
    outcome = Outcome(votes=(Vote("block", "no \ud83d"),), context_items=(ContextItem("\ud83d"),))
    received = dialect().wire.answer(event, outcome)
    assert received.stderr.encode().decode() == "no \ufffd"
    assert received.stdout.encode() is not None
