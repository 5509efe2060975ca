import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.every import every
from tests.matching.rules_on_calls import allows, fires
from tests.shell.corpus import LEAVES_RM_ALONE, REACHES_RM


@every("line", REACHES_RM)
def test_a_guard_on_rm_fires_on_every_way_to_reach_it(line: str):
    assert fires("Bash(rm *)", command=line)
    assert fires("Bash(rm:*)", command=line)


@every("line", LEAVES_RM_ALONE)
def test_a_guard_on_rm_leaves_everyday_lines_alone(line: str):
    assert not fires("Bash(rm *)", command=line)


@every("line", [line for line in REACHES_RM if not line.startswith("git")])
def test_permission_for_git_covers_no_way_to_reach_rm(line: str):
    assert not allows("Bash(git *)", command=line)


def test_the_corpora_are_large_enough():
    assert len(set(REACHES_RM)) >= 300
    assert len(set(LEAVES_RM_ALONE)) >= 100


QUOTED = (
    "rm", 'r"m"', "'rm'", "\\rm", "r''m", "$'rm'", "$'\\x72m'", '$"rm"', "rm${Z}", "r$(true)m", "{rm,y}", '"$R"',
    "`echo rm`", "${N:-rm}",
)  # fmt: skip
WRAPPED = (
    "env %", "env -i PATH=$PATH %", "nohup %", "timeout 5 %", "nice %", "command %", "exec %", "eval %",
    'eval "%"', 'sh -c "%"', "bash -c '%'", "echo x | xargs %", "find . -maxdepth 0 -exec % {} \\;", "A=1 %",
    ">f %", "% >f", "! %", "time %", "true && %", "true; %", "true\n%", "true | %", "% & wait", "(%)",
    "{ %; }", "echo $(%)", "echo `%`", 'echo "$(%)"', "if %; then :; fi", "for i in 1; do %; done",
    "case x in x) %;; esac", "f() { %; }; f", "cat <<E\n$(%)\nE", "cat <<E; %\nx\nE", "cat <(%)",
    "echo ${N:-$(%)}", "x=$(%)", "a=(1 $(%))", "[[ -n $(%) ]]", "echo $(( 0$(%) ))", "trap '%' EXIT",
    "coproc %", "env >f %", "env <<E %\nE\n", 'echo "%" | sh', "bash <<< '%'", "sh <<'E'\n%\nE",
    "# c\n%", 'echo "a\nb"; %', "echo a#b; %", "echo ${#N}; %", "a[$(%)0]=1", "let 'x[$(%)]=1'",
    "awk 'BEGIN{system(\"%\")}'", "! ! %", "cat <<-E\n\t`%`\n\tE",
)  # fmt: skip


def made_up_line(chance: random.Random) -> str:
    line = chance.choice(QUOTED) + " y"
    for _layer in range(chance.randint(1, 4)):
        line = chance.choice(WRAPPED).replace("%", line)
    return line


PIECES = (
    "rm y", "rm", "r", "m", '"', "'", "$(", ")", "`", "(", "{", "}", ";", "&&", "|", "&", "\n", " ", ">f", "<f",
    "2>&1", "<<E", "\nE\n", "<<<", "X=1", "X=rm", "$X", "[[", "]]", "if", "then", "fi", "for", "do", "done",
    "case", "esac", "x)", ";;", "!", "\\", "\\\n", "#", "env", "eval", "sh -c", "xargs", "echo", "f()", "-c",
    "time", "coproc", "$'", "=", "[", "]", "exec", "<(", "$((", "&>f", "=~", "in", "\t", "*",
)  # fmt: skip


def jumbled_line(chance: random.Random) -> str:
    pieces = [chance.choice(PIECES) for _piece in range(chance.randint(2, 9))]
    pieces[chance.randrange(len(pieces))] = chance.choice(("rm y", ";rm y", "\nrm y\n"))
    return chance.choice(("", " ")).join(pieces)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("seed", range(6))
def test_what_a_real_shell_runs_is_never_missed(seed: int, tmp_path: Path):
    """Only the lines that the guard would let pass are run, with a harmless program called rm."""
    programs, room, mark = tmp_path / "bin", tmp_path / "room", tmp_path / "mark"
    programs.mkdir()
    room.mkdir()
    (programs / "rm").write_text(f"#!/bin/sh\n: > {mark}\n")
    (programs / "rm").chmod(0o755)
    for name in (
        "env",
        "cat",
        "true",
        "nohup",
        "timeout",
        "nice",
        "xargs",
        "find",
        "echo",
        "sh",
        "bash",
        "awk",
    ):
        found = shutil.which(name)
        if found:
            os.symlink(found, programs / name)
    chance = random.Random(seed)
    lines = {make(chance) for make in (made_up_line, jumbled_line) for _line in range(250)}
    passed = sorted(line for line in lines if not fires("Bash(rm *)", command=line))
    for line in passed[:25]:
        subprocess.run(
            ["bash", "-c", line],
            cwd=room,
            env={"PATH": str(programs), "R": "rm"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        assert not mark.exists(), line
