"""Check every request first, in plain ASGI so that streams are never buffered.

A page of another site, or another server on this machine, can make the browser send requests here. So the
host, the origin and the cookie are all checked, and only an answer to a call that waits changes anything. A browser
names the page that sends a form: it must be ours, and the form must have a word that only our pages know.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qs

from hookline.team.console.login import Logins

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOGIN: Final = "/login"
STATIC: Final = "/static/"
#: The only requests that change something.
ANSWERS: Final = "/approvals/"
#: The key of a request for the word that its forms must have.
FORM_WORD: Final = "hookline.form_word"
#: Of one name in one request.
_MOST_COOKIES: Final = 10

HEADERS: Final = (
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none';"
            b" base-uri 'none'; form-action 'self'"
        ),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

#: The login leads on by a page and not by a redirect: a cookie that is `Strict` is not sent on a way that began
#: elsewhere, such as in the file that the browser was started with.
_WELCOME: Final = (
    b'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">'
    b'<title>Hookline console</title><a href="/">Continue</a>'
)
_SIGNED_OUT: Final = (
    b'<!doctype html><html lang="en"><meta charset="utf-8"><title>Hookline console</title>'
    b'<meta name="viewport" content="width=device-width, initial-scale=1">'
    b'<link rel="stylesheet" href="/static/console.css"><main class="alone"><h1>%b</h1>'
    b"<p>Run <code>hookline console</code> and open the link that it prints. Each link works once, and a"
    b" restart of the console ends all logins.</p></main></html>"
)


class SecurityMiddleware:
    """Middleware that rejects forbidden requests and adds security headers to all responses."""

    def __init__(self, app: App, logins: Logins, hosts: frozenset[str], *, secure: bool) -> None:
        """Take `hosts`, the values of the Host header that mean this console; `secure`: it is reached by TLS."""
        self._app = app
        self._logins = logins
        self._hosts = hosts
        self._secure = secure
        scheme = "https" if secure else "http"
        self._origins = frozenset(f"{scheme}://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        headers = _Headers(scope)
        problem = self._problem(scope, headers)
        if problem is not None:
            await _answer(guarded, *problem)
        elif scope["path"] == LOGIN:
            await self._log_in(scope, guarded)
        elif (session := self._session(headers)) or scope["path"].startswith(STATIC):
            scope[FORM_WORD] = self._logins.form_token(session) if session else ""
            await self._app(scope, receive, guarded)
        else:
            await _answer(guarded, 401, _SIGNED_OUT % b"Please sign in", "text/html; charset=utf-8")

    def _problem(self, scope: Scope, headers: "_Headers") -> tuple[int, bytes] | None:
        hosts = headers.all(b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, b"this console is not called by that name"
        if any(origin not in self._origins for origin in headers.all(b"origin")):
            return 403, b"requests of other pages are not answered"
        # A page of another port is `same-site`: ports are not sites.
        sites = headers.all(b"sec-fetch-site")
        if any(site not in ("same-origin", "none") for site in sites) and not _is_way_in(scope, headers):
            return 403, b"requests of other pages are not answered"
        if scope["method"] not in ("GET", "HEAD"):
            return _problem_of_form(scope, headers)
        return None

    def _session(self, headers: "_Headers") -> str:
        """Return the login of a request; empty if it has none."""
        return next(filter(self._logins.is_known, headers.cookies(self._logins.cookie)), "")

    async def _log_in(self, scope: Scope, send: Send) -> None:
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        session = self._logins.exchange(token) if scope["method"] == "GET" else None
        html = "text/html; charset=utf-8"
        if session is None:
            await _answer(send, 403, _SIGNED_OUT % b"This link does not work any more", html)
            return
        secure = "; Secure" if self._secure else ""
        cookie = f"{self._logins.cookie}={session}; Path=/; HttpOnly; SameSite=Strict{secure}"
        await _answer(send, 200, _WELCOME, html, (b"set-cookie", cookie.encode()))


def _problem_of_form(scope: Scope, headers: "_Headers") -> tuple[int, bytes] | None:
    if scope["method"] != "POST" or not scope["path"].startswith(ANSWERS):
        return 405, b"this console only shows"
    # A browser sends the origin with every form. Without one it is no form of ours.
    if len(headers.all(b"origin")) != 1 or any(
        site != "same-origin" for site in headers.all(b"sec-fetch-site")
    ):
        return 403, b"requests of other pages are not answered"
    return None


def _is_way_in(scope: Scope, headers: "_Headers") -> bool:
    """Return True for the login link that the browser was started with. Without a token it shows nothing."""
    navigates = headers.all(b"sec-fetch-mode") == ["navigate"] and headers.all(b"sec-fetch-dest") == [
        "document"
    ]
    return scope["path"] == LOGIN and navigates and b"token=" in scope["query_string"]


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._pairs: list[tuple[bytes, bytes]] = scope["headers"]

    def all(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for key, value in self._pairs if key == name]

    def cookies(self, name: str) -> list[str]:
        """Return every value of a cookie.

        All servers of this machine share cookies: others may be malformed, or have the same name, and
        must not hide ours.
        """
        pairs = [pair.strip().partition("=") for line in self.all(b"cookie") for pair in line.split(";")]
        return [value.strip('"') for key, _, value in pairs if key == name][:_MOST_COOKIES]


async def _answer(
    send: Send, status: int, body: bytes, kind: str = "text/plain; charset=utf-8", *more: tuple[bytes, bytes]
) -> None:
    headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body)), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
