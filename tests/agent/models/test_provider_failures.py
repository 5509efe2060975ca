"""Every way a provider can fail has one of StopFailure's names, and a sentence."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai import exceptions as x

from hookline.agent.models.choose import provider_model, target_of
from hookline.agent.models.port import CompletionResponse, ModelError
from hookline.agent.models.provider import TooLongError, connect, model_error
from tests.agent.models import provider_answers
from tests.agent.models.loopback_server import Loopback, Reply, error
from tests.agent.models.provider_ports import (
    ALL,
    ANTHROPIC,
    CHAT,
    ENV,
    GOOGLE,
    KEY,
    OLLAMA,
    RESPONSES,
    answer,
    each_refused,
    pieces_of,
    refused,
    request_to,
)
from tests.every import every

SPEAKERS = {
    CHAT: provider_answers.chat,
    RESPONSES: provider_answers.responses,
    ANTHROPIC: provider_answers.anthropic,
    GOOGLE: provider_answers.google,
    OLLAMA: provider_answers.chat,
}
#: The parts of a whole answer that end it.
ENDS = {CHAT: 2, RESPONSES: 1, ANTHROPIC: 2, GOOGLE: 1, OLLAMA: 2}


STATUSES = {
    401: "auth_failed", 403: "auth_failed", 402: "billing", 429: "rate_limit", 500: "server", 502: "server",
    503: "server", 529: "server", 404: "unknown", 422: "unknown",
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_a_status_has_its_kind_and_the_servers_words_are_told(name: str) -> None:
    body = {"error": {"message": "so it is", "type": "t"}}
    problems = each_refused(name, [error(status, body) for status in STATUSES])
    assert {s: p.kind for s, p in zip(STATUSES, problems, strict=True)} == STATUSES
    for status, problem in zip(STATUSES, problems, strict=True):
        assert str(status) in str(problem)
        assert "so it is" in str(problem)


@every(
    ("name", "status", "body", "kind"),
    [
        (CHAT, 429, {"error": {"message": "m", "code": "insufficient_quota"}}, "billing"),
        (RESPONSES, 429, {"error": {"message": "m", "type": "insufficient_quota"}}, "billing"),
        (CHAT, 400, {"error": {"message": "m", "code": "context_length_exceeded"}}, "max_tokens"),
        (RESPONSES, 400, {"error": {"message": "m", "code": "context_length_exceeded"}}, "max_tokens"),
        (OLLAMA, 400, {"error": {"message": "exceeds maximum context length"}}, "max_tokens"),
        (
            ANTHROPIC,
            400,
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 3"},
            },
            "max_tokens",
        ),
        (
            ANTHROPIC,
            400,
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"},
            },
            "billing",
        ),
        (
            ANTHROPIC,
            413,
            {"type": "error", "error": {"type": "request_too_large", "message": "m"}},
            "max_tokens",
        ),
    ],
)
def test_a_code_in_the_body_says_more_than_the_status(name: str, status: int, body: Any, kind: str) -> None:
    assert refused(name, error(status, body)).kind == kind


BODIES: list[Any] = [None, [], "text", 7, {"error": None}, {"error": {"error": {"error": {"error": 1}}}}]


@pytest.mark.parametrize("name", ALL)
def test_an_error_body_may_be_anything(name: str) -> None:
    problems = each_refused(name, [error(500, body) for body in BODIES])
    assert [problem.kind for problem in problems] == ["server"] * len(BODIES)


@pytest.mark.parametrize(
    ("name", "event", "kind"),
    [
        (
            CHAT,
            provider_answers.sse({"error": {"message": "m", "code": "rate_limit_exceeded"}}),
            "rate_limit",
        ),
        (CHAT, provider_answers.sse({"error": {"message": "m", "type": "server_error"}}), "server"),
        (
            ANTHROPIC,
            provider_answers.sse(
                {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "error"
            ),
            "server",
        ),
        (
            ANTHROPIC,
            provider_answers.sse(
                {"type": "error", "error": {"type": "rate_limit_error", "message": "m"}}, "error"
            ),
            "rate_limit",
        ),
    ],
)
def test_an_error_inside_the_stream_has_the_kind_it_has_outside(name: str, event: bytes, kind: str) -> None:
    begun = SPEAKERS[name]("Hel", "lo").chunks[:3]
    assert refused(name, Reply(chunks=[*begun, event])).kind == kind


@pytest.mark.parametrize("name", ALL)
def test_a_stream_that_ends_without_its_end_is_no_answer(name: str) -> None:
    whole = SPEAKERS[name]("Hel", "lo").chunks
    problem = refused(name, Reply(chunks=whole[: -ENDS[name]]))
    assert problem.kind == "server"
    assert "ended before" in str(problem)


@every("name", ALL)
@every("keep", [0, 2])
def test_a_connection_that_is_cut_is_no_answer(name: str, keep: int) -> None:
    assert refused(name, Reply(chunks=SPEAKERS[name]("Hel", "lo").chunks[:keep], then="cut")).kind == "server"


GARBAGE = [
    b"",
    b"<html>A proxy says hello</html>",
    b"\x00\xff\xfe\x80",
    b"data: {nonsense\n\n",
    b"event: message_start\ndata: {nonsense\n\n",
    b"data: 42\n\n",
    b"data: null\n\n",
    b"data: []\n\n",
    b'data: {"choices": 5, "type": 7, "candidates": "x"}\n\n',
    b'event: message_start\ndata: {"type": "message_start", "message": 5}\n\n',
    b"data: " + b"[" * 50_000 + b"\n\n",
]


@pytest.mark.parametrize("name", ALL)
def test_garbage_in_place_of_an_answer_is_a_failure_of_the_server(name: str) -> None:
    problems = each_refused(name, [Reply(chunks=[garbage] if garbage else []) for garbage in GARBAGE])
    assert [problem.kind for problem in problems] == ["server"] * len(GARBAGE)


@every("name", ALL)
@every("garbage", [b"data: {nonsense\n\n", b"event: content_block_delta\ndata: {nonsense\n\n"])
def test_garbage_after_a_good_beginning_ends_the_answer(name: str, garbage: bytes) -> None:
    begun = SPEAKERS[name]("Hel", "lo").chunks[:3]
    assert refused(name, Reply(chunks=[*begun, garbage])).kind == "server"


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        (CHAT, provider_answers.chat(finish="length")),
        (CHAT, provider_answers.chat("I go on", calls=[("c", "Bash", '{"comm')], finish="length")),
        (ANTHROPIC, provider_answers.anthropic(stop="max_tokens")),
        (ANTHROPIC, provider_answers.anthropic(thinking="so long a thought", stop="max_tokens")),
        (ANTHROPIC, provider_answers.anthropic(calls=[("c", "Bash", '{"comm')], stop="max_tokens")),
        (GOOGLE, provider_answers.google(finish="MAX_TOKENS")),
    ],
)
def test_an_answer_cut_at_the_limit_with_nothing_to_use_is_max_tokens(name: str, reply: Reply) -> None:
    assert refused(name, reply).kind == "max_tokens"


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        (CHAT, provider_answers.chat("half an ans", finish="length")),
        (ANTHROPIC, provider_answers.anthropic("half an ans", stop="max_tokens")),
    ],
)
def test_text_cut_at_the_limit_is_still_an_answer(name: str, reply: Reply) -> None:
    assert answer(name, reply).text == "half an ans"


def test_a_refusal_is_told() -> None:
    problem = refused(CHAT, provider_answers.chat(finish="content_filter"))
    assert problem.kind == "unknown"
    assert "filter" in str(problem)


@pytest.mark.parametrize("name", ALL)
def test_a_port_nobody_listens_on_is_told_with_its_address(name: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{unused.getsockname()[1]}"

        async def main() -> ModelError:
            port = provider_model(name, base_url=place, env=ENV)
            with pytest.raises(ModelError) as caught:
                await pieces_of(port, request_to(name))
            await port.close()
            return caught.value

        problem = asyncio.run(main())
    assert problem.kind == "server"
    assert place in str(problem)


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        # What no test can wait for, or no server of ours provokes.
        (x.ModelTimeoutError("m", "nothing for 300 s"), "server"),
        (x.ModelRequestTimeout("m", 1800.0), "server"),
        (x.IncompleteToolCall("cut"), "max_tokens"),
        (x.UserError("a setting"), "unknown"),
        (x.ModelHTTPError(418, "m", "a teapot"), "unknown"),
        (x.ModelHTTPError(599, "m", None), "server"),
        (OSError("gone"), "server"),
    ],
)
def test_the_kind_goes_by_the_class_of_the_error(problem: Exception, kind: str) -> None:
    assert model_error(problem, target_of("openai:m", env=ENV)).kind == kind


@pytest.mark.parametrize("name", ALL)
def test_a_key_that_a_server_quotes_is_not_shown(name: str) -> None:
    problem = refused(name, error(401, {"error": {"message": f"bad key {KEY}"}}))
    assert "bad key" in str(problem)
    assert KEY not in str(problem)


def test_what_to_check_and_how_long_to_wait_is_told() -> None:
    assert "ANTHROPIC_API_KEY" in str(refused(ANTHROPIC, error(401, {})))
    assert "wait 7 s" in str(refused(CHAT, error(429, {}, Retry_After="7")))


def test_a_servers_words_cannot_steer_the_terminal_and_are_short() -> None:
    problem = refused(CHAT, error(500, {"error": {"message": "\x1b[2Jgone\n" + "x" * 5000}}))
    assert "\x1b" not in str(problem)
    assert "\n" not in str(problem)
    assert len(str(problem)) <= 600


def test_a_redirect_is_not_followed() -> None:
    async def main() -> None:
        async with Loopback(provider_answers.chat("caught")) as elsewhere:
            away = Reply(status=307, headers={"Location": elsewhere.url + "/v1/chat/completions"})
            async with Loopback(away) as server:
                port = provider_model(CHAT, base_url=server.url, env=ENV)
                with pytest.raises(ModelError):
                    await pieces_of(port, request_to(CHAT))
                await port.close()
            assert elsewhere.asked == []

    asyncio.run(main())


async def _drained(chunks: AsyncIterator[bytes]) -> None:
    async for _ in chunks:
        pass


@pytest.mark.parametrize("packed", [False, True])
def test_a_stream_without_end_is_cut(packed: bool) -> None:
    async def main() -> None:
        chunk = b"x" * 65_536
        headers = {"Content-Encoding": "gzip"} if packed else {}
        async with (
            Loopback(Reply(chunks=[chunk], then="repeat", headers=headers)) as server,
            connect(most_bytes=1 << 20) as client,
            client.stream("POST", server.url) as response,
        ):
            chunks = response.aiter_raw()
            assert await anext(chunks)
            with pytest.raises(TooLongError, match="longer than"):
                await _drained(chunks)

    asyncio.run(main())


def test_a_model_that_its_maker_calls_deprecated_still_answers() -> None:
    # The library warns, and warnings are errors here.
    assert isinstance(
        answer("anthropic:claude-sonnet-4-5", provider_answers.anthropic("hi")), CompletionResponse
    )
