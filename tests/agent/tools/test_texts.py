"""The texts tools make: bounded output, and patches that say what changed."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookline.agent.tools.edit import structured_patch
from hookline.agent.tools.shell import KeptText, both


def kept(pieces: Sequence[bytes], most: int) -> str:
    text = KeptText(most)
    for piece in pieces:
        text.feed(piece)
    return text.text


@given(st.text(max_size=60), st.lists(st.integers(0, 60), max_size=5), st.integers(2, 40))
def test_however_output_comes_in_the_same_is_kept(text: str, cuts: list[int], most: int) -> None:
    content = text.encode()
    places = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    pieces = [content[a:b] for a, b in pairwise(places)]
    half = most // 2
    missing = len(text) - 2 * half
    expected = (
        text if missing <= 0 else f"{text[:half]}\n[... {missing} characters left out ...]\n{text[-half:]}"
    )
    assert kept(pieces, most) == expected.rstrip()


def test_what_was_taken_is_not_given_again() -> None:
    text = KeptText()
    text.feed(b"one\n")
    text.feed("é".encode()[:1])
    assert text.take() == "one"
    text.feed("é".encode()[1:])
    assert text.take() == "é"
    assert text.take() == ""


def test_much_output_costs_little_memory() -> None:
    text = KeptText(1000)
    for _ in range(2000):
        text.feed(b"x" * 5000)
    assert len(text.text) < 1100
    assert "9999000 characters left out" in text.text


def test_both_outputs_share_the_room_there_is() -> None:
    assert both("out", "err") == "out\nerr"
    assert both("", "err") == "err"
    assert both("", "") == ""
    long = both("o" * 1000, "e" * 10, 100)
    assert long.count("o" * 45) == 2
    assert long.endswith("\n" + "e" * 10)
    assert len(both("o" * 1000, "e" * 1000, 100)) < 250


def applied(old: str, hunks: Sequence[dict[str, Any]]) -> list[str]:
    lines = _lines(old)
    for hunk in reversed(hunks):
        start, count = hunk["oldStart"] - 1, hunk["oldLines"]
        before = [line[1:] for line in hunk["lines"] if line[0] in " -"]
        after = [line[1:] for line in hunk["lines"] if line[0] in " +"]
        assert lines[start : start + count] == before
        assert len(after) == hunk["newLines"]
        lines[start : start + count] = after
    return lines


def _lines(text: str) -> list[str]:
    return text.split("\n")[:-1] if text.endswith("\n") or not text else text.split("\n")


TEXTS = st.lists(st.sampled_from("abc"), max_size=40).map(
    lambda lines: "".join(f"{each}\n" for each in lines)
)


@given(TEXTS, TEXTS)
def test_a_patch_makes_the_new_out_of_the_old(old: str, new: str) -> None:
    hunks = structured_patch(old, new)
    assert applied(old, hunks) == _lines(new)
    assert bool(hunks) == (old != new)
    for hunk in hunks:
        start, count = hunk["newStart"] - 1, hunk["newLines"]
        after = [line[1:] for line in hunk["lines"] if line[0] in " +"]
        assert _lines(new)[start : start + count] == after


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    old = "".join(f"{n}\n" for n in range(1, 31))
    new = old.replace("\n5\n", "\nfive\n").replace("\n25\n", "\ntwenty-five\n")
    hunks = structured_patch(old, new)
    assert [(hunk["oldStart"], hunk["oldLines"], hunk["newStart"]) for hunk in hunks] == [
        (2, 7, 2),
        (22, 7, 22),
    ]
    assert hunks[0]["lines"] == [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]


def test_a_change_too_large_to_compare_is_one_hunk() -> None:
    old = "".join(f"old {n}\n" for n in range(5000))
    new = "".join(f"new {n}\n" for n in range(5000))
    hunks = structured_patch("same\n" + old, "same\n" + new)
    assert len(hunks) == 1
    assert (hunks[0]["oldStart"], hunks[0]["oldLines"], hunks[0]["newLines"]) == (1, 5001, 5001)
