"""The http endpoint: who is answered, and who is not."""

import asyncio
import contextlib
import http.client
import json
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from urllib.parse import urlsplit

import pytest

from hookline.hook.daemon.http import LOOPBACK, HttpEndpoint, Limits
from hookline.hook.daemon.protocol import RelayReply
from tests.hook.daemon.daemons import Daemons, command, hook_file
from tests.hook.daemon.test_same_answers import http_of
from tests.waiting import until

PATH = "/hook/claude-code/PreToolUse"


class Endpoint:
    def __init__(self, daemons: Daemons) -> None:
        found = http_of(daemons)
        self.daemons, self.token = daemons, found.token
        self.port = urlsplit(found.address).port or 0

    def post(
        self, headers: Mapping[str, str], path: str = PATH, method: str = "POST", body: bytes | None = None
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        content = self.daemons.payload() if body is None else body
        received = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Length": str(len(content)),
            **self.own,
            **headers,
        }
        for name, value in received.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(content)
        answered = connection.getresponse()
        found = answered.status, answered.read()
        connection.close()
        return found

    @property
    def own(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    made = Daemons(tmp_path_factory.mktemp("http"))
    denies = hook_file('type = "builtin"\ncommand = "deny"\nargs = ["no"]')
    blocks = command("""echo '{"systemMessage":"look"}'; echo not yet >&2; exit 2""")
    made.write(".hookline/hooks.toml", denies + hook_file(blocks, event="TaskCompleted"))
    made.start("--http", "0")
    yield Endpoint(made)
    made.stop()


def test_who_has_the_token_is_answered(endpoint: Endpoint) -> None:
    status, body = endpoint.post({})
    assert (status, json.loads(body)["hookSpecificOutput"]["permissionDecision"]) == (200, "deny")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic x"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Length": ""}, 411),
        ({"Content-Length": "99999999999"}, 413),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_nobody_else_is(headers: dict[str, str], status: int, endpoint: Endpoint) -> None:
    assert endpoint.post(headers)[0] == status


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        (PATH, "GET", 405),
        ("/", "POST", 404),
        ("/hook", "POST", 404),
        ("/hook/a/b/c", "POST", 404),
        ("/hook/nobody/PreToolUse", "POST", 503),
        ("/hook/--config/x", "POST", 503),
        ("/hook/claude-code/--config=x", "POST", 404),
        # It describes a call in variables: those of the daemon would be judged.
        ("/hook/codewhale/tool_call_before", "POST", 503),
    ],
)
def test_only_calls_of_agents_are_answered(path: str, method: str, status: int, endpoint: Endpoint) -> None:
    assert endpoint.post({}, path, method)[0] == status


def test_an_agent_that_is_not_known_is_answered_with_those_that_are(endpoint: Endpoint) -> None:
    _, body = endpoint.post({}, "/hook/claudecode")
    assert json.loads(body)["error"].startswith("no agent is called 'claudecode'; there are claude-code, ")


def test_the_token_is_the_users_alone(endpoint: Endpoint) -> None:
    file = endpoint.daemons.home / ".local/state/hookline/daemon-token"
    assert (file.stat().st_mode & 0o777, len(file.read_text()) > 30) == (0o600, True)


def test_what_cannot_be_judged_closes_at_a_guard_and_is_an_error_elsewhere(endpoint: Endpoint) -> None:
    status, body = endpoint.post({}, body=b"no payload")
    assert (status, json.loads(body)["hookSpecificOutput"]["permissionDecision"]) == (200, "deny")
    status, body = endpoint.post({}, "/hook/claude-code/PostToolUse", body=b"no payload")
    assert status == 500
    assert "cannot be read as JSON" in json.loads(body)["error"]


def test_what_is_said_beside_an_exit_code_that_blocks_is_kept(endpoint: Endpoint) -> None:
    payload = endpoint.daemons.payload("TaskCompleted", task_id="1", task_subject="x")
    status, body = endpoint.post({}, "/hook/claude-code/TaskCompleted", body=payload)
    assert (status, json.loads(body)) == (
        200,
        {"decision": "block", "reason": "not yet", "systemMessage": "look"},
    )


# Clients that are slow, and many of them

TOKEN = "secret"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def with_endpoint(
    limits: Limits, story: Callable[[HttpEndpoint], Awaitable[None]], reply: bytes | None = None
) -> None:
    """Play a story with an endpoint that answers with the payload, or with this reply."""

    async def main() -> None:
        async def answer(words: tuple[str, ...], payload: bytes, send: Callable[[RelayReply], None]) -> None:
            send(RelayReply(0, payload if reply is None else reply))

        endpoint = HttpEndpoint(answer, TOKEN, limits)
        await endpoint.listen(0)
        try:
            await story(endpoint)
        finally:
            endpoint.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_connection_that_is_open_at_the_end_is_no_error() -> None:
    said: list[str] = []
    client = socket.socket()

    async def story(endpoint: HttpEndpoint) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, problem: said.append(problem["message"]))
        client.connect((LOOPBACK, endpoint.port))
        await until(_serving)

    with client:
        with_endpoint(Limits(), story)
        assert client.recv(1) == b""
    assert said == []


