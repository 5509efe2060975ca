"""Calls that wait for a person, answered in the console: once, and by no page but its own."""

import http.client
import json
import re
import threading
import time
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from hookline.engine.host.approvals import ApprovalQueue, QueuedCall
from hookline.engine.host.pending import PendingCall
from tests.team.console.scene import Running, console

COMMAND = "terraform apply <b>prod</b> && echo '\"x\"'"


def wait_in_queue(home: Path) -> QueuedCall:
    """A call that an agent has asked about, as it is in the queue."""
    call = QueuedCall(
        pending=PendingCall(
            tool_name="Bash", tool_input={"command": COMMAND}, given={"command": COMMAND}, reason="this changes prod",
            hook="clusters", tool_use_id="t", session_id="s",
        ),
        agent="Gemini CLI", project=str(home), user="ada", until=time.time() + 300,
    )  # fmt: skip
    ApprovalQueue({"HOME": str(home)}).add(call)
    return call


class Browser:
    """Requests of a user who has logged in."""

    def __init__(self, running: Running) -> None:
        self._running = running
        status, headers, _ = self.ask("GET", running.link.removeprefix(running.address))
        assert status == 200
        self.cookie = headers["set-cookie"].partition(";")[0]

    def ask(
        self, method: str, path: str, fields: Mapping[str, str] | None = None, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._running.port, timeout=30)
        given = {
            "Cookie": getattr(self, "cookie", ""),
            **{key.replace("_", "-"): text for key, text in headers.items()},
        }
        body = None if fields is None else urlencode(fields)
        if body is not None:
            given["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, body, {key: text for key, text in given.items() if text})
            response = connection.getresponse()
            known = {name.lower(): value for name, value in response.getheaders()}
            return response.status, known, response.read().decode()
        finally:
            connection.close()

    def token(self) -> str:
        _, _, page = self.ask("GET", "/approvals")
        found = re.search(r'name="token" value="([0-9a-f]{64})"', page)
        assert found is not None
        return found[1]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def test_a_call_is_shown_exactly_and_answered_once(home: Path) -> None:
    queue = ApprovalQueue({"HOME": str(home)})
    with console(home) as running:
        browser = Browser(running)
        _, _, nothing = browser.ask("GET", "/approvals")
        assert "No call waits for an answer" in nothing
        call = wait_in_queue(home)
        _, _, first = browser.ask("GET", "/")
        assert "1 call waits for your answer." in first
        _, _, page = browser.ask("GET", "/approvals")
        assert json.dumps(COMMAND) in unescape(page), "the exact call"
        assert "<b>prod</b>" not in page
        assert all(text in page for text in ("this changes prod", "clusters", "Gemini CLI of ada"))
        fields = {"token": browser.token(), "answer": "deny", "message": "use the test account"}
        path = f"/approvals/{call.pending.id}"
        answers: list[str] = []

        def answer() -> None:
            status, headers, _ = browser.ask("POST", path, fields, Origin=running.address)
            assert status == 303
            answers.append(headers["location"])

        threads = [threading.Thread(target=answer) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert sorted(answers) == ["/approvals?result=denied", *["/approvals?result=late"] * 3]
        said = queue.answer_of(call.pending.id)
        assert said is not None
        assert (said.allow, said.message) == (False, "use the test account")
        assert "No call waits" in browser.ask("GET", "/approvals?result=denied")[2]


@pytest.mark.parametrize(
    ("origin", "site", "token", "cookie", "status"),
    [
        ("https://evil.example", "cross-site", "right", True, 403),
        ("http://127.0.0.1:1", "same-site", "right", True, 403),
        ("", "", "right", True, 403),
        ("own", "none", "right", True, 403),
        ("own", "same-origin", "", True, 403),
        ("own", "same-origin", "0" * 64, True, 403),
        ("own", "same-origin", "right", False, 401),
        ("own", "same-origin", "right", True, 303),
    ],
    ids=["another site", "another port", "no origin", "typed", "no word", "wrong word", "no login", "our own form"],
)  # fmt: skip
def test_only_a_form_of_the_console_itself_answers(
    home: Path, origin: str, site: str, token: str, cookie: bool, status: int
) -> None:
    call = wait_in_queue(home)
    with console(home) as running:
        browser = Browser(running)
        fields = {"token": browser.token() if token == "right" else token, "answer": "allow"}
        if not cookie:
            browser.cookie = ""
        seen, _, _ = browser.ask(
            "POST", f"/approvals/{call.pending.id}", fields,
            Origin=running.address if origin == "own" else origin, Sec_Fetch_Site=site,
        )  # fmt: skip
        assert seen == status
    assert (ApprovalQueue({"HOME": str(home)}).answer_of(call.pending.id) is not None) == (status == 303)


def test_nothing_else_can_be_sent_to_the_console(home: Path) -> None:
    with console(home) as running:
        browser = Browser(running)
        for method, path in (
            ("POST", "/"),
            ("POST", "/runs"),
            ("PUT", "/approvals/x"),
            ("DELETE", "/approvals/x"),
        ):
            assert browser.ask(method, path, {}, Origin=running.address)[0] == 405
