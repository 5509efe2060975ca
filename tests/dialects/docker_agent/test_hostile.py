"""Test hostile output of hooks: the answer is a decision or a failure, soon, and never an exception."""

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import ConfigError, Outcome
from hookline.dialects.docker_agent import dialect
from hookline.dialects.docker_agent.payload import KEYS
from hookline.events import Capability
from hookline.extending import Exited, Failed, Replied, Returned
from hookline.model.outcome import Vote
from tests.dialects.docker_agent.hooks import PAYLOADS, a_call, command
from tests.every import every

WIRE = dialect().wire
CALLS = {event: a_call(event, None, command("true")) for event in PAYLOADS}
JUDGE = a_call("pre_tool_use", None, "{type: model, model: m, prompt: x, schema: pre_tool_use_decision}")


def short(value: bytes) -> str:
    return repr(value[:20])


_KEYS = st.sampled_from(
    ["continue", "decision", "reason", "stop_reason", "hook_specific_output", "permission_decision", "updated_input",
     "additional_context", "instruction_context", "summary", "updated_messages", "updated_tool_response", "metadata",
     "x"]
)  # fmt: skip
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.sampled_from(["block", "deny", "allow"])
)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4)
)


@settings(max_examples=150, deadline=None)
@given(document=st.dictionaries(_KEYS, _VALUES, max_size=4), event=st.sampled_from(sorted(PAYLOADS)))
def test_any_document_is_understood_or_a_failure(document: dict[str, object], event: str):
    decoded = WIRE.decode(CALLS[event], Returned(document))
    assert decoded.failure is None or decoded.failure.cause == "unreadable"
    may = CALLS[event].hook.policy.may
    assert may & Capability.BLOCK or not decoded.outcome.blocked


@settings(max_examples=150, deadline=None)
@given(stdout=st.binary(max_size=40), code=st.integers(0, 255), event=st.sampled_from(sorted(PAYLOADS)))
def test_any_bytes_are_understood_or_a_failure(stdout: bytes, code: int, event: str):
    for printed in (stdout, b"{" + stdout):
        decoded = WIRE.decode(CALLS[event], Exited(code, printed, stdout))
        assert code in (0, 2) or decoded.failure is not None


@every(
    "stdout",
    [
        b'{"a":' * 100_000,
        b'{"a":' + b"[" * 500_000,
        b'{"hook_specific_output":{"updated_input":' + b'{"a":' * 5000 + b"1" + b"}" * 5002,
        b"{" + b'"a":1,' * 200_000 + b'"b":2}',
        b'{"reason":"\\ud800"}',
        b'{"n":' + b"9" * 100_000 + b"}",
        b"\xff\xfe{}",
        b'{"reason":"' + b"\xff" * 1000 + b'"}',
    ],
)
def test_hostile_output_is_judged_quickly(stdout: bytes):
    started = time.perf_counter()
    WIRE.decode(CALLS["pre_tool_use"], Exited(0, stdout))
    WIRE.decode(JUDGE, Replied(stdout))
    assert time.perf_counter() - started < 5


def test_a_document_with_odd_keys_is_no_exception():
    decoded = WIRE.decode(CALLS["pre_tool_use"], Returned({1: 2, None: 3, "hook_specific_output": {4: 5}}))
    assert decoded.failure is not None


def test_output_that_was_cut_off_is_not_read():
    for call, raw in (
        (CALLS["pre_tool_use"], Exited(0, b"{}", truncated=True)),
        (JUDGE, Replied(b"{}", truncated=True)),
    ):
        failure = WIRE.decode(call, raw).failure
        assert isinstance(failure, Failed)
        assert failure.cause == "truncated"


def test_a_deep_rewrite_is_a_failure_not_an_exception():
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    from hookline.model.outcome import Outcome, Rewrite

    decoded = WIRE.decode(CALLS["pre_tool_use"], Returned(Outcome(edits=(Rewrite(deep, patch=True),))))
    assert decoded.failure is not None


_ODD: list[Any] = [None, True, 0, 1.5, 10**30, "x", "\ud83d", [], [{}], [1], {}, {"a": 1}, {"\ud83d": 1}]


@settings(max_examples=200, deadline=None)
@given(
    document=st.dictionaries(st.sampled_from([*KEYS, "session_id", "cwd"]), st.sampled_from(_ODD)),
    event=st.sampled_from(sorted(PAYLOADS)),
)
def test_a_payload_with_any_value_is_read_or_refused(document: dict[str, Any], event: str) -> None:
    with contextlib.suppress(ConfigError):
        WIRE.parse({**document, "hook_event_name": event})


@every(
    ("event", "key"),
    [
        ("session_start", "source"),
        ("turn_end", "reason"),
        ("session_end", "reason"),
        ("pre_compact", "source"),
        ("before_compaction", "compaction_reason"),
        ("after_compaction", "compaction_reason"),
        ("pre_tool_use", "tool_name"),
    ],
)
@every("value", [{}, [], 1])
def test_a_value_of_the_wrong_type_is_named_as_the_payload_names_it(event: str, key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"\$\.{key}\b"):
        WIRE.parse({"hook_event_name": event, key: value})


@pytest.mark.parametrize("beside", [r'"x": "\ud83d"', '"x": 1e400'])
def test_a_block_counts_beside_what_go_reads_too(beside: str) -> None:
    text = f'{{{beside}, "decision": "block", "reason": "no \\ud83d"}}'
    assert WIRE.decode(CALLS["pre_tool_use"], Exited(0, text.encode())).outcome.reason == "no \ufffd"


@every("event", sorted(PAYLOADS))
def test_half_a_character_in_a_reason_costs_no_answer(event: str) -> None:
    received = WIRE.answer(event, Outcome(votes=(Vote("block", "no \ud83d"),)))
    outcome = WIRE.decode(CALLS[event], Exited(received.code, received.stdout.encode())).outcome
    assert "\\ud83d" not in received.stdout
    assert outcome.reason == "no \ufffd" or received.lost == ("block",)
