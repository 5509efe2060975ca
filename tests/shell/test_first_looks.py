"""What is searched for before an expression is tried must be in everything that the expression finds."""

from hypothesis import given
from hypothesis import strategies as st

from hookline.shell import HOLE
from hookline.shell.grammar import limits
from hookline.shell.options import Options, OptionSpec, Style, may_be_option, read_options
from hookline.shell.walk import empty_expansions, simple

_pieces = st.sampled_from(
    ("$", "x", "${", "}", "`", ")", "(", "'", '"', " ", "/", "=", HOLE, "\\", "null", "glob", "shopt", "ba", "sh",
     "-O", "OPTS", "BASH", "[", "<", "<<", "&", "|", "+", ";", "\n", "time", "{a,b}")
)  # fmt: skip
_texts = st.lists(_pieces, max_size=10).map("".join)
_words = st.lists(
    st.sampled_from(("-", "--", "-a", "--long", "+x", "", "x", "-xb", "a b", "--o=v")), max_size=5
)
_SPEC = "-a -b: --long: --o"
_STYLES: tuple[Style, ...] = ("gnu", "posix", "words", "shell", "glued")


@given(_texts)
def test_expansions_beside_text(line: str) -> None:
    found = empty_expansions.GLUED.search(line.replace("\\\n", "")) is not None
    assert empty_expansions.may_be_glued(line) == found


@given(_texts)
def test_options_of_bash_about_patterns(line: str) -> None:
    found = simple.SETS_OPTIONS.search(line.translate(simple.QUOTES)) is not None
    assert simple.may_drop_patterns(line) == found


@given(_texts)
def test_signs_of_bash(line: str) -> None:
    signs = any(sign in line for sign in limits.BASH_SIGNS)
    more = any(pattern.search(line) for _, pattern in limits.BASH_SYNTAX)
    assert limits.has_bash_syntax(line) == (signs or more)


@given(_words, st.sampled_from(_STYLES))
def test_arguments_without_options(words: list[str], style: Style) -> None:
    arguments = tuple(word for word in words if not may_be_option(word))
    assert read_options(arguments, OptionSpec(_SPEC, style)) == Options((), arguments, 0)
    # With an option behind them they are read one after another.
    read = read_options((*arguments, "--long"), OptionSpec(_SPEC, style))
    if arguments:
        assert (read.first, read.operands[: len(arguments)]) == (0, arguments)
