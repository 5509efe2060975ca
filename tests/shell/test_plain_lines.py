"""Check that lists of plain commands are parsed as the parser parses them."""

from hypothesis import given
from hypothesis import strategies as st

from hookline.shell.grammar.parser import Parser
from hookline.shell.grammar.plain_parser import plain_list
from tests.every import every

#: What might be taken for something else: words of the shell, options that take values, assignments, paths.
_WORDS = (
    "if", "then", "do", "done", "case", "esac", "in", "function", "select", "time", "coproc", "a=b", "FOO=1", "=rm",
    "@", "%1", "%s", "/", ".", "..", "./x", "../..", "x.sh", "/etc/passwd", ".env", "-c", "-e", "-f", "-n", "-rf",
    "-la", "--exec=sh", "--help", "--all", "sh", "rm", "eval", "http://a.b/c", "user@host:/x", "-", "--", "1", "-1",
)  # fmt: skip
_LETTERS = "ABCXYZabcxyz0189_./,:@%=-"
_word = st.sampled_from(_WORDS) | st.text(_LETTERS, min_size=1, max_size=8)


_PIECES = (
    *_WORDS, "git", "export", "alias", "local", "'a b'", "''", "'x;y'", "'$x'", "'`x`'", "'#'", "'a'b", "a'b'", "a#b",
    "#c", "~", "*.c", "?", "{a,b}", "[", "x[1]=2", "a+=b", "!", "!x", "^", "\u00e9", "'\u00e9'", "a\\ b", '"q"',
    "$x", "(", ")",
)  # fmt: skip
_BETWEEN = (
    " ",
    " ",
    " ",
    "  ",
    "\t",
    " && ",
    " || ",
    ";",
    " ; ",
    "|",
    " | ",
    "&&",
    "&",
    "|&",
    ";;",
    "\n",
    " >f ",
    "2>&1 ",
)


@given(
    st.lists(st.tuples(st.sampled_from(_PIECES) | _word, st.sampled_from(_BETWEEN)), min_size=1, max_size=8),
    st.booleans(),
)
def test_a_list_of_plain_commands_is_parsed_as_the_parser_does(
    pieces: list[tuple[str, str]], ends: bool
) -> None:
    line = "".join(piece + between for piece, between in pieces)
    line = line if ends else line.rstrip(" \t;&|")
    counted = [0]
    found = plain_list(line, counted)
    for bash in (True, False) if found is not None else ():
        steps = [0]
        assert Parser(line, bash, steps=steps).parse() == found
        assert steps == counted


@every(
    "line",
    (
        "ls",
        "cat a.py && echo ok; ls src | wc -l",
        "git commit -m 'fix a, b'",
        "grep -rn 'x' src || true",
        "a x=y",
    ),
)
def test_everyday_lines_need_no_parser(line: str) -> None:
    assert plain_list(line, [0]) is not None


@every(
    "line",
    ("", " ", "ls;", "ls &&", "ls &", "a | | b", "A=b ls", "if", "time ls", "'ls' x", "eval x",
     "ls > f", "ls $x", "a\nb", "x" * 1001),
)  # fmt: skip
def test_what_is_more_than_plain_commands_is_left_to_the_parser(line: str) -> None:
    assert plain_list(line, [0]) is None
