"""Test what reaches the server: every message, in an order and a form its API takes."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from hookline.agent.models.choose import target_of
from hookline.agent.models.provider import request_settings
from hookline.model.messages import Assistant, Message, ToolMessage, ToolUse, User
from tests.agent.models import provider_answers
from tests.agent.models.provider_ports import (
    ALL,
    ANTHROPIC,
    BASH,
    CHAT,
    ENV,
    GOOGLE,
    KEY,
    OLLAMA,
    RESPONSES,
    ask,
)

REPLIES = {
    CHAT: provider_answers.chat("ok"),
    RESPONSES: provider_answers.responses("ok"),
    ANTHROPIC: provider_answers.anthropic("ok"),
    GOOGLE: provider_answers.google("ok"),
    OLLAMA: provider_answers.chat("ok"),
}
CALL = ToolUse(id="c1", name="Bash", input={"command": "ls"})
MARK = {"type": "ephemeral", "ttl": "5m"}


def sent(name: str, *messages: Message, **request: Any) -> Any:
    _, asked = ask(name, REPLIES[name], messages=messages, **request)
    return asked.body


def anthropic_blocks(body: Any) -> list[Mapping[str, Any]]:
    return [block for message in body["messages"] for block in message["content"]]


@pytest.mark.parametrize("name", ALL)
def test_the_key_goes_into_a_header_and_nowhere_else(name: str) -> None:
    _, asked = ask(name, REPLIES[name])
    assert KEY in str(asked.headers)
    assert KEY not in asked.path
    assert KEY not in str(asked.body)


def test_a_message_marked_for_the_cache_carries_anthropics_mark_and_no_other_does() -> None:
    body = sent(ANTHROPIC, User(text="files", cache=True), User(text="question"), tools=())
    assert anthropic_blocks(body) == [
        {"type": "text", "text": "files", "cache_control": MARK},
        {"type": "text", "text": "question"},
    ]
    assert "cache_control" not in str(body["system"])


def test_an_agents_request_also_marks_its_instructions_and_its_end() -> None:
    body = sent(ANTHROPIC, User(text="files", cache=True), User(text="more"), User(text="question"))
    assert [block.get("cache_control") for block in anthropic_blocks(body)] == [MARK, None, MARK]
    assert body["system"][-1]["cache_control"] == MARK


def test_anthropic_never_gets_more_than_its_four_marks() -> None:
    body = sent(ANTHROPIC, *(User(text=f"file {n}", cache=True) for n in range(9)), User(text="question"))
    assert str(body).count("cache_control") <= 4


@pytest.mark.parametrize("name", [CHAT, RESPONSES, GOOGLE, OLLAMA])
def test_providers_without_marks_get_the_plain_text(name: str) -> None:
    marked = sent(name, User(text="files", cache=True))
    assert marked == sent(name, User(text="files"))


def test_a_tool_result_answers_its_call_in_every_api() -> None:
    turn = (
        User(text="look"),
        Assistant(text="I look.", tool_calls=(CALL,)),
        ToolMessage(tool_use_id="c1", name="Bash", text="a\nb"),
    )
    assert sent(CHAT, *turn, system="")["messages"] == [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "Bash", "arguments": '{"command":"ls"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a\nb"},
    ]
    (*_, call, result) = sent(RESPONSES, *turn)["input"]
    assert (call["type"], call["call_id"], call["arguments"]) == ("function_call", "c1", '{"command":"ls"}')
    assert (result["type"], result["call_id"], result["output"]) == ("function_call_output", "c1", "a\nb")
    (*_, call, result) = anthropic_blocks(sent(ANTHROPIC, *turn, tools=()))
    assert call == {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "c1")
    assert "a\nb" in str(result["content"]).replace("\\n", "\n")
    (*_, model, back) = sent(GOOGLE, *turn)["contents"]
    assert model["parts"][-1]["functionCall"]["args"] == {"command": "ls"}
    assert back["parts"][0]["functionResponse"]["name"] == "Bash"


def test_a_failed_call_is_told_as_failed() -> None:
    body = sent(
        ANTHROPIC,
        User(text="look"),
        Assistant(tool_calls=(CALL,)),
        ToolMessage(tool_use_id="c1", name="Bash", text="no such file", is_error=True),
    )
    assert anthropic_blocks(body)[-1]["is_error"] is True


def roles(body: Any) -> list[str]:
    return [message["role"] for message in body["messages"]]


def test_results_come_right_after_their_calls_whatever_was_said_between() -> None:
    other = ToolUse(id="c2", name="Bash", input={})
    body = sent(
        CHAT,
        User(text="look"),
        Assistant(tool_calls=(CALL, other)),
        User(text="a hook says", by="hook"),
        ToolMessage(tool_use_id="c2", name="Bash", text="two"),
        ToolMessage(tool_use_id="c1", name="Bash", text="one"),
        system="",
    )
    assert roles(body) == ["user", "assistant", "tool", "tool", "user"]
    assert [message["tool_call_id"] for message in body["messages"][2:4]] == ["c1", "c2"]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    body = sent(CHAT, User(text="look"), Assistant(tool_calls=(CALL,)), User(text="never mind"), system="")
    assert roles(body) == ["user", "assistant", "tool", "user"]
    assert "interrupted" in body["messages"][2]["content"]
    body = sent(CHAT, User(text="look"), Assistant(tool_calls=(CALL,)), system="")
    assert roles(body) == ["user", "assistant", "tool"]


def test_a_result_without_its_call_is_told_as_text() -> None:
    body = sent(
        CHAT, User(text="summary"), ToolMessage(tool_use_id="gone", name="Bash", text="out"), system=""
    )
    assert roles(body) == ["user", "user"]
    assert body["messages"][1]["content"] == "[result of Bash]\nout"


BLANK: Sequence[Message] = (
    User(text=" "),
    Assistant(text=""),
    Assistant(text=" \n", tool_calls=(CALL,)),
    ToolMessage(tool_use_id="c1", name="Bash", text=""),
)


@pytest.mark.parametrize("name", ALL)
def test_blank_texts_are_not_sent_blank(name: str) -> None:
    texts = list(_texts(sent(name, *BLANK, system="  ")))
    assert "(empty)" in texts
    assert any("(no output)" in text for text in texts)
    assert all(text.strip() for text in texts)


def _texts(value: Any) -> Sequence[str]:
    """Every text a model would read."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        own = [v for k, v in fields.items() if k in {"text", "content", "output"} and isinstance(v, str)]
        return own + [text for each in fields.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in cast("list[Any]", value) for text in _texts(each)]
    return [value] if isinstance(value, str) and value.startswith("(no output") else []


