"""The http endpoint: who is answered, and who is not."""

import http.client
import json
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import pytest

from tests.resident.residents import Residents, command, hook_file
from tests.resident.test_same_answers import http_of

PATH = "/hook/claude-code/PreToolUse"


class Endpoint:
    def __init__(self, residents: Residents) -> None:
        found = http_of(residents)
        self.residents, self.token = residents, found.token
        self.port = urlsplit(found.address).port or 0

    def post(
        self, headers: Mapping[str, str], path: str = PATH, method: str = "POST", body: bytes | None = None
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        content = self.residents.payload() if body is None else body
        told = {"Host": f"127.0.0.1:{self.port}", "Content-Length": str(len(content)), **self.own, **headers}
        for name, value in told.items():
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
    made = Residents(tmp_path_factory.mktemp("http"))
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
        # It tells hooks about a call in variables: those of the resident would be judged.
        ("/hook/codewhale/tool_call_before", "POST", 503),
    ],
)
def test_only_calls_of_agents_are_answered(path: str, method: str, status: int, endpoint: Endpoint) -> None:
    assert endpoint.post({}, path, method)[0] == status


def test_an_agent_that_is_not_known_is_answered_with_those_that_are(endpoint: Endpoint) -> None:
    _, body = endpoint.post({}, "/hook/claudecode")
    assert json.loads(body)["error"].startswith("no agent is called 'claudecode'; there are claude-code, ")


def test_the_token_is_the_users_alone(endpoint: Endpoint) -> None:
    file = endpoint.residents.home / ".local/state/hookline/resident-token"
    assert (file.stat().st_mode & 0o777, len(file.read_text()) > 30) == (0o600, True)


def test_what_cannot_be_judged_closes_at_a_guard_and_is_an_error_elsewhere(endpoint: Endpoint) -> None:
    status, body = endpoint.post({}, body=b"no payload")
    assert (status, json.loads(body)["hookSpecificOutput"]["permissionDecision"]) == (200, "deny")
    status, body = endpoint.post({}, "/hook/claude-code/PostToolUse", body=b"no payload")
    assert status == 500
    assert "cannot be read as JSON" in json.loads(body)["error"]


def test_what_is_said_beside_an_exit_code_that_blocks_is_kept(endpoint: Endpoint) -> None:
    payload = endpoint.residents.payload("TaskCompleted", task_id="1", task_subject="x")
    status, body = endpoint.post({}, "/hook/claude-code/TaskCompleted", body=payload)
    assert (status, json.loads(body)) == (
        200,
        {"decision": "block", "reason": "not yet", "systemMessage": "look"},
    )
