"""The console by raw requests: who may see it, what it sends, and what it does with hostile text."""

import http.client
import os
import re
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from hookline.team.console.server import ConsoleError, ConsoleSettings, check
from tests.cli.run_cli import run_cli
from tests.team.console.scene import SESSION, Running, append, console, furnish
from tests.waiting import wait_until

_HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x1b[31m"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none';"
    " base-uri 'none'; form-action 'self'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_PAGES = (
    "/",
    "/runs",
    "/sessions",
    "/guards",
    "/time",
    "/jobs",
    "/backtests",
    "/runs?q=push&status=blocked&since=all",
)


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read().decode()


def test_slow_and_too_many_connections_are_dropped(tmp_path: Path) -> None:
    """Whoever reaches the port needs no login for that; a browser is answered all the same."""
    furnish(tmp_path)
    with console(tmp_path) as running, ExitStack() as opened:

        def connect() -> socket.socket:
            return opened.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=30))

        began = time.monotonic()
        slow = [connect() for _ in range(2)]
        slow[1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        more = [connect() for _ in range(300)]
        assert all(map(_is_ended, more[-40:]))
        assert time.monotonic() - began < 4.5  # there were too many of them: time was left
        assert all(map(_is_ended, slow))
        assert 4 < time.monotonic() - began < 25
        assert Browser(running).log_in().status == 200


def _is_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1 << 16) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


