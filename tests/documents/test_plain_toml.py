"""A plain TOML file is read without tomllib, and exactly as tomllib reads it, with the lines that a scan finds."""

import tomllib

from hypothesis import event, given, settings
from hypothesis import strategies as st

from hookline.documents.toml_text import Scan, read_plain_toml
from tests.every import every

_names = st.sampled_from(("a", "b", "hooks", "1", "-", "_x"))
_headers = st.lists(_names, min_size=1, max_size=3).map(".".join)
_texts = st.text(st.sampled_from("ab #,[]=.é"), max_size=5)
_quoted = st.one_of(_texts.map('"{}"'.format), _texts.map("'{}'".format))
_plain_values = st.one_of(
    st.sampled_from(("true", "false", "0", "60", "9" * 15)),
    _quoted,
    st.lists(_quoted, max_size=3).map(", ".join).map("[{}]".format),
)
_plain_lines = st.one_of(
    st.tuples(_names, _plain_values).map(" = ".join),
    _headers.map("[{}]".format),
    _headers.map("[[{}]]".format),
    st.sampled_from(("", "# a comment", "# é")),
)
_other_lines = st.sampled_from(
    (
        " ", "\t", "[a", "[[a]", "[ a ]", '["a"]', "a.b = 1", "[a] # b", "# \0", "\r", "a = 007", "a = -1", "a = 1_0",
        "a = 1.5", "a = ", "a = {}", "a = [ ]", 'a = ["b", 1]', 'a = ["b",]', 'a = ["b" , "c"]', 'a = "b" # c', "a=1",
        "a = inf", f"a = {'9' * 25}", 'a = """b"""', "a = '''b'''", "a = 2026-01-01", 'a = "\\n"', 'a = "b\t"',
        'a = "b',
    )
)  # fmt: skip


def _agrees(text: str) -> bool:
    """Whether it was read as plain; if so, as it must be."""
    plain = read_plain_toml(text)
    if plain is None:
        return False
    assert plain.value == tomllib.loads(text)
    assert plain.lines == Scan(text).lines
    return True


@settings(max_examples=500)
@given(st.lists(_plain_lines, max_size=8).map("\n".join))
def test_a_plain_file_is_read_as_tomllib_reads_it(text: str) -> None:
    event(str(_agrees(text)))


@given(st.lists(_plain_lines | _other_lines, max_size=8).map("\n".join))
def test_a_file_that_is_not_plain_all_through_is_not_read_otherwise(text: str) -> None:
    _agrees(text)


_FILE = """# What this project does not want.
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "force-push"
args = ["ask", "allow=git push -f fork *"]

[[hooks.PreToolUse.hooks]]
command = './check.sh "$1"'
timeout = 30
once = true

[[hooks.Stop]]
[[hooks.Stop.hooks]]
command = "./tests.sh"

[agent]
trusted = []
"""


def test_a_file_as_people_write_it_is_plain() -> None:
    assert _agrees(_FILE)


@every(
    "text",
    (
        "a = 1\na = 2", "[a]\n[a]", "[a]\nb = 1\n[a.b]", "a = []\n[[a]]", "[[a]]\n[a]", "[a.b]\n[a]", "a.b = 1",
        "a = {}", 'a = "\\n"', 'a = """b"""', "a = 007", "a = 1.0", "a = -1", 'a = "b" # c', "a=1", " a = 1",
        "a = 1\r\n", "a = ", 'a = ["b",\n"c"]', "a = 2026-01-01", '"a" = 1', "[ a ]", "[]", "[a", "a", "# \x01",
        'a = "\t"', "a = 'b'c'",
        'a = ["b, c"]', f"a = {'9' * 16}", "\n" * 1000,
    ),
)  # fmt: skip
def test_everything_else_is_left_to_tomllib(text: str) -> None:
    assert read_plain_toml(text) is None
