from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.events import ToolCall
from hookline.extending import Failed, RawResult, Replied
from hookline.handlers.mcp_tool import McpReply, McpToolHandler, McpToolSpec, filled
from tests.every import every
from tests.handlers.calls import call_with, finished

DOCUMENT = {
    "tool_name": "Edit",
    "tool_input": {
        "file_path": "/a b",
        "lines": [1, {"x": True}],
        "none": None,
        "n": 3,
        "half": "${tool_name}",
    },
}


class Servers:
    def __init__(self, reply: Any = None) -> None:
        self.reply = reply if reply is not None else McpReply("{}")
        self.calls: list[tuple[str, str, Mapping[str, Any]]] = []

    async def call_tool(self, server: str, tool: str, arguments: Mapping[str, Any]) -> McpReply:
        self.calls.append((server, tool, arguments))
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def ran(servers: Servers | None, spec: McpToolSpec, payload: Any = None) -> RawResult:
    payload = payload if payload is not None else ToolCall(tool_name="Edit", tool_input={"file_path": "x.py"})
    return finished(McpToolHandler(servers).run(call_with(spec, kind="mcp_tool", payload=payload)))


def test_the_tool_is_called_with_fields_of_the_payload() -> None:
    servers = Servers(McpReply("seen"))
    spec = McpToolSpec("lint", "check", {"path": "${tool_input.file_path}", "all": "${tool_input}"})
    assert ran(servers, spec) == Replied(b"seen")
    assert servers.calls == [("lint", "check", {"path": "x.py", "all": {"file_path": "x.py"}})]


@every(
    ("template", "value"),
    [
        ("${tool_name}", "Edit"),
        ("${tool_input.n}", 3),
        ("${tool_input.lines}", [1, {"x": True}]),
        ("${tool_input.lines.1.x}", True),
        ("${tool_input.none}", None),
        ("${missing}", ""),
        ("${tool_input.missing.deeper}", ""),
        ("${tool_input.lines.7}", ""),
        ("${tool_name.x}", ""),
        ("${}", "${}"),
        ("$tool_name", "$tool_name"),
        ("a ${tool_input.n} b ${tool_name}", "a 3 b Edit"),
        ("${tool_input.lines}!", '[1,{"x":true}]!'),
        ("<${tool_input.none}>", "<>"),
        ("<${missing}>", "<>"),
        ("${tool_input.half}", "${tool_name}"),
        ("x${tool_input.half}", "x${tool_name}"),
        (["${tool_name}", {"k": "${tool_input.n}"}], ["Edit", {"k": 3}]),
        (7, 7),
        (None, None),
    ],
)
def test_placeholders(template: Any, value: Any) -> None:
    assert filled(template, DOCUMENT) == value


def test_keys_are_not_expanded() -> None:
    assert filled({"${tool_name}": 1}, DOCUMENT) == {"${tool_name}": 1}


Json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet="${}.ax01", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="ax.0", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(Json, Json)
def test_any_input_over_any_document_is_filled_without_an_error(template: Any, document: Any) -> None:
    filled(template, document)


def test_an_error_reply_is_a_transport_failure() -> None:
    raw = ran(Servers(McpReply("no such file\n\x1b[0m", is_error=True)), McpToolSpec("s", "t"))
    assert raw == Failed("transport", "s/t reports an error: no such file [0m")


def test_a_server_that_is_not_connected_is_a_transport_failure() -> None:
    down = ConnectionError("not connected")
    assert ran(Servers(down), McpToolSpec("s", "t")) == Failed(
        "transport", "s/t: ConnectionError", logged="s/t: ConnectionError: not connected", raised=down
    )


def nested(depth: int) -> Any:
    return {"k": nested(depth - 1)} if depth else "x"


@pytest.mark.parametrize(
    ("servers", "spec", "problem"),
    [
        (None, McpToolSpec("s", "t"), "need MCP servers"),
        (Servers(), McpToolSpec("", "t"), "both server and tool"),
        (Servers(), McpToolSpec("s", ""), "both server and tool"),
        (Servers(), McpToolSpec("s", "t", nested(200)), "too deeply"),
    ],
)
def test_what_can_never_run_says_so_early(servers: Servers | None, spec: McpToolSpec, problem: str) -> None:
    received = McpToolHandler(servers).problem(spec)
    assert received is not None
    assert problem in received
    assert ran(servers, spec) == Failed("not_started", received)


def test_a_payload_that_cannot_be_encoded_is_not_started() -> None:
    raw = ran(Servers(), McpToolSpec("s", "t"), object())
    assert isinstance(raw, Failed)
    assert raw.cause == "not_started"