class Browser:
    """Requests as they are on the wire."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.cookie = ""

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.running.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True)
            sent = {"Host": f"127.0.0.1:{self.running.port}", "Cookie": self.cookie}
            sent |= {name.replace("_", "-"): value for name, value in headers.items()}
            for name, value in sent.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders()
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def log_in(self) -> Answer:
        answer = self.ask(token_path(self.running))
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer


def token_path(running: Running) -> str:
    """The token that is good now, from the file."""
    found = re.search(r'href="http://[^/"]*(/login\?token=[\w-]+)"', Path(running.login_file).read_text())
    assert found
    return found[1]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    home = tmp_path_factory.mktemp("home")
    furnish(home)
    append(
        home, hook=_HOSTILE, source=f"/{_HOSTILE}:1", input=_HOSTILE, session=_HOSTILE, status="failed",
        detail=_HOSTILE, stderr=_HOSTILE, caller=_HOSTILE, event=_HOSTILE, dialect_event=_HOSTILE,
        project=f"/{_HOSTILE}",
        failed_open=True,
    )  # fmt: skip
    with console(home) as running:
        found = Browser(running)
        found.log_in()
        yield found


def test_the_login_is_a_file_of_the_user_that_is_good_once(browser: Browser) -> None:
    running = browser.running
    file = Path(running.login_file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    path, before = token_path(running), browser.cookie
    answer = browser.log_in()
    assert answer.status == 200
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == f"hookline-console-{running.port}"
    assert rest.partition("; ")[2] == "Path=/; HttpOnly; SameSite=Strict"
    assert browser.ask(path).status == 403, "a token is good once"
    assert token_path(running) != path
    assert browser.ask("/").status == 200
    assert browser.ask("/", Cookie=before).status == 200, "the other login stays"
    browser.cookie = before


def test_who_may_not_see_it(browser: Browser) -> None:
    port = browser.running.port
    wrong = f"hookline-console-{port}=wrong"
    cases: Mapping[str, tuple[int, dict[str, str]]] = {
        "with the cookie": (200, {}),
        "by the name localhost": (200, {"Host": f"localhost:{port}"}),
        "of its own page": (200, {"Origin": f"http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"}),
        "typed by the user": (200, {"Sec_Fetch_Site": "none"}),
        "beside malformed cookies of other local servers": (
            200,
            {"Cookie": f'theirs={{"a": "b", c}}; x[]=1; =; {browser.cookie}; "'},
        ),
        "beside a cookie of the same name": (200, {"Cookie": f"{wrong}; {browser.cookie}; {wrong}"}),
        "with a cookie whose name only ends like ours": (401, {"Cookie": f"x-{browser.cookie}"}),
        "without a cookie": (401, {"Cookie": ""}),
        "with another cookie": (401, {"Cookie": wrong}),
        "with the cookie under another name": (401, {"Cookie": browser.cookie.replace(f"-{port}=", "=")}),
        "a name that somebody points here": (421, {"Host": f"evil.example:{port}"}),
        "another port of ours": (421, {"Host": f"127.0.0.1:{port + 1}"}),
        "no host, which is no request": (400, {"Host": ""}),
        "another origin": (403, {"Origin": "https://evil.example"}),
        "an origin that has none": (403, {"Origin": "null"}),
        "another port as origin": (403, {"Origin": f"http://127.0.0.1:{port + 1}"}),
        "our origin by TLS": (403, {"Origin": f"https://127.0.0.1:{port}"}),
        "from another site": (403, {"Sec_Fetch_Site": "cross-site"}),
        "from another port, which is the same site": (403, {"Sec_Fetch_Site": "same-site"}),
        "something a browser may invent": (403, {"Sec_Fetch_Site": "x"}),
    }
    for name, (status, headers) in cases.items():
        for path in ("/", "/live", "/nothing", "/guards/coverage"):
            if status == 200 and path == "/live":
                continue  # it does not end
            expected = 404 if status == 200 and path == "/nothing" else status
            assert browser.ask(path, **headers).status == expected, (name, path)


def test_the_login_from_elsewhere_only_passes_as_a_navigation_with_a_token(browser: Browser) -> None:
    navigation = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert browser.ask("/login", **navigation).status == 403
    assert browser.ask("/login?token=x", **navigation).status == 403
    assert browser.ask("/", **navigation).status == 403
    assert (
        browser.ask(token_path(browser.running), Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors").status
        == 403
    )
    answer = browser.ask(token_path(browser.running), **navigation)
    assert (answer.status, "set-cookie" in answer.headers) == (200, True)
    assert 'content="0; url=/"' in answer.body


def test_everything_has_the_headers_and_nothing_can_be_changed(browser: Browser) -> None:
    for path in (*_PAGES, "/nothing", "/static/console.js", "/static/nothing", "/login?token=x"):
        answer = browser.ask(path)
        assert {name: answer.headers.get(name) for name in _HEADERS} == _HEADERS
        assert "server" not in answer.headers
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert browser.ask("/", method).status == 405
    assert _HEADERS.items() <= browser.ask("/", Host="evil.example").headers.items()


def test_pages_are_made_of_nothing_but_ours(browser: Browser) -> None:
    """No inline script or style, no address elsewhere, no event handler, and hostile text only as text."""
    links = set(
        re.findall(
            r'href="(/(?:run|session|job|backtest)/[^"]*)"', "".join(browser.ask(p).body for p in _PAGES)
        )
    )
    assert len(links) >= 8
    for path in (*_PAGES, *sorted(links)):
        answer = browser.ask(path.replace("&amp;", "&"))
        assert answer.status == 200
        parts = Parts()
        parts.feed(answer.body)
        assert parts.scripts <= {"/static/console.js"}
        assert parts.tags & {"style", "img", "iframe", "object", "embed", "base", "template"} == set()
        assert [name for name in parts.attributes if name == "style" or name.startswith("on")] == []
        assert [
            link for link in parts.links if not link.startswith(("/", "#")) or link.startswith("//")
        ] == []
        assert "\x1b" not in answer.body
        assert "\u202e" not in answer.body


class Parts(HTMLParser):
    """The parts of a page, as a browser reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "script":
            self.scripts.add(dict(attrs).get("src") or "inline")
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("src", "href", "action", "data-reload"):
                self.links.add(value or "")


