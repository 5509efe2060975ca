"""Send requests to a collector, and explain failures: which address, which variable named it, and what to do."""

import errno
import ssl
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests

_UNAUTHORIZED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)
_NOT_OTLP = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE)
_DEEPEST = 20


class CollectorSession(requests.Session):
    """HTTP session of one signal's exporter, which records each failure in plain words.

    `variable` is the one that names the address. Proxies and passwords of the environment are not used.
    `lasting`: the process is a server, which tries again where nothing listens; others would keep their caller waiting.
    """

    def __init__(self, variable: str, note: Callable[[str | None], None], *, lasting: bool = True) -> None:
        super().__init__()
        self.trust_env = False
        self._variable = variable
        self._note = note
        self._lasting = lasting

    def request(self, method: Any, url: Any, *arguments: Any, **options: Any) -> requests.Response:
        try:
            response = super().request(method, url, *arguments, **options)
        except requests.RequestException as problem:
            why = no_answer(str(url), self._variable, problem)
            self._note(why)
            if not self._lasting and _is_refused(problem):
                # Only errors of connections are tried again.
                raise requests.RequestException(why) from problem
            raise
        self._note(bad_answer(str(url), self._variable, response.status_code))
        return response


def no_answer(url: str, variable: str, problem: Exception) -> str:
    """Explain why a request had no answer."""
    shown = f"{address(url)} ({variable})"
    causes = list(_causes(problem))
    names = {type(each).__name__ for each in causes}
    for each in causes:
        if isinstance(each, ssl.SSLError):
            return (
                f"TLS with {shown} failed ({getattr(each, 'reason', None) or 'no reason is known'}): write http:// if "
                "the collector has no TLS; OTEL_EXPORTER_OTLP_CERTIFICATE names an authority of your own"
            )
    codes = {each.errno for each in causes if isinstance(each, OSError)}
    if _is_refused(problem):
        return f"nothing listens at {shown}: start a collector there, or unset {variable}"
    if names & {"NameResolutionError", "gaierror"}:
        return f"the name in {shown} cannot be resolved: correct it, or unset {variable}"
    if isinstance(problem, requests.Timeout):
        return f"{shown} does not answer in time: look whether the collector runs, or unset {variable}"
    if codes & {errno.EHOSTUNREACH, errno.ENETUNREACH}:
        return f"{shown} cannot be reached from here: check the network, or unset {variable}"
    return (
        f"{shown} ended the connection without an answer: look whether this is a collector for OTLP over http"
    )


def bad_answer(url: str, variable: str, status: int) -> str | None:
    """Explain an error status, or return None. The answer's text is not shown: a stranger may have written it."""
    if status < HTTPStatus.BAD_REQUEST:
        return None
    try:
        said = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        said = str(status)
    shown = f"{address(url)} ({variable})"
    if status in _UNAUTHORIZED:
        return f"{shown} refuses it ({said}): set the credentials in OTEL_EXPORTER_OTLP_HEADERS"
    if status in _NOT_OTLP:
        path = urlsplit(url).path
        return (
            f"{shown} accepts no OTLP at {path[:100]} ({said}): set {variable} to the address of a collector"
        )
    if status in _BUSY:
        return f"{shown} accepts nothing now ({said}): check the collector's log"
    return f"{shown} answers {said}: check the collector's log"


def address(url: str) -> str:
    """Return the address without user name and password."""
    try:
        found = urlsplit(url)
        host, port = found.hostname or "", found.port
    except ValueError:
        return "the collector"
    shown = f"[{host}]" if ":" in host else host
    return (
        f"{found.scheme}://{shown[:100]}{f':{port}' if port is not None else ''}" if host else "the collector"
    )


def _is_refused(problem: Exception) -> bool:
    return any(isinstance(each, OSError) and each.errno == errno.ECONNREFUSED for each in _causes(problem))


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield the problem and all its causes: each library wraps the one below."""
    seen: list[BaseException] = []
    waiting: list[object] = [problem]
    while waiting and len(seen) < _DEEPEST:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and all(one is not each for each in seen):
            seen.append(one)
            yield one
            waiting += [*one.args, getattr(one, "reason", None), one.__cause__, one.__context__]
