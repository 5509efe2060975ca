"""Answer HTTP hooks in a test with the responses that the test added. Nothing is sent anywhere."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from hookline.handlers.http.urls import UrlParts, parse_url
from hookline.model.raw import Failed, RawResult, Replied


class HttpRequest(Struct, frozen=True):
    """One request that a hook made.

    ::

        [request] = hooks.http.requests
        assert request.json["tool_name"] == "Bash"
    """

    url: str
    #: Those that the hook sets, with lower-case names.
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The posted payload."""
        return msgspec.json.decode(self.body)


class _Response(Struct, eq=False):
    url: str | re.Pattern[str] | None
    match_json: Any
    reply: Replied
    reusable: bool
    optional: bool
    used: int = 0

    def fits(self, request: HttpRequest) -> bool:
        if self.used and not self.reusable:
            return False
        if isinstance(self.url, re.Pattern):
            if self.url.search(request.url) is None:
                return False
        elif self.url is not None and _written(parse_url(self.url)) != request.url:
            return False
        return isinstance(self.match_json, UnsetType) or request.json == self.match_json

    def __str__(self) -> str:
        url = self.url.pattern if isinstance(self.url, re.Pattern) else self.url
        return f"{url or 'any URL'} ({self.reply.status})"


class HttpResponses:
    """Answers to the HTTP hooks of a test, in the order in which responses were added.

    ::

        hooks.http.add_response(json={"decision": "block", "reason": "closed"}, url="https://example.com/guard")
        assert hooks.tool("Bash", command="ls").denied == "closed"

    Each response answers one request. A response that was not used fails the test, and so does a request without one.
    """

    def __init__(self) -> None:
        self.requests: list[HttpRequest] = []
        self._responses: list[_Response] = []
        #: URLs without their query, which may hold a secret.
        self._unexpected: list[str] = []

    def add_response(
        self,
        *,
        url: str | re.Pattern[str] | None = None,
        json: Any = UNSET,
        text: str = "",
        status_code: int = 200,
        match_json: Any = UNSET,
        is_reusable: bool = False,
        is_optional: bool = False,
    ) -> None:
        """Answer the next request, or with `url` the next one to this URL or to one that matches the pattern.

        `match_json` is the payload that must have been posted, all of it. A reusable response answers any number of
        requests, an optional one need not be used.

        ::

            hooks.http.add_response(url=re.compile("/audit$"), status_code=503, is_reusable=True)
        """
        if not 200 <= status_code < 300 and status_code < 400:
            raise ValueError(
                f"status {status_code} is not an answer of a hook; to see it fail: hooks.fails(name, 'transport')"
            )
        body = text.encode() if isinstance(json, UnsetType) else msgspec.json.encode(json)
        reply = Replied(body, status_code)
        self._responses.append(_Response(url, match_json, reply, is_reusable, is_optional))


class AnsweringPoster(HttpResponses):
    """Responses, as the handler of HTTP hooks sees them: they replace the network."""

    async def post(
        self, target: UrlParts, headers: Sequence[tuple[bytes, bytes]], document: bytes, seconds: float
    ) -> RawResult:
        del seconds
        names = {name.decode().lower(): value.decode("latin-1") for name, value in headers}
        request = HttpRequest(_written(target), names, document)
        self.requests.append(request)
        found = next((each for each in self._responses if each.fits(request)), None)
        if found is None:
            self._unexpected.append(target.shown)
            return Failed(
                "transport", f"{target.shown}: no response is set for it; call hooks.http.add_response()"
            )
        found.used += 1
        return found.reply

    async def close(self) -> None:
        pass

    def problems(self) -> list[str]:
        """Return expected requests that did not happen, and unexpected ones."""
        unused = [
            f"no http hook was answered with the response for {each}"
            for each in self._responses
            if not each.used and not each.optional
        ]
        asked = [f"an http hook posted to {each}, and no response is set for it" for each in self._unexpected]
        return [*unused, *asked]


def _written(target: UrlParts) -> str:
    return f"{target.scheme}://{target.authority}{target.resource}"
