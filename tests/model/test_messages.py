import sys
from types import FrameType
from typing import Any

from hookline.events import ModelRequest
from hookline.model.messages import (
    Assistant,
    HostMessage,
    ToolMessage,
    ToolUse,
    Totals,
    Usage,
    User,
    shown_messages,
    tool_uses,
    totals_of,
)


class Line:
    """A message of a host's own, which fits the protocol."""

    role, text = "user", "hello"


def test_messages_of_ours_are_shown_as_they_are_and_those_of_hosts_as_records():
    own = (
        User(text="a"),
        Assistant(text="b"),
        ToolMessage(tool_use_id="1", name="Bash", text="c"),
        HostMessage(),
    )
    assert shown_messages(own) is own
    line = Line()
    found = shown_messages((*own, line, {"role": "user", "content": "d"}, "e"))
    assert found[:4] == own
    assert found[4] is line
    assert [(type(each), each.text) for each in found[5:]] == [(HostMessage, "d"), (HostMessage, "e")]
    assert shown_messages(list(own)) == own


def test_calls_of_ours_are_kept_and_those_of_hosts_read():
    own = (ToolUse(id="1", name="Bash", input={"command": "ls"}),)
    assert tool_uses(own) is own
    given = {"id": "1", "function": {"name": "Bash", "arguments": '{"command": "ls"}'}}
    assert tool_uses([given, *own]) == (*own, *own)


def test_a_long_conversation_costs_an_event_no_call_for_each_message():
    def calls(count: int) -> int:
        messages, seen = (User(text="a"),) * count, 0

        def watch(_frame: FrameType, event: str, _arg: Any) -> None:
            nonlocal seen
            seen += event == "call"

        sys.setprofile(watch)
        try:
            ModelRequest(model="m", messages=messages)
        finally:
            sys.setprofile(None)
        return seen

    assert calls(1000) == calls(1)


def test_usage_is_added_count_by_count_and_what_is_not_known_stays_so():
    one = Usage(input_tokens=1, output_tokens=2, cost_usd=0.5)
    other = Usage(input_tokens=10, reasoning_tokens=0, cache_read_tokens=3, cost_usd=0.25)
    total = Usage(input_tokens=11, output_tokens=2, reasoning_tokens=0, cache_read_tokens=3, cost_usd=0.75)
    assert one + other == other + one == total
    assert Usage() + Usage() == Usage()
    assert [each.total_tokens for each in (Usage(), one, Usage(output_tokens=2), other)] == [None, 3, 2, 10]
    totals = totals_of(total, 7)
    assert totals == Totals(
        input_tokens=11, output_tokens=2, reasoning_tokens=0, cache_read_tokens=3, cost_usd=0.75,
        session_tokens=13, conversation_tokens=7,
    )  # fmt: skip
    assert totals_of(totals + one).session_tokens == 16
