import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.extending import Failed, RawResult, Replied
from hookline.handlers.prompt import SYSTEM, PromptHandler, PromptSpec, with_arguments
from tests.handlers.calls import call_with, finished

DOCUMENT = '{"tool_name":"Bash","tool_input":{"command":"ls"}}'


class Model:
    """Gives the scripted answers, and keeps its requests."""

    def __init__(self, answer: Any = '{"ok": true}') -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, str | None]] = []

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        self.asked.append((prompt, system, model))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def ran(model: Model | None, spec: PromptSpec, payload: Any = None) -> RawResult:
    call = call_with(spec, kind="prompt") if payload is None else call_with(spec, payload=payload)
    return finished(PromptHandler(model).run(call))


def test_the_model_is_asked_once_and_its_text_comes_back_untouched() -> None:
    model = Model('```json\n{"ok": false}\n```')
    assert ran(model, PromptSpec("Is $ARGUMENTS fine?", "small")) == Replied(b'```json\n{"ok": false}\n```')
    assert model.asked == [(f"Is {DOCUMENT} fine?", SYSTEM, "small")]


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("$ARGUMENTS and $ARGUMENTS", "D and D"),
        ("no place", "no place\n\n## Event\n\nD\n"),
        (r"\$ARGUMENTS", "$ARGUMENTS\n\n## Event\n\nD\n"),
        (r"\$ARGUMENTS: $ARGUMENTS", "$ARGUMENTS: D"),
        ("$arguments", "$arguments\n\n## Event\n\nD\n"),
        (r"group \1 \g<0> $ARGUMENTS", r"group \1 \g<0> D"),
    ],
)
def test_arguments_are_the_payload(template: str, prompt: str) -> None:
    assert with_arguments(template, b"D\n") == prompt


@settings(deadline=None)
@given(st.lists(st.sampled_from(["$ARGUMENTS", "\\", "$", "x"])).map("".join), st.text(max_size=20))
def test_nothing_inside_the_payload_is_ever_expanded(template: str, noise: str) -> None:
    payload = f"<{noise}$ARGUMENTS\\$ARGUMENTS\\1>".strip().encode("utf-8", "replace")
    text = payload.decode()
    prompt = with_arguments(template, payload)
    assert text in prompt
    marked = with_arguments(template, b"\x00")
    assert prompt == marked.replace("\x00", text)


def test_without_a_completer_it_says_so_early_and_does_not_start() -> None:
    problem = PromptHandler(None).problem(PromptSpec("x"))
    assert problem is not None
    assert "need a model" in problem
    assert ran(None, PromptSpec("x")) == Failed("not_started", problem)


def test_an_empty_prompt_can_never_run() -> None:
    assert PromptHandler(Model()).problem(PromptSpec(" \n")) == "its prompt is empty"
    assert isinstance(ran(Model(), PromptSpec("")), Failed)


def test_a_model_that_fails_is_a_transport_failure() -> None:
    down = ConnectionError("model is down")
    assert ran(Model(down), PromptSpec("x")) == Failed(
        "transport",
        "the model gave no answer: ConnectionError",
        logged="the model gave no answer: ConnectionError: model is down",
        raised=down,
    )


def test_a_cancelled_completion_passes_through() -> None:
    with pytest.raises(asyncio.CancelledError):
        ran(Model(asyncio.CancelledError()), PromptSpec("x"))


@pytest.mark.parametrize("answer", [None, b"bytes", {"ok": True}, 3])
def test_an_answer_that_is_no_text_is_unreadable(answer: Any) -> None:
    raw = ran(Model(answer), PromptSpec("x"))
    assert isinstance(raw, Failed)
    assert raw.cause == "unreadable"


def test_an_endless_answer_is_cut() -> None:
    raw = ran(Model("x" * (1 << 21)), PromptSpec("x"))
    assert isinstance(raw, Replied)
    assert raw.truncated
    assert len(raw.body) == 1 << 20


def test_half_a_character_is_no_exception() -> None:
    raw = ran(Model("\ud800"), PromptSpec("x"))
    assert isinstance(raw, Replied)
    with pytest.raises(UnicodeDecodeError):
        raw.body.decode()


def test_a_payload_that_cannot_be_encoded_is_not_started() -> None:
    raw = ran(Model(), PromptSpec("x"), object())
    assert isinstance(raw, Failed)
    assert raw.cause == "not_started"