async def connected(endpoint: HttpEndpoint) -> Streams:
    return await asyncio.open_connection(LOOPBACK, endpoint.port)


def request(endpoint: HttpEndpoint, length: int = 2) -> bytes:
    return (
        f"POST {PATH} HTTP/1.1\r\nHost: {LOOPBACK}:{endpoint.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


async def ask(endpoint: HttpEndpoint, streams: Streams) -> bytes:
    """Send a whole request on a connection; returns the first line of its answer, empty if it was closed."""
    reader, writer = streams
    try:
        writer.write(request(endpoint) + b"{}")
        line = await reader.readline()
        while line.strip() and (await reader.readline()).strip():
            pass
        if line:
            await reader.readexactly(2)
    except ConnectionError:
        return b""
    return line


async def trickle(streams: Streams, data: bytes) -> bytes:
    """Send a byte now and then until the endpoint closes; returns what it said."""
    reader, writer = streams

    async def send() -> None:
        for each in data:
            writer.write(bytes((each,)))
            await asyncio.sleep(0.02)

    sending = asyncio.create_task(send())
    said = b""
    try:
        while part := await reader.read(1 << 16):
            said += part
    except ConnectionError:
        pass
    finally:
        sending.cancel()
        writer.close()
    return said


def _serving() -> int:
    return sum("HttpEndpoint._serve" in repr(task) for task in asyncio.all_tasks())


async def _unused(streams: Streams) -> bytes:
    """Return what comes until the connection ends."""
    try:
        return await streams[0].read()
    except ConnectionError:
        return b""
    finally:
        streams[1].close()


def test_a_client_that_sends_its_head_slowly_is_cut_off() -> None:
    async def story(endpoint: HttpEndpoint) -> None:
        # Many minutes long at this pace: only a limit of the whole time ends it.
        head = request(endpoint)[:-2] + b"X: " + b"y" * 30_000
        assert await trickle(await connected(endpoint), head) == b""
        streams = await connected(endpoint)
        assert await ask(endpoint, streams) == b"HTTP/1.1 200 OK\r\n"
        streams[1].close()

    with_endpoint(Limits(head_seconds=0.5), story)


def test_a_client_that_sends_its_payload_slowly_gets_an_error() -> None:
    async def story(endpoint: HttpEndpoint) -> None:
        streams = await connected(endpoint)
        streams[1].write(request(endpoint, 30_000))
        said = await trickle(streams, b"y" * 30_000)
        assert said.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert b"did not come within 0.5 s" in said

    with_endpoint(Limits(body_seconds=0.5), story)


def test_a_client_that_does_not_take_its_answer_is_cut_off() -> None:
    size = 32 << 20

    async def story(endpoint: HttpEndpoint) -> None:
        client = socket.create_connection((LOOPBACK, endpoint.port))
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(client, request(endpoint) + b"{}")
        await until(_serving)
        await until(lambda: not _serving())
        taken = 0
        with contextlib.suppress(ConnectionError):
            while part := await loop.sock_recv(client, 1 << 20):
                taken += len(part)
        assert taken < size
        client.close()

    with_endpoint(Limits(body_seconds=1.0), story, b"y" * size)


def test_a_connection_that_stays_open_is_closed_after_a_while() -> None:
    async def story(endpoint: HttpEndpoint) -> None:
        streams = await connected(endpoint)
        assert await ask(endpoint, streams) == b"HTTP/1.1 200 OK\r\n"
        assert await trickle(streams, b"") == b""

    with_endpoint(Limits(idle_seconds=0.3), story)


def test_connections_that_only_wait_make_room_for_a_request() -> None:
    """Anybody on this machine can connect: that must not keep the user's agents from being answered."""

    async def story(endpoint: HttpEndpoint) -> None:
        waiting = [await connected(endpoint) for _ in range(30)]
        streams = await connected(endpoint)
        assert await ask(endpoint, streams) == b"HTTP/1.1 200 OK\r\n"
        streams[1].close()
        assert [await _unused(each) for each in waiting[:20]] == [b""] * 20
        assert await ask(endpoint, waiting[-1]) == b"HTTP/1.1 200 OK\r\n"
        for _, writer in waiting:
            writer.close()

    with_endpoint(Limits(connections=4), story)
