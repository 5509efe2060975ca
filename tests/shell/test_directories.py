"""Test which directories the commands of a line may run in."""

import os
from collections.abc import Sequence

import pytest

from hookline.shell import ShellReader
from hookline.shell.directories import change_of, directories_of, reached
from hookline.shell.placeholders import HOLE
from hookline.shell.programs import Table, table, text_of
from hookline.shell.programs.row import names_of
from tests.every import every


def whole(word: str, directory: str) -> str | None:
    if HOLE in word:
        return None
    return os.path.normpath(os.path.join("/h" if word == "~" else directory, word.replace("~", "/h")))


def directories(line: str, program: str = "rm") -> Sequence[str]:
    """Return where the first command of a program may run."""
    reading = ShellReader().read(line)
    found = dict(directories_of(reading, line, "/p", whole, "/h"))
    return next(found[at] for at, one in enumerate(reading.commands) if one.base_name == program)


@every(
    "line",
    [
        "env --chdir=sub rm x",
        "env -Csub rm x",
        "env -iC sub rm x",
        "env -S '-C sub rm x'",
        "sudo -D sub rm x",
        "sudo --chdir sub -u root rm x",
        "sudo --chd=sub rm x",
        "systemd-run --working-directory=sub rm x",
        "systemd-run --user -p WorkingDirectory=sub rm x",
        "nsenter --wdns=sub rm x",
        "unshare -w sub rm x",
        "start-stop-daemon -S -d sub -x /bin/rm -- x",
        "bwrap --chdir sub rm x",
        "run0 -D sub rm x",
        "parallel --workdir sub rm ::: x",
        "uv --directory sub run rm x",
        "uv run --directory=sub rm x",
        "uv --new-flag --directory sub run rm x",
        "pnpm --dir sub exec rm x",
        "npm --prefix sub exec rm x",
        "npm exec --prefix=sub rm x",
        "poetry --directory=sub run rm x",
        "bun --cwd=sub x rm x",
        "env -C sub nice sh -c 'rm x'",
        "bash -c 'cd sub && rm x'; cd /",
        "cd sub; bash -c 'rm x'; cd /",
        "cd -- sub && rm x",
        "cd sub; cd ..; cd - && rm x",
        "pushd sub; pushd ..; pushd; rm x",
        "pushd sub; pushd ..; popd; rm x",
        "(cd sub; rm x)",
        "eval 'cd sub'; rm x",
        "command cd sub; rm x",
        "cd other; eval 'command cd ../sub'; rm x; cd /",
        "eval 'cd sub; rm x'",
    ],
)
def test_a_command_may_run_in_the_directory_that_is_entered(line: str) -> None:
    assert "/p/sub" in directories(line)


@every(
    "line",
    [
        "env -C sub ls; rm x",
        "make -C sub all && rm x",
        "git -C sub status && rm x",
        "bash -c 'cd sub && ls'; rm x",
        "systemd-run -p User=sub rm x",
        "nice env ls -C sub; rm x",
        "rm x; eval 'cd sub'",
        "command cd $(dirname y) && rm x",
    ],
)
def test_the_next_command_does_not_run_in_that_of_another_one(line: str) -> None:
    assert directories(line) == ["/p"]


def test_cdpath_names_further_directories() -> None:
    assert set(directories("CDPATH=/q:/r; cd x; rm y")) == {"/p/x", "/h/x", "/q/x", "/r/x"}


@pytest.mark.parametrize("redirecting", ["bash -c 'cd sub; echo > x'", "env -C sub sh -c 'echo > x'"])
def test_the_directories_of_inner_lines_are_yielded_for_their_redirections(redirecting: str) -> None:
    reading = ShellReader().read(redirecting)
    every_directory = [one for _, some in directories_of(reading, redirecting, "/p", whole) for one in some]
    assert "/p/sub" in every_directory


@pytest.mark.parametrize("line", ["cd a; cd b", "(cd a); cd b", "false && cd a; env -C b ls", "cd b || cd a"])
def test_whatever_fails_both_may_be_reached(line: str) -> None:
    assert {"/p", "/p/a", "/p/b"} <= set(reached(ShellReader().read(line).commands, ["/p"], whole))


def test_too_many_directories_are_one_more_than_are_followed() -> None:
    commands = ShellReader().read("; ".join(f"cd {at}" for at in range(30))).commands
    assert len(reached(commands, ["/p"], whole)) == 17


def test_each_option_of_a_row_that_names_a_directory_is_followed() -> None:
    rows: Table = table()
    names = {
        name
        for topic in (
            "builds",
            "containers",
            "files",
            "git",
            "interpreters",
            "packages",
            "privileges",
            "wrappers",
        )
        for block in text_of(topic).split("\n\n")
        for name in names_of(block.partition("\n")[0].partition(" = ")[0])
    }
    seen = 0
    for name in sorted(names):
        row = rows.get(name)
        for option in row.chdir if row is not None else ():
            flag, _, start = option.partition("=")
            words = (*name.replace("*", "sub-command").split(), flag, f"{start}there", "x")
            change = change_of(words)
            assert change is not None, words
            assert change.targets == ("there",), words
            assert not change.lasts
            seen += 1
    assert seen > 60
