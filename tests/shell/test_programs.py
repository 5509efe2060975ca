"""Every row of the table of programs: what it says is seen by a guard, and is what the program really does."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from bench.shell_sandbox import Sandbox, why_not
from hookline.shell import ShellReader, environment
from hookline.shell.environment import is_harmless, kind_of_variable, look_at_variable, program_in
from hookline.shell.files import files_of
from hookline.shell.found import Foreign, Inner, Line
from hookline.shell.options import readings
from hookline.shell.placeholders import HOLE
from hookline.shell.programs import ProgramRow, row_of, spec_at_once, table, words_at_once
from hookline.shell.programs.row import WAYS, Word, names_of, word_of
from hookline.shell.runs import does, program_of
from tests.every import every
from tests.matching.rules_on_calls import fires
from tools.house_programs import broken_rows, listed_programs

#: Lines that start `rm` by way of a row. `= NAME` begins those of a row. `? ` before a line: it does so only with what
#: the sandbox of the tests lacks: rights, a terminal, a network or a service. ␊ and the like are control characters.
_LINES = [
    re.sub("[\u2400-\u241f]", lambda found: chr(ord(found[0]) - 0x2400), line)
    for line in Path(__file__).with_name("program_lines.txt").read_text().split("\n")
    if line and not line.startswith("= ")
]
TRIED = [line for line in _LINES if not line.startswith("? ")]
EXAMPLES = [line.removeprefix("? ") for line in _LINES]
#: One of so many is run in a sandbox by `make test`, all of them by `make soak`.
EVERY = 12


def rows() -> list[ProgramRow]:
    return list({id(row): row for name in table() if (row := row_of(name)) is not None}.values())


@every("line", EXAMPLES)
def test_a_guard_fires_on_the_examples_of_a_row(line: str) -> None:
    assert fires("Bash(rm *)", command=line)


def test_every_program_can_be_read_with_nothing_or_with_odd_words() -> None:
    reader = ShellReader()
    for row in rows():
        name = names_of(row.names)[0]
        for rest in ("", "-", "--", "-c", "-S", "-e", "''", "--help", "-x --", "-c ''", "+", "$X"):
            assert ("true",) in {command.words for command in reader.read(f"true; {name} {rest}").commands}


# The law


def test_each_fact_about_a_program_has_one_place() -> None:
    assert broken_rows() == []


@every(
    ("text", "problem"),
    [
        ("a\n    -x\n\nb, a\n    -y", "a has 2 rows"),
        ("a\n    -x -y -x:", "a: -x is declared 2 times"),
        ("a = runs\n    -x:nonsense", "a: unknown kind nonsense"),
        ("a = runs\n    first=nonsense", "a: unknown kind nonsense"),
        ("a\n    -x:<\n\nb\n    like=a\n    -x:<", "b: -x is as in the row it is like"),
        ("a b\n    -x", "a b has a row, its program has none"),
        ("A\n    -x", "A is not in lower case"),
        ("a = runs\n    stays=-i\n    -x", "a: -i is none of its options"),
        ("a = runs\n    chdir=-C\n    -x", "a: -C is none of its options"),
        ("a\n    does=nonsense", "a: unknown way nonsense"),
    ],
)
def test_what_breaks_the_law_is_found(text: str, problem: str) -> None:
    assert broken_rows({"plain": text}) == [problem]


def test_programs_are_not_listed_outside_the_rows(tmp_path: Path) -> None:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook/new.py").write_text(
        'A = frozenset(("cp", "mv", "ln"))\nB = {"-a": 1, "--all": 2, "-b": 3}\n'
        'C = ("cp", "mv", "ln")\ndef f():\n    d = ("cp", "mv", "ln")\n'
    )

    assert sorted(listed_programs(tmp_path, {"hook/new.py:C", "hook/new.py:E"})) == [
        "hook/new.py:1 A lists cp, mv, ln …",
        "hook/new.py:2 B lists -a, --all, -b …",
        "hook/new.py:5 f lists cp, mv, ln …",
        "hook/new.py:E lists nothing",
    ]


def test_what_programs_do_is_known_by_their_names() -> None:
    ways = {way for name in table() if (row := table().get(name)) is not None for way in row.does}
    assert ways == set(WAYS)
    # A number may be a part of the name, or the version.
    assert does("/usr/bin/base64", "decodes")
    assert does("python3.12", "edits")
    assert not does("python3.12", "enters")


def test_every_row_says_what_its_plain_job_is() -> None:
    for row in rows():
        assert re.fullmatch(r"[a-z][^.]{3,110}", row.job), row.names


# How rows are written


@every(
    ("text", "word"),
    [
        ("-q", Word("-q", "", "", "")),
        ("-m:", Word("-m", ":", "", "")),
        ("--color::", Word("--color", "::", "", "")),
        ("-o:>", Word("-o", ":", ">", "")),
        ("-o:written", Word("-o", ":", ">", "written")),
        ("-o:+written", Word("-o", ":", "+", "written")),
        ("-d:-file", Word("-d", ":", "", "file")),
        ("-c:git-setting", Word("-c", ":", "", "git setting")),
        ("-O::usual-line", Word("-O", "::", "", "usual line")),
        ("-delete=beyond", Word("-delete", "", "", "beyond")),
        ("--delete&~>=beyond", Word("--delete", "", "&~>", "beyond")),
        ("-i::~>", Word("-i", "::", "~>", "")),
        ("-#", Word("-#", "", "", "")),
        ("-?", Word("-?", "", "", "")),
        ('-":', Word('-"', ":", "", "")),
        ("-R?", Word("-R", "", "?", "")),
        ("--init.author.name:", Word("--init.author.name", ":", "", "")),
    ],
)
def test_an_option_is_read_with_what_its_value_is(text: str, word: Word) -> None:
    assert word_of(text) == word


def test_names_of_a_row_may_have_alternatives() -> None:
    assert names_of("docker|podman run|exec, finch run") == [
        "docker run",
        "docker exec",
        "podman run",
        "podman exec",
        "finch run",
    ]


def test_a_row_has_the_options_of_the_row_it_is_like_and_its_own_win() -> None:
    ssh, autossh = table().get("ssh"), table().get("autossh")
    assert ssh is not None
    assert autossh is not None
    assert (ssh.words["-M"].takes, autossh.words["-M"].takes) == ("", ":")
    assert autossh.words["-o"] == ssh.words["-o"]


def test_a_program_is_read_at_once_with_the_options_of_its_sub_commands() -> None:
    """Of git strictly before them: `git -C` is a directory, `git branch -C` copies."""
    assert words_at_once("kubectl")["--grace-period"].takes == ":"
    assert "--force" not in words_at_once("git")
    assert spec_at_once("kubectl").style == "gnu"
    assert spec_at_once("git").style == "posix"


def test_nothing_is_known_of_an_option_that_has_a_value_for_some_sub_commands_only() -> None:
    assert {
        row.words["-d"].takes for name in ("gh gist *", "gh release *") if (row := table().get(name))
    } == {
        "",
        ":",
    }
    assert "-d" not in words_at_once("gh")


# Unknown programs and options


@every(
    ("words", "operands"),
    [
        ("get pods", ["get pods"]),
        ("--zz 5 get", ["5 get", "get"]),
        ("--zz=5 get", ["get"]),
        ("-n x get", ["get"]),
        ("--zz 5 --yy 6 get", ["5 6 get", "6 get", "5 get", "get"]),
        ("get --zz 5", ["get 5", "get"]),
        ("-- --zz 5", ["--zz 5"]),
    ],
)
def test_an_operand_may_be_the_value_of_an_unknown_option(words: str, operands: list[str]) -> None:
    read = readings(tuple(words.split()), spec_at_once("kubectl"))
    assert [" ".join(options.operands) for options in read] == operands


@every(
    "line",
    [
        "kubectl --zz 5 exec pod -- rm x",
        "docker --zz 5 exec web rm x",
        "git --zz 5 bisect run rm x",
        "autossh -M 0 host 'rm x'",
        "sudo -h host rm x",
        "sftp -B 9 -oProxyCommand='rm y' h",
    ],
)
def test_a_rule_sees_what_runs_behind_options(line: str) -> None:
    assert fires("Bash(rm *)", command=line)


@every(
    ("line", "written"),
    [
        ("git --zz 5 worktree add ../x", "../x"),
        ("mktemp --zz 5 ../x.XXXX", "../x.XXXX"),
        ("cargo --zz 5 new ../other", "../other"),
        ("git status --output ../x", "../x"),
    ],
)
def test_a_file_is_seen_behind_options(line: str, written: str) -> None:
    assert written in files_of(tuple(line.split())).writes


@every(
    ("line", "read", "written"),
    [
        ("nano -e notes.md", "notes.md", "notes.md"),
        ("hx -c conf.toml notes.md", "conf.toml notes.md", "notes.md"),
        ("sftp -b batch.txt -s sub host", "batch.txt", ""),
        ("mutt -i text.md a@b.c", "text.md", ""),
        ("mail -i a@b.c", "", ""),
        ("gcc -shared -O2 -oout a.c", "a.c", "out"),
    ],
)
def test_each_program_has_its_own_options(line: str, read: str, written: str) -> None:
    found = files_of(tuple(line.split()))
    assert (" ".join(found.reads), " ".join(found.writes)) == (read, written)


@cache
def is_installed(line: str) -> bool:
    """Return True if the programs of an example that the table knows are installed here."""
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
    lines = [line for line in TRIED if is_installed(line)][::EVERY]
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
    assert is_harmless("CI")
    assert not is_harmless("PATH")
    table = environment._variables()  # pyright: ignore[reportPrivateUsage] its table
    harmless = [name for name in table.exact if is_harmless(name)]
    assert len(harmless) > 100
    assert not [name for name in harmless if kind_of_variable(name) is not None]
    assert program_in("PYTHON") == "python"


def test_shells_know_their_own_commands_by_the_rows() -> None:
    only = {name for name in table() if (row := table().get(name)) is not None and row.builtin == "only"}
    found = subprocess.run(["bash", "-c", "compgen -b"], capture_output=True, text=True, check=True)
    programs = {"[", "echo", "false", "kill", "printf", "pwd", "test", "true"}
    assert set(found.stdout.split()) - programs <= only
