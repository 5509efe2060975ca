"""`hookline log --follow` as a real process, while others write the journal."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import IO, cast

import pytest

from hookline.cli.commands.log.run import Tail
from hookline.extending import Run
from hookline.journal.file import encoded, rotate
from hookline.journal.reader import Damage
from tests.cli.journals import a_run, journal_of, write_runs
from tests.cli.run_cli import Workspace, clean_env, command_line


@contextmanager
def following(where: Workspace, *words: str) -> Generator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        command_line(["log", "--follow", *words]), cwd=where.project, env=clean_env(where.home),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: "subprocess.Popen[bytes]") -> str:
    return cast("IO[bytes]", process.stdout).readline().decode()


def interrupted(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    return process.returncode, err.decode()


def test_what_was_then_what_happens_until_interrupted(where: Workspace) -> None:
    write_runs(where, *(a_run(f"old {number}") for number in range(20)))
    with following(where, "--limit", "2") as process:
        assert [line(process).split()[-3] for _ in range(2)] == ["18", "19"]
        write_runs(where, a_run("new", reason="because", decision="deny", status="blocked"))
        assert " deny        new  3 ms\n" in line(process)
        assert line(process).strip() == "because"
        assert interrupted(process) == (130, "hookline: interrupted\n")


def test_filters_hold_for_what_comes_and_json_is_one_run_per_line(where: Workspace) -> None:
    write_runs(where, a_run("a"), a_run("b"))
    with following(where, "--json", "--hook", "b") as process:
        assert json.loads(line(process))["hook"] == "b"
        write_runs(where, a_run("a"), a_run("bb"))
        assert json.loads(line(process))["hook"] == "bb"


def test_a_journal_that_begins_later_is_followed(where: Workspace) -> None:
    with following(where) as process:
        translated = cast("IO[bytes]", process.stderr).readline().decode()
        assert translated.startswith("no journal yet")
        write_runs(where, a_run("first"))
        assert "first" in line(process)


def test_it_ends_when_nobody_reads_any_more_though_nothing_happens(where: Workspace) -> None:
    write_runs(where, a_run("only"))
    with following(where) as process:
        line(process)
        cast("IO[bytes]", process.stdout).close()
        assert process.wait(timeout=30) == 0
        assert cast("IO[bytes]", process.stderr).read() == b""


def hooks(tail: Tail) -> list[str]:
    return [item.hook if isinstance(item, Run) else str(item) for item in tail.look()]


@pytest.fixture
def tail_of(where: Workspace) -> Iterator[Callable[[], Tail]]:
    opened: list[Tail] = []

    def make() -> Tail:
        opened.append(Tail(journal_of(where)))
        return opened[-1]

    yield make
    for tail in opened:
        tail.close()


def test_nothing_is_lost_or_seen_twice_across_a_rotation(
    where: Workspace, tail_of: Callable[[], Tail]
) -> None:
    path = write_runs(where, a_run("a"))
    tail = tail_of()
    assert hooks(tail) == ["a"]
    write_runs(where, a_run("b"))
    rotate(path, 1)
    write_runs(where, a_run("c"))
    assert hooks(tail) == ["b", "c"]
    assert hooks(tail) == []


def test_what_is_written_between_a_look_and_a_rotation_is_read(where: Workspace) -> None:
    path = write_runs(where, a_run("a"))

    class Overtaken(Tail):
        def _replaced(self) -> bool:
            write_runs(where, a_run("b"))
            rotate(path, 1)
            write_runs(where, a_run("c"))
            return super()._replaced()

    tail = Overtaken(path)
    assert hooks(tail) == ["a", "b", "c"]
    tail.close()


def test_half_a_line_is_waited_for(where: Workspace, tail_of: Callable[[], Tail]) -> None:
    path = write_runs(where, a_run("a"))
    tail = tail_of()
    whole = encoded(a_run("b"))
    assert hooks(tail) == ["a"]
    with open(path, "ab", buffering=0) as stream:
        stream.write(whole[:40])
        assert hooks(tail) == []
        stream.write(whole[40:])
    assert hooks(tail) == ["b"]


def test_half_a_line_that_never_ends_is_said_when_the_file_is_moved_aside(
    where: Workspace, tail_of: Callable[[], Tail]
) -> None:
    path = write_runs(where, a_run("a"))
    tail = tail_of()
    with open(path, "ab") as stream:
        stream.write(b'{"v":1,"ho')
    rotate(path, 1)
    write_runs(where, a_run("b"))
    found = list(tail.look())
    assert [type(item) for item in found] == [Run, Damage, Run]


def test_a_journal_that_was_cut_is_read_from_its_start(where: Workspace, tail_of: Callable[[], Tail]) -> None:
    path = write_runs(where, a_run("a"), a_run("b"), a_run("c"))
    tail = tail_of()
    assert len(hooks(tail)) == 3
    os.truncate(path, 0)
    write_runs(where, a_run("d"))
    assert hooks(tail) == ["d"]


def test_a_journal_that_is_gone_is_waited_for(where: Workspace, tail_of: Callable[[], Tail]) -> None:
    path = write_runs(where, a_run("a"))
    tail = tail_of()
    hooks(tail)
    os.unlink(path)
    assert hooks(tail) == []
    write_runs(where, a_run("b"))
    assert hooks(tail) == ["b"]


def test_a_line_without_end_is_given_up(where: Workspace, tail_of: Callable[[], Tail]) -> None:
    path = write_runs(where, a_run("a"))
    with open(path, "ab") as stream:
        stream.write(b"x" * (6 * 1024 * 1024))
    found = hooks(tail_of())
    assert found[0] == "a"
    assert "longer than" in found[1]


def test_a_journal_that_is_none_is_said_once(where: Workspace) -> None:
    journal = journal_of(where)
    os.makedirs(journal)
    with following(where) as process:
        said = cast("IO[bytes]", process.stderr).readline().decode()
        assert said.endswith("the journal cannot be read: Is a directory\n")
        # When it can be read again, it continues; by then it has checked at least once more.
        os.rmdir(journal)
        write_runs(where, a_run("new"))
        assert " new " in line(process)
        assert interrupted(process) == (130, "hookline: interrupted\n")


def test_it_says_whether_a_script_was_warm(where: Workspace) -> None:
    with following(where) as process:
        write_runs(where, a_run("one", warm=True), a_run("two", warm=False), a_run("three"))
        ends = [line(process).rstrip().split("  ")[-1] for _ in range(3)]
    assert ends == ["3 ms, warm", "3 ms, cold", "3 ms"]
