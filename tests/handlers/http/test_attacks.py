"""No spelling, redirect, rebinding or header trick reaches what it must not."""

import asyncio
import socket

import pytest

from hookline.extending import Failed, Replied
from hookline.handlers.http.handler import HttpHandler, HttpRules, HttpSpec
from tests.every import every
from tests.handlers.calls import finished
from tests.handlers.http import attacks
from tests.handlers.http.attacks import ANY_HTTP, handling, posted, watched_connects
from tests.handlers.servers import serving


def test_no_spelling_of_a_forbidden_address_is_connected_to() -> None:
    assert len(attacks.FORBIDDEN_SPELLINGS) >= 40
    assert finished(attacks.try_addresses()) == []


def test_no_trick_with_a_url_is_connected_to() -> None:
    assert finished(attacks.try_urls()) == []


def test_a_name_that_changes_its_address_never_gets_past_the_check() -> None:
    assert finished(attacks.try_rebinding()) == []


def test_one_forbidden_address_forbids_the_name() -> None:
    assert finished(attacks.try_mixed_answers()) == []


def test_no_redirect_is_followed() -> None:
    assert finished(attacks.try_redirects()) == []


def test_no_header_trick_gets_through() -> None:
    assert len(attacks.TRICKS) >= 50
    assert finished(attacks.try_tricks()) == []


def test_no_header_of_ours_can_be_set() -> None:
    assert finished(attacks.try_header_names()) == []


@every("spelling", attacks.LOOPBACK_SPELLINGS)
def test_every_spelling_of_this_machine_is_allowed(spelling: str) -> None:
    async def main() -> None:
        async with serving(host="0.0.0.0") as server, handling() as handler:
            raw = await posted(handler, f"http://{spelling}:{server.port}/")
            assert isinstance(raw, Replied), raw
            assert server.connects == 1

    finished(main())


def test_this_machine_over_ipv6_is_allowed() -> None:
    async def main() -> None:
        async with serving(host="::1") as server, handling() as handler:
            raw = await posted(handler, f"{server.url}/")
            assert isinstance(raw, Replied), raw
            assert server.requests[0].header("Host") == f"[::1]:{server.port}"

    if not _has_ipv6():
        pytest.skip("this machine has no IPv6 loopback")
    finished(main())


def _has_ipv6() -> bool:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return False
        return True


def _own_address() -> str | None:
    """An address of this machine that is not loopback. No packet is sent for a UDP connect."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


def test_this_machines_private_address_is_refused_though_it_could_be_reached() -> None:
    own = _own_address()
    if own is None:
        pytest.skip("this machine has no network address")

    async def main() -> None:
        async with serving(host="0.0.0.0") as server, handling(ANY_HTTP) as handler:
            # The listener can be reached there, so a missing check would be seen.
            _, writer = await asyncio.open_connection(own, server.port)
            writer.close()
            await writer.wait_closed()
            await asyncio.sleep(0.01)
            before = server.connects
            raw = await posted(handler, f"http://{own}:{server.port}/")
            assert isinstance(raw, Failed)
            assert server.connects == before == 1

    finished(main())


def test_plain_http_is_only_for_this_machine_unless_allowed() -> None:
    async def elsewhere(host: str, port: int) -> list[str]:
        return ["93.184.215.14"]

    async def main() -> None:
        with watched_connects() as connects:
            async with handling(resolver=elsewhere) as handler:
                raw = await posted(handler, "http://example.test/")
        assert isinstance(raw, Failed)
        assert raw.cause == "not_started"
        assert "http:// is only for this one" in raw.detail
        assert connects == []

    finished(main())


ALLOWED = HttpRules(
    allowed_urls=(
        "http://127.0.0.1:*/hooks/*",
        "http://localhost:*",
        "https://*.example.com/*",
        "https://exact.test/a",
        "https://evil*",
        "https://port.test:8443",
        "https://[2606:4700::1]/*",
    )
)


@every(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:1234/hooks/x", True),
        ("http://127.0.0.1:1234/hooks/x?y=/other", True),
        ("http://127.0.0.1/hooks/", True),
        ("http://127.0.0.1:1234/other", False),
        ("http://127.0.0.1:1234/other?x=/hooks/", False),
        ("http://127.0.0.1:1234/hooks/../other", False),
        ("http://127.0.0.1:1234/hooks/%2e%2e/other", False),
        ("http://127.0.0.1.evil.test/hooks/x", False),
        ("http://localhost:5/anything", True),
        ("https://localhost:5/anything", False),
        ("https://a.example.com/x", True),
        ("https://A.EXAMPLE.com/x", True),
        ("https://a.b.example.com/x", True),
        ("https://example.com/x", False),
        ("https://evilexample.com/x", False),
        ("https://a.example.com.evil.test/x", False),
        ("https://a.example.com:444/x", False),
        ("https://evil.test/a.example.com/", False),
        ("https://evil.test/?https://a.example.com/x", False),
        ("https://a.example.com@evil.test/", False),
        ("https://exact.test/a", True),
        ("https://exact.test/a/b", False),
        ("https://exact.test/", False),
        ("https://evil.com/", False),
        ("https://port.test:8443/x", True),
        ("https://port.test/x", False),
        ("https://[2606:4700::1]/x", True),
    ],
)
def test_the_allow_list_reads_urls_in_parts(url: str, allowed: bool) -> None:
    assert (HttpHandler(ALLOWED).problem(HttpSpec(url)) is None) is allowed


def test_a_url_that_is_not_listed_is_never_connected_to() -> None:
    async def main() -> None:
        async with serving() as server, handling(HttpRules(allowed_urls=())) as handler:
            raw = await posted(handler, f"{server.url}/x?key=secret")
            assert raw == Failed(
                "not_started", f"{server.url}/x is refused: it is not among the allowed URLs"
            )
            assert server.connects == 0

    finished(main())


def test_a_variable_must_be_allowed_by_the_rules_and_by_the_hook() -> None:
    environ = {"BOTH": "b", "HOOK": "h", "RULES": "r"}
    rules = HttpRules(allowed_env=frozenset({"BOTH", "RULES"}))

    async def main() -> None:
        async with serving() as server, handling(rules, environ=environ) as handler:
            await posted(
                handler, server.url, headers={"X": "$BOTH.$HOOK.$RULES."}, allowed_env_vars=("BOTH", "HOOK")
            )
            assert server.requests[0].header("X") == "b..."

    finished(main())
