"""Text on its way to the terminal: cut into blocks, laid out, and clean."""

import re

import pytest
from rich.console import RenderableType
from rich.text import Text

from hookline.agent.tui.status import StatusFacts, status_line
from hookline.agent.tui.text.paint import Painter, exact, marked, words
from hookline.agent.tui.text.stream import Stream, as_markdown
from hookline.agent.tui.text.welcome import keys_card, welcome

_PLAIN = Painter({"NO_COLOR": "1"})
_COLOURED = Painter({})


def _without_styles(shown: RenderableType) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", row).strip() for row in _PLAIN.lines(shown, 110)]


def _blocks(text: str, size: int = 3) -> list[str]:
    """Return finished blocks, in the order they arrive in small pieces; the rest is last."""
    stream = Stream()
    found: list[str] = []
    for at in range(0, len(text), size):
        stream.add(text[at : at + size])
        while (block := stream.take()) is not None:
            found.append(block)
    return [*found, stream.end()]


def test_a_block_is_finished_at_a_blank_line_outside_of_a_fence() -> None:
    text = "one\n\n```python\na = 1\n\nb = 2\n```\ntwo\nmore\n\n- x\n\n  y\n- z\n\nend"
    blocks = _blocks(text)
    assert [block.strip() for block in blocks] == [
        "one", "```python\na = 1\n\nb = 2\n```", "two\nmore", "- x\n\n  y\n- z", "end",
    ]  # fmt: skip
    assert "".join(blocks).replace("\n", "") == text.replace("\n", "")


@pytest.mark.parametrize("text", ["```\n" + "x = 1\n" * 500 + "```\n", "- item\n" * 500, "word\n" * 500])
def test_what_is_drawn_again_stays_short_however_long_a_block_is(text: str) -> None:
    stream = Stream()
    longest = 0
    shown = 0
    for at in range(0, len(text), 7):
        stream.add(text[at : at + 7])
        while (block := stream.take()) is not None:
            shown += sum(line.strip("- `\n") != "" for line in block.split("\n"))
        longest = max(longest, stream.rest.count("\n"))
    shown += sum(line.strip("- `\n") != "" for line in stream.end().split("\n"))
    assert longest < 40
    assert shown == 500


def test_markdown_cannot_spell_a_control_character() -> None:
    text = "&#27;[31m red &#x9b;5m &#7; [name](http://evil) &#x202e; `&#27;` \x1b]0;title\x07\n\n    \x1b[2Jcode\n"
    shown = _COLOURED.text(as_markdown(text), 80)
    without_own = shown.replace("\x1b[", "")
    assert "\x1b" not in without_own
    for each in ("\x1b[31m red", "\x9b", "\x07", "\u202e", "\x1b[2J", "title"):
        assert each not in shown
    assert "http://evil" in shown


def test_words_and_exact_texts_have_nothing_that_steers() -> None:
    assert words("a\x1b[31mb\x07").plain == "ab"
    assert exact("a\x1bb").plain == "a<U+001B>b"


def test_a_text_beside_a_mark_wraps_beside_it() -> None:
    lines = _PLAIN.lines(marked("✗ ", "", Text("one two three four five six")), 20)
    assert lines == ["✗ one two three four", "  five six"]


def test_the_status_line_drops_what_matters_least() -> None:
    facts = StatusFacts(
        model="m" * 12, mode="plan", directory="~/project", hooks=3, untrusted=1, queued=2, state="busy"
    )
    assert status_line(facts, 120).strip().endswith("F2 hooks")
    narrow = status_line(facts, 42)
    assert len(narrow) == 42
    assert "busy" in narrow
    assert "F2 hooks" not in narrow


@pytest.mark.parametrize(
    ("untrusted", "says"),
    [(1, "so it does not run; /trust shows it"), (2, "so they do not run; /trust shows them")],
)
def test_hooks_that_do_not_run_are_counted_right_below_the_hooks(untrusted: int, says: str) -> None:
    facts = StatusFacts(hooks=3, untrusted=untrusted)
    more = {"servers": "1 of 2 connected", "last": "yesterday"}
    rows = _without_styles(welcome(facts, "1", ["Stop"] * 3, more))
    at = next(number for number, row in enumerate(rows) if row.startswith("hooks"))
    assert rows[at + 1] == f"{untrusted} of them not trusted, {says} and asks"


def test_values_of_the_start_screen_wrap_beside_their_names() -> None:
    shown = welcome(
        StatusFacts(hooks=3, directory="~/" + "deep/" * 12), "1", ["Stop"] * 3, {"last": "word " * 20}
    )
    rows = [re.sub(r"\x1b\[[0-9;]*m", "", row) for row in _PLAIN.lines(shown, 50)]
    start = next(at for at, row in enumerate(rows) if row.startswith("  model"))
    end = next(at for at, row in enumerate(rows) if row.startswith("Enter sends"))
    assert end - start > 6
    assert all(row.startswith("  ") for row in rows[start:end]), rows
    assert all(
        row[:12].strip() in ("", "model", "mode", "directory", "hooks", "last") for row in rows[start:end]
    )


def test_help_names_shell_commands() -> None:
    assert any(row.startswith("!COMMAND ") for row in _without_styles(keys_card()))
