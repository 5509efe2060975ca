import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.handlers.http.urls import UrlError, UrlParts, parse_url, url_allowed


def test_a_url_is_shown_without_its_query_and_sent_with_it() -> None:
    target = parse_url("https://Hooks.Example.com:8443/a/b?key=secret#part")
    assert target == UrlParts("https", "hooks.example.com", 8443, "/a/b", "key=secret")
    assert target.shown == "https://hooks.example.com:8443/a/b"
    assert target.resource == "/a/b?key=secret"
    assert parse_url("https://x").resource == "/"


def test_the_default_port_is_left_out_and_brackets_are_kept() -> None:
    assert parse_url("https://[2606:4700::1]:443/").authority == "[2606:4700::1]"
    assert parse_url("http://[::1]:443/").authority == "[::1]:443"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_target_or_a_url_error(text: str) -> None:
    for prefix in ("", "http://", "https://[", "https://x:"):
        try:
            target = parse_url(prefix + text)
        except UrlError:
            continue
        assert target.shown.isprintable()
        assert "@" not in target.authority


@settings(deadline=None)
@given(st.text(alphabet="ab*/", max_size=8), st.text(alphabet="ab/", max_size=8))
def test_a_star_in_a_path_is_any_text(pattern: str, path: str) -> None:
    target = UrlParts("https", "x", 443, f"/{path}")
    expected = re.fullmatch(re.escape(f"/{pattern}").replace(r"\*", ".*"), f"/{path}") is not None
    assert url_allowed(target, (f"https://x/{pattern}",)) is expected


def test_a_long_pattern_against_a_long_path_is_quick() -> None:
    target = UrlParts("https", "x", 443, "/" + "a" * 8000)
    assert not url_allowed(target, ("https://x/" + "*a" * 2000 + "*b",))


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        ("*", True),
        ("https://*/*", True),
        ("https://*", True),
        ("http://*/*", False),
        ("x", False),
        ("", False),
    ],
)
def test_wide_patterns(pattern: str, allowed: bool) -> None:
    assert url_allowed(parse_url("https://a.b/c"), (pattern,)) is allowed
