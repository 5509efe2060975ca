import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.documents.document import Format, format_of, read_document
from tests.every import every

PIECES = st.sampled_from([*"[]{}\"a=:\n'#.,\\1", "- ", "*a", "&a"])


def refusal(text: str, kind: Format) -> tuple[str, str, int | None, str | None]:
    document = read_document(text, kind, "x")
    (diagnostic,) = document.diagnostics
    assert diagnostic.severity == "error"
    return diagnostic.code, diagnostic.message, diagnostic.where.line, diagnostic.fix


@every(
    ("kind", "text", "code", "line", "said"),
    [
        ("json", "", "syntax", 1, "empty"),
        ("json", '{"a": [1,\n 2,\n]}', "syntax", 2, "comma"),
        ("json", "{\n// guard\n}", "json-comment", 2, "no comments"),
        ("json", '{"a": 1 /* x */}', "json-comment", 1, "no comments"),
        ("json", "# c\n{}", "json-comment", 1, "no comments"),
        ("json", "{\n'a': 1}", "syntax", 2, "single quotes"),
        ("json", '{"a": NaN}', "syntax", None, "NaN"),
        ("json", '{"a": ' + "1" * 5000 + "}", "syntax", None, "digits"),
        ("json", '{"a":\n 1} x', "syntax", 2, "Extra data"),
        ("json", '{"a": "\n"}', "syntax", 1, "control character"),
        ("json", "[" * 100_000, "too-deep", None, "64"),
        ("json", "[" * 65 + "]" * 65, "too-deep", None, "64"),
        ("json", "[" + "1," * 200_001 + "1]", "too-big", None, "200,000"),
        ("json", "[" + "," * 1_000_001, "too-big", None, "200,000"),
        ("toml", "a = 1\na = 2\n", "duplicate-key", 2, "overwrite"),
        ("toml", "a = 1\nb = [1,\n", "syntax", 3, "it is not valid TOML: Invalid value"),
        ("toml", "a = " + "[" * 10_000, "too-deep", None, "64"),
        ("toml", "x = 1\n" + ".".join("a" * 100_000) + " = 1", "too-deep", 2, "64"),
        ("toml", "a = " + "[" * 64 + "]" * 64, "too-deep", None, "64"),
        ("toml", "a = " + "1" * 5000, "syntax", None, "digits"),
        ("toml", "a = [" + "1," * 400_001 + "]", "too-big", None, "200,000"),
        ("yaml", "a:\n\t- b", "syntax", 2, "token"),
        ("yaml", "a: &x [*x]", "syntax", 1, "*x"),
        ("yaml", "a: 1\nb: *x", "syntax", 2, "*x"),
        ("yaml", "a: 1\n---\nb: 2", "syntax", 2, "second document"),
        ("yaml", "a: !!python/object:os.system x", "syntax", 1, "tag"),
        ("yaml", "a: !!python/object/apply:os.system [x]", "syntax", 1, "tag"),
        ("yaml", "x: 1\n? [a]\n: b", "syntax", 2, "key"),
        ("yaml", "a: &k x\n*k : 3", "syntax", 2, "alias as a key"),
        ("yaml", "a: \x00", "syntax", None, "not YAML"),
        ("yaml", "a: [1,\n", "syntax", 2, "it is not valid YAML: did not find expected"),
        ("yaml", "[" * 100_000, "too-deep", 1, "64"),
        ("yaml", "- " * 70 + "x", "too-deep", 1, "64"),
        ("yaml", "a: &a [" + "x," * 1000 + "]\nb:\n" + "- *a\n" * 200, "too-big", 201, "200,000"),
    ],
)  # fmt: skip
def test_bad_text_is_one_diagnostic_with_its_line(
    kind: Format, text: str, code: str, line: int | None, said: str
):
    found_code, message, found_line, _fix = refusal(text, kind)
    assert (found_code, found_line) == (code, line)
    assert said in message


def test_a_few_aliases_cannot_mean_a_million_values():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join('*' + before for _ in range(9))}]\n"
        for before, name in zip("abcdefg", "bcdefgh", strict=True)
    )
    began = time.thread_time()
    assert refusal(bomb, "yaml")[0] == "too-big"
    assert time.thread_time() - began < 2


def test_aliases_cannot_hide_depth():
    steps = "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 70))
    assert refusal(f"a0: &a0 [x]\n{steps}", "yaml")[0] == "too-deep"


def test_a_text_beyond_the_limit_is_not_read():
    document = read_document('{"a": 1}', "json", "x", limit=7)
    assert document.value is None
    assert [diagnostic.code for diagnostic in document.diagnostics] == ["too-big"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", '{"a": {"k": 1,\n "k": 2}, "b": 1,\n"b": 2}'),
        ("yaml", "a:\n  {k: 1, \n   k: 2}\nb: 1\nb: 2\n"),
    ],
)
def test_every_duplicate_key_is_reported_and_the_last_one_is_read(kind: Format, text: str):
    document = read_document(text, kind, "x")
    assert document.value == {"a": {"k": 2}, "b": 2}
    expected = {"json": [("a", "k"), ("b",)], "yaml": [("a", "k"), ("b",)]}[kind]
    assert [duplicate.path for duplicate in document.duplicates] == expected
    lines = {"json": [2, 3], "yaml": [3, 5]}[kind]
    assert [diagnostic.where.line for diagnostic in document.diagnostics] == lines
    assert {diagnostic.code for diagnostic in document.diagnostics} == {"duplicate-key"}


def test_yaml_words_of_older_versions_are_text():
    words = "no, on, yes, y, 1:30, 2026-01-01, 012, 0o17, 0x1F, 1e3, .5, -3, ~, null, True, .inf, 1_000"
    text = f"mode: off\nlist: [{words}]"
    value = read_document(text, "yaml", "x").value
    assert value["mode"] == "off"
    expected = ["no", "on", "yes", "y", "1:30", "2026-01-01", 12, 15, 31, 1000.0, 0.5, -3, None, None, True]
    assert value["list"] == [*expected, float("inf"), "1_000"]


def test_quoted_and_tagged_yaml_scalars_are_text():
    text = "a: '1'\nb: \"true\"\nc: !!str 12\nd: ! 12\ne: |\n  1\nf: !!int 3\n? g\n: x\n"
    expected = {"a": "1", "b": "true", "c": "12", "d": "12", "e": "1\n", "f": 3, "g": "x"}
    assert read_document(text, "yaml", "x").value == expected


def test_an_empty_toml_or_yaml_text_holds_nothing():
    assert read_document("# nothing\n", "yaml", "x").value is None
    assert read_document("# nothing\n", "toml", "x").value == {}


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["json", "toml", "yaml"]))
def test_no_text_raises(text: str, kind: Format):
    document = read_document(text, kind, "x")
    assert document.value is None or not document.diagnostics or document.duplicates
    _ = document.where("a", 0).line


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["json", "toml", "yaml"]))
def test_no_near_syntax_raises(text: str, kind: Format):
    _ = read_document(text, kind, "x").where("a", 0).line


@pytest.mark.parametrize(
    ("file", "kind"),
    [("a.toml", "toml"), ("a.YML", "yaml"), ("a.yaml", "yaml"), ("x/a.json", "json"), ("a", None)],
)
def test_the_format_is_known_by_the_name(file: str, kind: str | None):
    assert format_of(file) == kind
