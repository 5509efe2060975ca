"""Options are read as getopt reads them, whatever the program."""

from hookline.shell.options import Option, OptionSpec, read_options
from tests.every import every

BASH = OptionSpec("-c -e -u -l -o: -O: --rcfile: --norc", "posix")
SORT = OptionSpec("-u -n -o: -t: --output: --compress-program: --color:: -i::")
FIND = OptionSpec("-name: -exec: -print", "words")


def given(words: str, spec: OptionSpec) -> list[tuple[str, str | None]]:
    return [(one.name, one.value) for one in read_options(tuple(words.split()), spec).given]


@every(
    ("words", "expected"),
    [
        ("-uo f", [("-u", None), ("-o", "f")]),
        ("-uof", [("-u", None), ("-o", "f")]),
        ("f -o g", [("-o", "g")]),
        ("--output=g", [("--output", "g")]),
        ("--outp g", [("--output", "g")]),
        ("--comp=x", [("--compress-program", "x")]),
        ("--color", [("--color", None)]),
        ("-i .bak", [("-i", None)]),
        ("-i.bak", [("-i", ".bak")]),
        ("-- -o g", []),
        ("-o", [("-o", None)]),
    ],
)
def test_options_of_a_program_whose_options_may_follow_operands(
    words: str, expected: list[tuple[str, str | None]]
) -> None:
    assert given(words, SORT) == expected


def test_an_option_may_take_two_words_of_which_the_second_is_the_value() -> None:
    spec = OptionSpec("-n --rawfile::: --arg:::")
    read = read_options(("--rawfile", "name", "f", "--arg", "-n", "-n", ".", "g"), spec)
    assert read.given == (Option("--rawfile", "f", 0), Option("--arg", "-n", 3))
    assert read.operands == (".", "g")
    assert read_options(("--rawfile", "name"), spec).given == (Option("--rawfile", None, 0),)


def test_an_ambiguous_abbreviation_counts_as_each_of_its_options() -> None:
    assert given("--co=x", SORT) == [("--compress-program", "x"), ("--color", "x")]


def test_the_first_operand_ends_the_options_of_posix_programs() -> None:
    read = read_options(("-euo", "pipefail", "-c", "rm y", "-o", "z"), BASH)
    assert [one.name for one in read.given] == ["-e", "-u", "-o", "-c"]
    assert read.operands == ("rm y", "-o", "z")
    assert read.first == 3


def test_options_of_one_dash_and_a_word() -> None:
    read = read_options((".", "-name", "x", "-print"), FIND)
    assert read.given == (Option("-name", "x", 1), Option("-print", None, 3))
    assert read.operands == (".",)


def test_what_a_program_is_not_known_to_have_is_told() -> None:
    read = read_options(("-uZ", "--nope=3", "f"), SORT)
    assert read.unknown == ("-Z", "--nope=3")
    assert read.operands == ("f",)