def test_hostile_text_is_shown_and_secrets_are_not(browser: Browser) -> None:
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in browser.ask("/runs?status=all").body
    failed = re.search(r'href="(/run/[^"]*)"', browser.ask("/runs?status=failed_open").body)
    assert failed
    assert "stderr" in browser.ask(failed[1]).body
    dead = browser.ask("/jobs?state=dead").body
    body = "".join(browser.ask(path).body for path in re.findall(r'href="(/job/[^"]*)"', dead))
    assert "export TOKEN=" in body
    assert "ghp_" not in body
    assert "&lt;b&gt;licence.json&lt;/b&gt;" in body


def test_times_and_sizes_that_cannot_be_true_break_no_page(tmp_path: Path) -> None:
    """After a jump of the clock, from a damaged journal, or from a machine that sends what it likes."""
    now = time.time()
    for at in (now + 365 * 86_400, now + 60, 0.0, -5e9, 1e12, 1e300):
        append(tmp_path, hook=f"at {at:g}", session=f"s{at:g}", input="x", at=at)
    for took in (1e300, -5.0):
        append(tmp_path, hook=f"took {took:g}", duration_ms=took, queue_ms=took)
    append(tmp_path, hook="h" * 600_000, session="s" * 300_000, input="x", project="/" + "p" * 60_000)
    with console(tmp_path) as running:
        visitor = Browser(running)
        visitor.log_in()
        wait_until(lambda: "took -5" in visitor.ask("/runs?since=all").body)
        paths = [
            "/runs?since=all",
            "/runs?since=1h",
            "/sessions?since=all",
            "/time?since=all",
            "/time?since=1h",
            "/guards",
        ]
        for path in paths:
            answer = visitor.ask(path)
            assert answer.status == 200, path
            assert len(answer.body) < 400_000 or path.startswith("/run/"), path
            links = map(unescape, re.findall(r'href="(/(?:run|session)/[^"]*)"', answer.body))
            paths += [link for link in dict.fromkeys(links) if link not in paths]
        assert len(paths) > 15


def test_a_run_is_explained_by_the_hooks_of_now_and_the_payload_of_its_transcript(browser: Browser) -> None:
    path = re.search(r'href="(/run/[^"]*)"', browser.ask(f"/runs?session={SESSION}").body)
    assert path
    page, why = browser.ask(path[1]).body, browser.ask(f"{path[1]}/why").body
    assert "not without a person" in page
    assert ">recomputed</span>" in why
    assert "no recursive delete" in why
    assert "from the agent" in why
    assert "hookline explain PreToolUse Bash" in why
    assert "&quot;command&quot;: &quot;git push --force&quot;" in why
    assert browser.ask("/run/1-2-3/0").status == 404
    assert browser.ask(f"{path[1]}1/why").status == 404
    assert browser.ask(path[1].rpartition("/")[0] + "/1").status == 404, "not where a record begins"


def test_the_payload_that_was_kept_is_shown_without_secrets(browser: Browser) -> None:
    home = Path(browser.running.login_file).parents[4]
    settings = home / ".config/hookline/settings.toml"
    settings.write_text("keep_payloads = true\n")
    words = [
        "fire",
        "PreToolUse",
        "Bash",
        "command=rm -rf kept",
        "password=hunter22",
        f"description={_HOSTILE}",
    ]
    assert run_cli(words, home / "shop", home).status == 2
    settings.unlink()
    wait_until(lambda: "rm -rf kept" in browser.ask("/runs?q=kept").body)
    path = re.search(r'href="(/run/[^"]*)"', browser.ask("/runs?q=kept").body)
    assert path
    page, why = browser.ask(path[1]).body, browser.ask(f"{path[1]}/why").body
    assert "kept when the hook ran, secrets redacted" in page
    assert "&quot;password&quot;: &quot;[redacted]&quot;" in page
    assert "alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "hunter22" not in page + why
    assert 'aria-label="Payload"' not in why, "the page has it"
    assert "no recursive delete" in why
    (home / ".local/state/hookline/payloads.jsonl").unlink()
    assert "kept when the hook ran" not in browser.ask(path[1]).body
    assert "recomputed from the one line" in browser.ask(f"{path[1]}/why").body


