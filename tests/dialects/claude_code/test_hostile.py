"""Answers of any shape: none of them costs a block, and nothing escapes."""

import contextlib
import json
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import ConfigError, Outcome
from hookline.dialects.claude_code.answers import SPECIFIC_FIELDS, TOP_FIELDS
from hookline.dialects.claude_code.events import ROWS
from hookline.dialects.claude_code.payload import OWN, WITH_ENV_FILE, environment
from hookline.extending import Exited, Returned, SessionInfo
from hookline.model.outcome import ContextItem, Halt, Vote
from tests.dialects.claude_code.calls import CLAUDE, call, exited, sample, understood
from tests.every import every

ODD: list[Any] = [
    None, True, 0, 10**30, 1.5, float("inf"), "", "deny", "block", "\ud83d", [], ["a"], [{}], {}, {"a": 1},
    {"behavior": []}, {"behavior": "deny", "message": {}}, {"\ud83d": "\ud83d"},
]  # fmt: skip


def printed(document: Any) -> bytes:
    return json.dumps(document).replace("Infinity", "1e400").encode()


@pytest.mark.parametrize("named", [["PreToolUse"], {"PreToolUse": 1}, 1, True])
def test_exit_2_blocks_whatever_names_the_event(named: Any) -> None:
    decoded = exited("PreToolUse", {"hookSpecificOutput": {"hookEventName": named}}, "no", 2)
    assert decoded.outcome.reason == "no"
    failure = exited("PreToolUse", {"hookSpecificOutput": {"hookEventName": named}}).failure
    assert failure is not None
    assert "hookEventName is" in failure.detail


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_value_under_any_key_makes_decoding_fail(data: st.DataObject) -> None:
    event_name = data.draw(st.sampled_from(list(ROWS)))
    values = st.sampled_from(ODD)
    inner = ["hookEventName", *SPECIFIC_FIELDS.get(event_name, {})]
    specific = data.draw(st.dictionaries(st.sampled_from(inner), values))
    document = data.draw(st.dictionaries(st.sampled_from(list(TOP_FIELDS)), values))
    asked = call(event_name)
    for each in (document, {**document, "hookSpecificOutput": {"hookEventName": event_name, **specific}}):
        for code in (0, 1):
            understood(asked, Exited(code, printed(each)))
        understood(asked, Returned(each))
        blocked = understood(asked, Exited(2, printed(each), b"no")).outcome.blocked
        assert blocked or not ROWS[event_name].exit_2_blocks or "continue" in each


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_payload_with_any_value_is_read_or_refused(data: st.DataObject) -> None:
    event_name = data.draw(st.sampled_from(list(ROWS)))
    keys = [*(key.name for key in OWN[event_name]), "session_id", "effort", "cwd"]
    document = data.draw(st.dictionaries(st.sampled_from(keys), st.sampled_from(ODD)))
    with contextlib.suppress(ConfigError):
        CLAUDE.wire.parse({**document, "hook_event_name": event_name})


@pytest.mark.parametrize("beside", [r'"x": "\ud83d"', r'"\udc00": 1', '"x": 1e400', '"x": -1e999'])
def test_a_denial_counts_beside_what_only_javascript_reads(beside: str) -> None:
    denial = '{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no \\ud83d"}'
    outcome = exited("PreToolUse", f'{{{beside}, "hookSpecificOutput": {denial}}}').outcome
    assert outcome.blocked
    assert outcome.reason == "no \ufffd"


@pytest.mark.parametrize("text", ['{"x": NaN}', '{"x": Infinity}', r'{"x": "\ud83d}', '{"x": "\ud83d"'])
def test_what_nobody_reads_as_json_is_still_refused(text: str) -> None:
    raw = Exited(0, text.encode("utf-8", "replace"))
    decoded = understood(call("PreToolUse"), raw)
    assert decoded.failure is not None or decoded.ignored == ("plain stdout",)


@every("event_name", [name for name, row in ROWS.items() if row.exit_2_blocks])
def test_half_a_character_in_a_reason_costs_no_answer(event_name: str) -> None:
    received = CLAUDE.wire.answer(event_name, Outcome(votes=(Vote("block", "no \ud83d"),)))
    raw = Exited(received.code, received.stdout.encode(), received.stderr.encode())
    assert understood(call(event_name), raw).outcome.reason == "no \ufffd"
    assert "\\ud83d" not in received.stdout


@pytest.mark.parametrize("event_name", ["Stop", "SubagentStop"])
def test_text_for_the_model_keeps_a_turn_from_ending_only_once(event_name: str) -> None:
    text = Outcome(context_items=(ContextItem("hello"),))
    received = CLAUDE.wire.answer(event_name, text, sample(event_name, stop_hook_active=False))
    again = CLAUDE.wire.answer(event_name, text, sample(event_name, stop_hook_active=True))
    assert json.loads(received.stdout)["hookSpecificOutput"]["additionalContext"] == "hello"
    assert (received.lost, again.stdout, again.lost) == ((), "", ("context",))


@pytest.mark.parametrize("event_name", ["Stop", "SubagentStop"])
def test_a_stop_at_the_end_of_a_turn_says_that_it_loses_the_block(event_name: str) -> None:
    both = Outcome(halts=(Halt("enough"),), votes=(Vote("block", "because"),))
    received = CLAUDE.wire.answer(event_name, both)
    again = understood(
        call(event_name), Exited(received.code, received.stdout.encode(), received.stderr.encode())
    ).outcome
    assert received.lost == ("block",)
    assert (again.stop_reason, again.blocked) == ("enough", False)


@every("event_name", list(ROWS))
def test_a_hook_may_write_variables_wherever_it_could(event_name: str) -> None:
    env = environment(event_name, sample(event_name), SessionInfo())
    given = environment(event_name, sample(event_name), SessionInfo(extra={"env_file": "/e"}))
    assert (env.get("CLAUDE_ENV_FILE"), given.get("CLAUDE_ENV_FILE")) == (
        (os.devnull, "/e") if event_name in WITH_ENV_FILE else (None, None)
    )
