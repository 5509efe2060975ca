"""Every row of the table of programs: what it says is seen by a guard, and is what the program really does."""

import re
import shutil
from functools import cache

import pytest

from bench.shell_sandbox import Sandbox, why_not
from hookline.matching.shell import ShellReader
from hookline.matching.shell.environment import CONVENTION, HARMLESS, kind_of_variable, look_at_variable
from hookline.matching.shell.found import Foreign, Inner, Line
from hookline.matching.shell.holes import HOLE
from hookline.matching.shell.kinds import KINDS
from hookline.matching.shell.programs import Program, all_rows, row_of
from hookline.matching.shell.runs import program_of
from tests.every import every
from tests.matching.rules_on_calls import fires

EXAMPLES = [line for row in all_rows() for line in (*row.examples, *row.untried)]
#: One of so many is run in a sandbox by `make test`, all of them by `make soak`.
EVERY = 12


def names(row: Program) -> list[str]:
    return [name.strip() for name in row.names.split(",")]


@every("line", EXAMPLES)
def test_a_guard_fires_on_the_examples_of_a_row(line: str) -> None:
    assert fires("Bash(rm *)", command=line)


def test_every_program_can_be_read_with_nothing_or_with_odd_words() -> None:
    reader = ShellReader()
    for row in all_rows():
        name = names(row)[0]
        for rest in ("", "-", "--", "-c", "-S", "-e", "''", "--help", "-x --", "-c ''", "+", "$X"):
            assert ("true",) in {command.words for command in reader.read(f"true; {name} {rest}").commands}


def test_every_name_has_one_row_and_every_sub_command_its_program() -> None:
    every = [name for row in all_rows() for name in names(row)]
    assert sorted(every) == sorted(set(every))
    for name in every:
        assert " " not in name or row_of(name.rpartition(" ")[0]) is not None, name
        assert name == name.casefold()


def test_kinds_of_rows_exist() -> None:
    for row in all_rows():
        used = {*row.values, row.first, row.others, row.stdin, *row.plain.split(", ")} - {
            "",
            "exec",
            "script",
        }
        assert used <= set(KINDS), row.names


def test_every_row_says_what_its_plain_job_is() -> None:
    for row in all_rows():
        assert re.fullmatch(r"[a-z][^.]{4,90}", row.job), row.names


@cache
def is_installed(line: str) -> bool:
    """Whether the programs of an example that the table knows are here."""
    words = set(re.findall(r"(?<![\w./-])[\w.-]+", line))
    known = {word for word in words if row_of(program_of(word)) is not None}
    return all(word in _IN_EVERY_SHELL or shutil.which(word) is not None for word in known)


_IN_EVERY_SHELL = frozenset(
    (
        "eval", "source", "trap", "alias", "command", "builtin", "exec", "hash", "compgen", "mapfile", "let", "read",
        "test", "printf", "export", "l", "ls", "x", "a", "y",
    )
)  # fmt: skip


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_examples_start_the_program_in_a_real_shell() -> None:
    lines = [line for row in all_rows() for line in row.examples if is_installed(line)][::EVERY]
    with Sandbox(workers=2) as sandbox:
        unmoved = [line for line in lines if not sandbox.reaches(line, "rm", seconds=5)]
    assert lines
    assert not unmoved


@pytest.mark.parametrize(
    ("word", "program"),
    [
        ("/usr/bin/Python3.12", "python"),
        ("python3", "python"),
        ("gcc-12", "gcc"),
        ("linux64", "linux64"),
        ("/lib64/ld-linux-x86-64.so.2", "ld.so"),
        ("/lib/ld-musl-x86_64.so.1", "ld.so"),
        ("cmd.exe", "cmd"),
        ("7z", "7z"),
        ("x86_64", "x86_64"),
    ],
)
def test_versions_and_paths_are_no_part_of_a_programs_name(word: str, program: str) -> None:
    assert program_of(word) == program


def test_variables_that_are_code() -> None:
    assert list(look_at_variable("GIT_PAGER", "rm y")) == [Line("rm y")]
    assert list(look_at_variable("GIT_PAGER", "cat")) == []
    assert list(look_at_variable("BASH_FUNC_ls%%", "() { rm y; }")) == [Line("() { rm y; }")]
    assert list(look_at_variable("LESSOPEN", "|rm %s")) == [Line(f"rm {HOLE}")]
    assert list(look_at_variable("CC", "rm -f")) == [Inner(("rm", "-f"))]
    assert list(look_at_variable("GIT_CONFIG_PARAMETERS", "'alias.x=!rm y'")) == [
        Line("rm y"),
        Line('rm y "$@"'),
    ]
    assert Foreign("BEGIN { system(1) }") in look_at_variable("PERL5DB", "BEGIN { system(1) }")
    assert list(look_at_variable("FOO", "rm y")) == []


def test_harmless_variables_are_not_code() -> None:
    assert not [name for name in HARMLESS if kind_of_variable(name) is not None]
    assert CONVENTION["PYTHON"] == "python"
