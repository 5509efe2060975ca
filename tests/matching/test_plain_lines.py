"""A plain line is read without the parser, and exactly as the parser reads it."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from hookline.matching.shell.plain import LETTERS, PROGRAMS, read_plain_line
from hookline.matching.shell.programs import Program, has_rows_below, row_of
from hookline.matching.shell.runs import program_of
from hookline.matching.shell.walk.lines import read_line
from tests.every import every

#: What might be taken for something else: words of the shell, options that take values, assignments, paths.
_WORDS = (
    "if", "then", "do", "done", "case", "esac", "in", "function", "select", "time", "coproc", "a=b", "FOO=1", "=rm",
    "@", "%1", "%s", "/", ".", "..", "./x", "../..", "x.sh", "/etc/passwd", ".env", "-c", "-e", "-f", "-n", "-rf",
    "-la", "--exec=sh", "--help", "--all", "sh", "rm", "eval", "http://a.b/c", "user@host:/x", "-", "--", "1", "-1",
)  # fmt: skip
_word = st.sampled_from(_WORDS) | st.text(sorted(LETTERS - {" "}), min_size=1, max_size=8)
_blanks = st.sampled_from((" ", "  "))


@given(st.sampled_from(sorted(PROGRAMS)), st.lists(st.tuples(_blanks, _word), max_size=6), _blanks)
def test_a_plain_line_is_read_as_the_parser_reads_it(
    program: str, rest: list[tuple[str, str]], before: str
) -> None:
    line = before + program + "".join(blank + word for blank, word in rest)
    plain = read_plain_line(line)
    if plain is None:
        assert {word for _, word in rest} & {"-", "--"}
    else:
        assert plain == read_line(line)


@every("program", sorted(PROGRAMS))
def test_no_plain_program_runs_another(program: str) -> None:
    row = row_of(program)
    # A row that has no more than a name and a job runs nothing, either.
    assert row is None or asdict(row) == asdict(Program(row.names, row.job))
    assert program_of(program) == program
    assert not has_rows_below(program)


@every(
    "line",
    (
        "", " ", "git push --force", "rm -rf x", "ls $HOME", "ls ~", "ls *.py", "ls; rm x", "ls\nrm x", "ls\trm",
        "A=b ls", "/bin/ls", "cat <x", "echo a >b", "echo 'a'", "ls & rm x", "echo {a,b}", "echo a+=b", "echo \xa0x",
        "ls \0", "ls -- x", "cat -", f"ls {'a' * 1000}", "LS", "echo !!", "echo `id`", "echo #x", "ls | sh", "ls é",
    ),
)  # fmt: skip
def test_what_is_not_certain_is_left_to_the_parser(line: str) -> None:
    assert read_plain_line(line) is None
