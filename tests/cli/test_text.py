"""Tables and paragraphs that fit the terminal."""

import pytest

from hookline.cli.text import columns, headed_table, paragraph, pieces, table, tables, terminal_width, wrapped


def test_a_table_breaks_no_words():
    rows = [["name", "a long sentence that has to wrap somewhere"], ["unbreakable", "x"]]
    assert table(rows, 24).split("\n") == [
        "name         a long",
        "             sentence",
        "             that has to",
        "             wrap",
        "             somewhere",
        "unbreakable  x",
    ]
    # Too narrow even for that: the cells of a row are below each other.
    assert table(rows, 19).split("\n") == [
        "name",
        "  a long sentence",
        "  that has to wrap",
        "  somewhere",
        "unbreakable",
        "  x",
    ]
    assert table([["name", "unbreakable-by-nature"]], 12) == "name\n  unbreakable-by-nature"


def test_a_table_with_a_head_names_its_values_where_it_does_not_fit():
    rows = [
        ["NAME", "RUNS", "LAST", "WHERE", ""],
        ["force-push", "4", "-", "~/.config/hooks.toml:5", "known"],
    ]
    wide = headed_table(rows, 80).split("\n")
    assert [line.split()[0] for line in wide] == ["NAME", "force-push"]
    assert headed_table(rows, 36).split("\n") == [
        "force-push",
        "  runs: 4, where:",
        "  ~/.config/hooks.toml:5, known",
    ]


def test_what_is_shown_to_be_trusted_breaks_after_blanks_and_loses_none():
    text = "jq -r .tool_input.command  >> /var/log/commands-of-the-agent"
    lines = list(pieces(text, 24))
    assert lines == ["jq -r ", ".tool_input.command  >> ", "/var/log/commands-of-the", "-agent"]


def test_wide_characters_count_twice():
    assert columns("日本") == 4
    assert columns("é") == 1
    assert wrapped("日本語 日本語", 7) == ["日本語", "日本語"]
    assert all(columns(line) <= 5 for line in wrapped("日本語日本語", 5))


def test_nothing_wraps_to_one_empty_line():
    assert wrapped("", 10) == [""]
    assert paragraph("one two", 5, "  ") == "  one\n  two"


def test_escapes_never_reach_a_table():
    evil = "\x1b[31mred\x1b[0m\nforged"
    for width in (40, 5):
        assert "\x1b" not in table([[evil, evil]], width)
        assert "\x1b" not in headed_table([["NAME", "CALL"], [evil, evil]], width)


@pytest.mark.parametrize(("said", "meant"), [("10", 40), ("90", 90), ("9999", 160)])
def test_the_width_has_bounds(said: str, meant: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", said)
    assert terminal_width() == meant


def test_columns_of_several_tables_are_equally_wide():
    first, second = tables([[["a", "b"]], [["longer", "c"], ["x", "y"]]], 40)
    assert (first, second) == ("a       b", "longer  c\nx       y")
