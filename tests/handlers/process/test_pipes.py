"""Test what goes in, what comes out, and who keeps hold of the pipes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from bench.process_cases import ROOT, floods, held_pipes, living, said, shell, unread_stdin, with_mark
from hookline.extending import Background, Exited, Failed, RawResult
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.run import RunLimits
from tests.every import every
from tests.waiting import wait_until


def ran(command: str, seconds: float = 30, bounds: RunLimits | None = None, **more: Any) -> RawResult:
    async def main() -> RawResult:
        processes = Processes(bounds=bounds)
        try:
            return await shell(processes, command, seconds, **more)
        finally:
            await processes.close()
            assert processes.alive == 0
            assert processes.slots.taken == 0

    return asyncio.run(main())


def exited(result: RawResult) -> Exited:
    assert isinstance(result, Exited), result
    return result


def broke(result: RawResult) -> Failed:
    assert isinstance(result, Failed), result
    return result


def test_stdin_stdout_stderr_and_the_exit_code_are_facts() -> None:
    result = ran("cat; echo bad >&2; exit 3", stdin=b"\0\xff document")
    assert result == Exited(3, b"\0\xff document", b"bad\n")


@pytest.mark.parametrize(("status", "code"), [("0", 0), ("2", 2), ("126", 126), ("127", 127), ("258", 2)])
def test_exit_statuses_are_told_as_the_system_tells_them(status: str, code: int) -> None:
    assert exited(ran(f"exit {status}")).code == code


def test_death_by_a_signal_is_told_with_its_number_and_the_output_so_far() -> None:
    result = broke(ran("echo out; echo err >&2; kill -9 $$"))
    assert (result.cause, result.signal, result.stdout, result.stderr) == ("signalled", 9, b"out\n", b"err\n")
    assert "SIGKILL" in result.detail


def test_a_large_document_is_passed_on_whole_while_the_hook_talks() -> None:
    document = os.urandom(3_000_000)
    result = exited(ran("cat", stdin=document, bounds=RunLimits(stdout=4_000_000)))
    assert result.stdout == document


def test_unread_stdin_is_no_error_and_a_deaf_hook_ends_at_its_deadline() -> None:
    seen = asyncio.run(unread_stdin(10))
    assert seen.results == {"exited 7": 20}
    assert seen.overrun < 1.5


def test_output_past_the_cap_is_thrown_away_and_the_hook_never_blocks() -> None:
    result = exited(ran("head -c 5000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 4"))
    assert (result.code, len(result.stdout), len(result.stderr)) == (4, 1 << 20, 1 << 18)
    assert result.truncated


def test_output_up_to_the_cap_is_not_called_truncated() -> None:
    result = exited(ran("head -c 1048576 /dev/zero"))
    assert len(result.stdout) == 1 << 20
    assert not result.truncated


def test_a_flood_is_ended_and_named() -> None:
    started = time.monotonic()
    result = broke(ran("yes", 60))
    assert time.monotonic() - started < 30
    assert result.cause == "truncated"
    assert "flood" in result.detail
    assert result.truncated
    assert len(result.stdout) == 1 << 20


def test_an_endless_flood_costs_neither_memory_nor_the_loop() -> None:
    seen = asyncio.run(floods(1, 1.0, endless=True))
    assert seen.results == {"timed_out": 1}
    assert seen.drained
    assert (seen.kept_stdout, seen.kept_stderr) == (1 << 20, 1 << 18)
    assert seen.growth < 80 << 20
    assert seen.stall < 0.5


def test_a_child_left_on_the_pipes_does_not_keep_a_finished_hook_waiting() -> None:
    seen = asyncio.run(held_pipes(5))
    assert (seen.flagged, seen.whole, seen.left) == (5, 5, 0)
    assert seen.longest < 3


def test_a_child_left_on_the_pipes_may_stay_where_the_dialect_says_so() -> None:
    mark = os.urandom(6).hex()
    result = exited(ran("sleep 31 & echo done", leftovers="leave", env=with_mark(mark)))
    assert result.stdout == b"done\n"
    assert result.pipes_held
    (left,) = living(mark)
    os.kill(left, signal.SIGKILL)


def test_a_hook_that_dies_of_a_signal_leaves_nothing_whatever_the_dialect() -> None:
    mark = os.urandom(6).hex()
    assert broke(ran("sleep 31 & kill -9 $$", leftovers="leave", env=with_mark(mark))).cause == "signalled"
    assert living(mark) == []


def test_a_silent_child_of_a_finished_hook_is_killed_with_its_group() -> None:
    mark = os.urandom(6).hex()
    result = exited(ran("sleep 31 >/dev/null 2>&1 & exit 0", env=with_mark(mark)))
    assert not result.pipes_held
    wait_until(lambda: not living(mark))


def test_a_child_that_goes_on_flooding_after_the_hook_ended_is_not_listened_to() -> None:
    started = time.monotonic()
    result = exited(ran("yes & exit 5", bounds=RunLimits(drain=20)))
    assert result.code == 5
    assert result.pipes_held
    assert time.monotonic() - started < 15


def test_lines_are_passed_on_while_the_hook_runs() -> None:
    async def main() -> None:
        processes = Processes()
        lines: list[bytes] = []
        first = asyncio.Event()

        def listen(line: bytes) -> None:
            lines.append(line)
            first.set()

        run = asyncio.create_task(shell(processes, "echo one; cat; printf two", stdin=b"", on_line=listen))
        await asyncio.wait_for(first.wait(), 20)
        assert lines[0] == b"one"
        await run
        assert lines == [b"one", b"two"]
        await processes.close()

    asyncio.run(main())


def test_an_endless_line_is_cut_for_the_listener_and_kept_whole_in_the_result() -> None:
    lines: list[bytes] = []
    result = exited(ran("head -c 200000 /dev/zero; echo; echo after", on_line=lines.append))
    assert [len(line) for line in lines] == [1 << 16, 5]
    assert len(result.stdout) == 200_007


def test_a_listener_that_raises_does_not_end_the_hook() -> None:
    heard: list[bytes] = []

    def broken(line: bytes) -> None:
        heard.append(line)
        raise RuntimeError("no")

    assert exited(ran("echo 1; sleep 0.1; echo 2", on_line=broken)).stdout == b"1\n2\n"
    assert heard == [b"1"]


@pytest.mark.parametrize(
    "first", ['{"async": true}\\n', '{"async":true,"asyncTimeout":5}\\n', '{"async": true}']
)
def test_a_first_line_that_asks_for_it_moves_the_hook_to_the_background(first: str) -> None:
    async def main() -> None:
        processes = Processes()
        command = f"printf '{first}'; cat >/dev/null; sleep 0.3; echo; echo late; exit 6"
        result = await shell(processes, command, async_line=True)
        assert isinstance(result, Background)
        assert processes.alive == 1
        assert processes.slots.taken == 0
        rest = exited(await result.rest)
        assert rest.code == 6
        assert rest.stdout.endswith(b"late\n")
        assert processes.alive == 0
        assert processes.slots.taken == 0
        await processes.close()

    asyncio.run(main())


@every(
    "first",
    [
        '{"async": 1}',
        '{"async": "true"}',
        '{"async": false}',
        '["async"]',
        "{",
        "x",
        "",
        '\\n{"async": true}',
    ],
)
def test_no_other_first_line_moves_a_hook_to_the_background(first: str) -> None:
    assert isinstance(ran(f"printf '{first}\\n'; sleep 0.1", async_line=True), Exited)


def test_a_hostile_first_line_is_only_output() -> None:
    nested = "[" * 3000
    assert isinstance(ran(f"echo '{{\"async\": {nested}'; sleep 0.1", async_line=True), Exited)


def test_no_hook_moves_to_the_background_that_may_not() -> None:
    assert isinstance(ran("echo '{\"async\": true}'; sleep 0.1"), Exited)


def test_a_background_hook_is_still_under_its_deadline() -> None:
    async def main() -> None:
        processes = Processes()
        result = await shell(processes, "echo '{\"async\": true}'; sleep 31", 0.5, async_line=True)
        assert isinstance(result, Background)
        rest = broke(await result.rest)
        assert rest.cause == "timed_out"
        assert rest.stdout == b'{"async": true}\n'
        await processes.close()

    asyncio.run(main())


def test_cancelling_the_task_that_waits_for_the_rest_ends_the_hook() -> None:
    async def main() -> None:
        processes = Processes()
        mark = os.urandom(6).hex()
        result = await shell(
            processes, "echo '{\"async\": true}'; sleep 31", async_line=True, env=with_mark(mark)
        )
        assert isinstance(result, Background)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(result.rest, 0.05)
        await processes.close(5)
        assert living(mark) == []

    asyncio.run(main())


def test_beyond_a_number_of_them_background_hooks_keep_their_slots() -> None:
    async def main() -> None:
        processes = Processes(most_background=1)
        command = "echo '{\"async\": true}'; sleep 31"
        for _ in range(3):
            assert isinstance(await shell(processes, command, async_line=True), Background)
        assert processes.slots.taken == 2
        await processes.close(0)
        assert processes.slots.taken == 0

    asyncio.run(main())


def test_a_host_with_deadly_sigpipe_survives_a_deaf_hook() -> None:
    program = """
import asyncio, signal
from bench.process_cases import shell
from bench.process_cases import Processes
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
async def main():
    processes = Processes()
    for _ in range(5):
        print(await shell(processes, "exec <&-; sleep 0.05", stdin=b"x" * 500_000))
    await processes.close()
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("Exited(code=0")) == (0, 5), done.stderr


def test_no_time_left_is_a_timeout_that_starts_nothing() -> None:
    for seconds in (0.0, -1.0, float("nan")):
        result = broke(ran("touch /no/such/dir", seconds))
        assert result.cause == "timed_out"


def test_a_hook_may_run_without_any_deadline() -> None:
    assert said(ran("exit 0", float("inf"))) == "exited 0"
