"""Test questions of servers on a terminal: typed text becomes the requested value."""

import asyncio
import os
from typing import Any

import pytest

from hookline.agent.mcp.elicitation import ServerAnswer, ServerQuestion
from hookline.agent.mcp.form import FormAnswers
from hookline.cli.commands.agent.line_conversation import LineAsker, LineInput

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "who\x1b[31m are you"},
        "age": {"type": "integer"},
        "kind": {"type": "string", "enum": ["cat", "dog"]},
        "sure": {"type": "boolean", "default": True},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age"],
}


def _answered(question: ServerQuestion, typed: str) -> tuple[ServerAnswer, str]:
    async def main() -> tuple[ServerAnswer, str]:
        theirs, ours = os.pipe()
        os.write(ours, typed.encode())
        os.close(ours)
        said: list[str] = []
        try:
            answers = FormAnswers(LineAsker(LineInput(theirs), said.append))
            return await answers.ask(question), "\n".join(said)
        finally:
            os.close(theirs)

    return asyncio.run(main())


def _form(typed: str, schema: dict[str, Any] = SCHEMA) -> tuple[ServerAnswer, str]:
    return _answered(ServerQuestion(server="hk", message="tell\x1b[2J me", schema=schema), typed)


def test_a_line_for_each_field_and_empty_ones_are_left_out():
    answer, said = _form("ann\n7\ndog\n\na, b\n")
    assert answer.action == "accept"
    assert answer.content == {"name": "ann", "age": 7, "kind": "dog", "sure": True, "tags": ["a", "b"]}
    assert "kind, one of cat, dog, may be left empty:" in said
    assert "age:" in said


def test_nothing_a_server_says_reaches_the_terminal_raw():
    _, said = _form("ann\n")
    assert "\x1b" not in said


def test_what_does_not_fit_is_asked_for_again():
    answer, said = _form("\nann\nseven\n7\nhorse\ncat\nmaybe\nn\n\n")
    assert answer.content == {"name": "ann", "age": 7, "kind": "cat", "sure": False}
    assert said.count("that does not fit") == 4


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("/decline\n", "decline"),
        ("ann\n/cancel\n", "cancel"),
        ("", "cancel"),
        ("ann\n", "cancel"),
        ("\n\n\n", "cancel"),
    ],
)
def test_a_form_that_is_not_filled_in_is_no_answer(typed: str, action: str):
    answer, _ = _form(typed)
    assert (answer.action, answer.content) == (action, None)


@pytest.mark.parametrize("schema", [{}, {"properties": {}}, {"properties": 3}])
def test_a_form_without_fields_is_a_question_of_yes_or_no(schema: dict[str, Any]):
    assert _form("y\n", schema)[0] == ServerAnswer(action="accept", content={})
    assert _form("n\n", schema)[0].action == "decline"


def test_an_address_is_shown_and_agreed_to():
    question = ServerQuestion(server="hk", message="log in", mode="url", url="https://x.example/\x1b[2J")
    answer, said = _answered(question, "y\n")
    assert answer == ServerAnswer(action="accept")
    assert "it asks you to open https://x.example/" in said
    assert "\x1b" not in said
    assert _answered(question, "n\n")[0].action == "decline"