@pytest.mark.parametrize("name", ALL)
def test_half_characters_do_not_stop_a_request(name: str) -> None:
    body = sent(
        name,
        User(text="a\ud800b"),
        Assistant(text="c\udfff", tool_calls=(ToolUse(id="c1", name="Bash", input={"command": ["\ud83d"]}),)),
        ToolMessage(tool_use_id="c1", name="Bash", text="\ud800"),
        system="s\ud800",
    )
    assert "a?b" in str(body)
    assert "s?" in str(body)


@pytest.mark.parametrize("name", ALL)
def test_arguments_that_were_no_json_can_be_told_back(name: str) -> None:
    broken = ToolUse(id="c1", name="Bash", input='{"command": ')
    body = sent(
        name,
        User(text="go"),
        Assistant(tool_calls=(broken,)),
        ToolMessage(tool_use_id="c1", name="Bash", text="these are no arguments", is_error=True),
    )
    assert "these are no arguments" in str(body)


@pytest.mark.parametrize("name", ALL)
def test_reasoning_is_not_sent_back_as_something_that_was_said(name: str) -> None:
    body = sent(name, User(text="a"), Assistant(text="b", reasoning="secret thoughts"), User(text="c"))
    assert "secret thoughts" not in str(body)


def test_a_tools_schema_is_sent_as_it_stands() -> None:
    (tool,) = sent(ANTHROPIC, User(text="a"))["tools"]
    assert tool["input_schema"] == BASH.schema
    (tool,) = sent(CHAT, User(text="a"))["tools"]
    assert tool["function"]["parameters"] == BASH.schema


@pytest.mark.parametrize("name", ["openai:x", "openai-chat:x", "openai-responses:x"])
def test_openai_is_asked_not_to_keep_the_conversation_and_other_places_are_not_told(name: str) -> None:
    assert ("openai_store", False) in request_settings(target_of(name, env=ENV), tools=True).items()
    elsewhere = target_of(name, base_url="http://localhost/v1", env=ENV)
    assert "openai_store" not in request_settings(elsewhere, tools=True)
