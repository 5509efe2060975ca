import json
import string
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.documents.document import Format, read_document
from hookline.model.diagnostics import Path
from tests.documents.writers import JsonPage, Page, TomlPage, items_of, pairs_of

TEXT = st.text(st.sampled_from(string.ascii_letters + " \"\\#[]{}=,:'\né"), max_size=8)
KEYS = st.text(st.sampled_from(string.ascii_letters + '0 ."#]é'), min_size=1, max_size=4)
SCALARS = st.one_of(st.integers(-(2**40), 2**40), st.booleans(), TEXT, st.sampled_from([0.5, -2.25, 1e30]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
quickly = settings(max_examples=80, deadline=None)


def paths(value: Any, path: Path = ()) -> list[Path]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items.extend(pairs_of(value))
    elif isinstance(value, list):
        items.extend(enumerate(items_of(value)))
    return [found for key, inner in items for found in ((*path, key), *paths(inner, (*path, key)))]


def assert_located(page: Page, value: Any, kind: Format) -> None:
    document = read_document(page.text, kind, f"x.{kind}")
    assert document.diagnostics == ()
    assert document.value == value
    found = {path: document.where(*path).line for path in paths(value)}
    assert found == {path: page.lines[path] for path in paths(value)}


@quickly
@given(DOCUMENTS, st.lists(st.sampled_from(["", " ", "\n", "\r\n  ", "\n\n\t"]), min_size=1, max_size=7))
def test_every_path_of_a_json_text_is_found_on_its_line(value: Any, blanks: list[str]):
    assert_located(JsonPage(value, blanks), value, "json")


@quickly
@given(DOCUMENTS, st.lists(st.sampled_from([" ", "\n", "\n\n  "]), min_size=1, max_size=7))
def test_every_path_of_a_flow_yaml_text_is_found_on_its_line(value: Any, blanks: list[str]):
    assert_located(JsonPage(value, blanks), value, "yaml")


@quickly
@given(DOCUMENTS, st.booleans())
def test_every_path_of_a_toml_text_is_found_on_its_line(value: dict[str, Any], inline: bool):
    page = TomlPage(value, inline)
    assert tomllib.loads(page.text) == value
    assert_located(page, value, "toml")


@quickly
@given(DOCUMENTS, st.sampled_from([None, False]))
def test_every_key_of_a_block_yaml_text_is_on_the_line_found(value: Any, flow: bool | None):
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True, width=10_000)
    document = read_document(text, "yaml", "x.yaml")
    assert document.value == value
    lines = text.split("\n")
    for path in paths(value):
        line = document.where(*path).line
        assert line is not None
        if isinstance(path[-1], str) and path[-1].isalpha() and path[-1].isascii():
            assert path[-1] in lines[line - 1]


def test_a_path_that_is_not_there_is_on_the_line_of_what_is_around_it():
    document = read_document('{\n "a": {\n  "b": 1}}', "json", "x.json")
    assert document.where("a", "c", 0).line == 2
    assert document.where("z").line == 1


def test_a_table_header_goes_into_the_newest_table_of_an_array():
    text = "[[a]]\nx = 1\n[[a]]\n[a.b]\ny = 2\n[[a.c]]\n[[a.c]]\nz = 3\n"
    document = read_document(text, "toml", "x.toml")
    assert document.where("a", 1, "b", "y").line == 5
    assert document.where("a", 1, "c", 1, "z").line == 8
    assert document.where("a", 0).line == 1


def test_text_that_looks_like_a_header_is_text():
    text = 'a = """\n[[b]]\nc = 1\n"""\n"quoted \\u0041".sub = \'x # y\'\nlast = 1\n'
    document = read_document(text, "toml", "x.toml")
    assert document.where("quoted A", "sub").line == 5
    assert document.where("last").line == 6


def test_values_below_an_alias_are_on_the_line_of_the_alias():
    document = read_document("a: &x\n  b: 1\nc: *x\n", "yaml", "x.yaml")
    assert document.value == {"a": {"b": 1}, "c": {"b": 1}}
    assert document.where("a", "b").line == 2
    assert document.where("c", "b").line == 3


@pytest.mark.parametrize("kind", ["json", "toml", "yaml"])
def test_no_line_is_looked_for_unless_asked(kind: Format, monkeypatch: pytest.MonkeyPatch):
    from hookline.documents import json_text, toml_text, yaml_text

    def refuse(*_: object) -> None:
        raise AssertionError("scanned")

    monkeypatch.setattr(json_text, "_Scan", refuse)
    monkeypatch.setattr(toml_text, "Scan", refuse)
    monkeypatch.setattr(yaml_text, "_scanned", refuse)
    text = {"json": '{"a": 1}', "toml": "a=1", "yaml": "a: 1"}[kind]
    where = read_document(text, kind, "x").where("a")
    with pytest.raises(AssertionError, match="scanned"):
        _ = where.line


@pytest.mark.parametrize("kind", ["json", "toml", "yaml"])
def test_a_byte_order_mark_and_crlf_change_nothing(kind: Format):
    text = {"json": '{\r\n"a": 1,\r\n"b": 2}', "toml": "a = 1\r\n\r\nb = 2", "yaml": "a: 1\r\n\r\nb: 2"}[kind]
    document = read_document("\ufeff" + text, kind, "x")
    assert document.value == {"a": 1, "b": 2}
    assert document.where("b").line == 3


def test_json_of_python_is_read_as_python_reads_it():
    value = {
        "a": [1, 2.5, None, True, "\u00e9\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")]
    }
    assert read_document(json.dumps(value), "json", "x").value == value