def test_an_address_that_means_nothing_is_a_sentence_and_not_another_page(browser: Browser) -> None:
    bad = {
        "/runs?since=yesterday": "since=yesterday is not possible. Say one of: 1h, 24h, 7d, 30d, all.",
        "/runs?status=denied": "status=denied is not possible. Say one of: all, notable, blocked, ",
        "/runs?before=-1": "before=-1 is not the number of a run.",
        "/runs?before=1e9": "before=1e9 is not the number of a run.",
        "/runs?limit=5": "This page has no parameter &#x27;limit&#x27;. It has: hook, ",
        "/runs?hok=audit": "no parameter &#x27;hok&#x27;",
        "/runs?since=1h&since=all": "occurs twice",
        f"/runs?q={'x' * 2001}": "is longer than 2000 characters",
        "/runs?%3Cscript%3Ealert(1)%3C/script%3E=1": "&lt;script&gt;alert(1)",
        "/time?since=2h": "since=2h is not possible",
        "/sessions?since=": "",
        "/guards?before=x": "is not the number of a run",
        "/guards/coverage?since=x": "since=x is not possible",
        "/jobs?state=alive": "state=alive is not possible. Say one of: dead, running, queued, settled.",
        "/jobs?since=7d": "It has: state, format.",
        "/backtests?since=7d": "It has: format.",
    }
    for path, words in bad.items():
        answer = browser.ask(path)
        assert answer.status == (400 if words else 200), path
        assert words in answer.body
        assert "<script>alert" not in answer.body
        assert answer.headers["content-security-policy"] == _POLICY
    assert 'href="/runs">Show the page without parameters' in browser.ask("/runs?limit=5").body


def test_a_second_console_opens_the_first_and_a_taken_port_is_said(browser: Browser, tmp_path: Path) -> None:
    home = Path(browser.running.login_file).parents[4]
    port = str(browser.running.port)
    ran = run_cli(["console", "--no-open", "--port", port], home, home)
    assert (ran.status, ran.stderr) == (0, "")
    assert f"a console is running already at {browser.running.address}" in ran.stdout
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        ran = run_cli(["console", "--no-open", "--port", taken], tmp_path, tmp_path)
    assert ran.status == 1
    assert f"port {taken} is taken by another program" in ran.stderr


def test_others_reach_it_only_by_tls(tmp_path: Path) -> None:
    cert = tmp_path / "cert.pem"
    cert.write_text("x")

    def settings(**options: Any) -> ConsoleSettings:
        return ConsoleSettings(directory=str(tmp_path), machine="m", **options)

    check(settings())
    check(settings(host="::1"))
    check(settings(host="box.example", cert=str(cert), key=str(cert)))
    refused: dict[str, dict[str, str]] = {
        "can be reached by others": {"host": "192.0.2.1"},
        "can be reached by others: give --cert": {"host": "box.example"},
        "not all of them": {"host": "0.0.0.0", "cert": str(cert), "key": str(cert)},
        "both": {"cert": str(cert)},
        "no such file": {"cert": os.devnull + "x", "key": str(cert)},
    }
    for words, options in refused.items():
        with pytest.raises(ConsoleError, match=words):
            check(settings(**options))


def test_coverage_is_counted_beside_the_pages_as_observed_counts(browser: Browser) -> None:
    browser.ask("/guards")
    wait_until(lambda: 'data-state="done"' in browser.ask("/guards/coverage").body)
    body = browser.ask("/guards/coverage").body
    assert re.findall(r'data-agent="([^"]*)"><span class="state (\w+)">([^<]*)<', body) == [
        (agent, kind, words)
        for _guard in ("no force push", "no recursive delete")
        for agent, kind, words in (
            ("Claude Code", "good", "✓ 2 seen"),
            ("Codex", "bad", "✗ 1 expected, never seen"),
        )
    ]
    assert "2 calls were not guarded" in body
