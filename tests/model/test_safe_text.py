import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.model.safe_text import bare_url, head_and_tail, one_line, printable, spelled_out
from tests.every import every
from tests.journal.hostile_texts import terminal_tricks, unsafe_characters

_TRICKY = st.sampled_from(
    list("\x1b[]P^_X\\\x07\x9b\x9d\x9c\x90;m0 \t\n\r\x08aé漢\u202e\u200b\u200d\ufe0f\ufeff\ud800")
)


@given(st.one_of(st.text(), st.text(alphabet=st.characters()), st.lists(_TRICKY, max_size=60).map("".join)))
def test_what_is_printable_is_safe_and_stays_as_it_is(text: str) -> None:
    shown = printable(text)
    assert unsafe_characters(shown) == []
    assert printable(shown) == shown


@every("text", terminal_tricks(220))
def test_no_terminal_trick_gets_through(text: str) -> None:
    assert unsafe_characters(printable(text)) == []
    assert unsafe_characters(one_line(text, 40)) == []
    assert "\n" not in one_line(text, 40)


@given(st.text(alphabet=st.characters(codec="ascii", min_codepoint=0x21, max_codepoint=0x7E)))
def test_plain_text_is_the_same_object(text: str) -> None:
    assert printable(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def f():\n\treturn  1\n",
        "name        size        date",
        "naïve café — “quoted” … 漢字 ❤️ 🎉 Привет שלום",
        "col" + " " * 60 + "col",
    ],
)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert printable(text) == text


@every(
    ("text", "shown"),
    [
        ("a\x1b[1;31mred\x1b[0m", "ared"),
        ("a\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]0;never ended\nb", "a0;never ended\nb"),
        ("a\x9b31mb", "ab"),
        ("a\x1bPq#0\x9cb", "ab"),
        ("\x1b\x1b[31m[31m", "[31m"),
        ("safe\rEVIL\r\n", "safeEVIL\n"),
        ("a\u202eb\u200bc", "a<U+202E>b<U+200B>c"),
        ("x\ud800y", "x<U+D800>y"),
        ("a\ufe0f\ufe0fb", "a\ufe0f<U+FE0F>b"),
        ("ok" + "\t" * 20 + "rm", "ok<20 blanks>rm"),
        ("ok" + " \x1b[0m" * 80 + "rm", "ok<80 blanks>rm"),
    ],
)
def test_what_is_shown_instead(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_one_line_is_as_wide_as_asked() -> None:
    assert one_line("a\n\tb   c", 10) == "a b c"
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
    assert one_line("漢漢漢", 6) == "漢漢漢"
    assert one_line("漢漢漢漢", 6) == "漢漢…"
    assert one_line("e\u0301" * 4, 4) == "e\u0301" * 4
    assert one_line("abc", 0) == ""
    assert one_line("漢", 0) == ""


def test_head_and_tail_say_how_much_is_missing() -> None:
    assert head_and_tail("abcdef", 3) == "abcdef"
    assert head_and_tail("abcdefgh", 2) == "ab\n[... 4 characters left out ...]\ngh"


@pytest.mark.unmeasured
@every("unit", ["\x1b]", "\x9d", "\x1bP\x1b", "\x9b1;", "\x1b[", "\u202e", " ", "\t ", "\x1b]0;x", "\ufe0f"])
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    small, large = (_seconds(unit * (size // len(unit))) for size in (8192, 8192 * 8))
    assert large < small * 8 * 6 + 0.5


def _seconds(text: str) -> float:
    start = time.thread_time()
    printable(text)
    return time.thread_time() - start


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\x07b\nc", "a<U+0007>b\nc"),
        ("e\u0301\u0301\u0301", "e\u0301\u0301<U+0301>"),
    ],
)
def test_a_text_that_somebody_is_to_judge_hides_nothing(text: str, shown: str) -> None:
    assert spelled_out(text) == shown


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("https://me:secret@host.example:8080/path?key=1#x", "https://host.example:8080/path"),
        ("//host/path", "host/path"),
        ("https://[::1]:80/x", "https://[::1]:80/x"),
        ("https://se:cr:et/x", "https://..."),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url: str, bare: str) -> None:
    assert bare_url(url) == bare


def test_the_middle_of_a_long_text_is_left_out() -> None:
    assert head_and_tail("short", 10) == "short"
    assert head_and_tail("a" * 50, 10) == f"{'a' * 10}\n[... 30 characters left out ...]\n{'a' * 10}"
