"""Nothing a hook started survives what ends it."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time

import anyio
import pytest

from bench.process_cases import (
    ESCAPES,
    ROOT,
    Held,
    alone,
    cancelled,
    engine_killed,
    living,
    mixed,
    said,
    setter,
    shell,
    with_mark,
)
from hookline.extending import Exited, Failed
from hookline.handlers.process import procfs
from hookline.handlers.process.exit_watch import PidfdWatch, WaiterThread
from hookline.handlers.process.pool import Processes, Slots
from hookline.handlers.process.run import ProcessRun, RunLimits
from tests.waiting import until, wait_until


def in_own_process(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_group_and_its_tags_leave_no_survivor_of_any_escape_but_the_emptied_environment() -> None:
    seen = alone("escapes", "group", "1", "0.4")
    assert (seen["runs"], seen["survivors"]) == (len(ESCAPES), {})
    assert seen["longest"] < 6.5


def test_a_subreaper_leaves_no_survivor_of_any_escape_and_no_zombie() -> None:
    seen = alone("escapes", "subreaper", "1", "0.4")
    assert (seen["runs"], seen["survivors"], seen["zombies"]) == (len(ESCAPES) + 1, {}, 0)
    assert seen["longest"] < 6.5


def test_a_subreaper_never_touches_what_the_host_started_itself() -> None:
    out = in_own_process("""
import asyncio, os, subprocess, time
from bench.process_cases import EMPTIED, Processes, shell
async def main():
    processes = Processes(containment="subreaper")
    assert processes.containment == "subreaper"
    plain = subprocess.Popen(["sleep", "31"])
    session = subprocess.Popen(["sleep", "31"], start_new_session=True, env={})
    daemon = subprocess.run(["sh", "-c", "env -i setsid sleep 31 >/dev/null 2>&1 & echo $!"], capture_output=True)
    dead = subprocess.Popen(["sh", "-c", "exit 9"], start_new_session=True, env={})
    for _ in range(3):
        await shell(processes, EMPTIED, 0.2)
        await shell(processes, "setsid true & setsid sleep 31 >/dev/null 2>&1 & exit 0")
    os.kill(int(daemon.stdout), 0)
    print(plain.poll(), session.poll(), dead.wait())
    await processes.close()
    for child in (plain, session): child.kill(); child.wait()
    os.kill(int(daemon.stdout), 9); os.waitpid(int(daemon.stdout), 0)
    try: os.waitpid(-1, 0)
    except ChildProcessError: print("no child left")
asyncio.run(main())
""")
    assert out == "None None 9\nno child left\n"


def test_a_subreaper_leaves_alone_what_a_hook_may_leave_behind() -> None:
    out = in_own_process("""
import asyncio, os
from bench.process_cases import Processes, alive_children, shell
async def main():
    processes = Processes(containment="subreaper")
    keep = "env -i setsid sleep 31 >/dev/null 2>&1 & setsid sleep 31 >/dev/null 2>&1 & exit 0"
    await shell(processes, keep, leftovers="leave")
    kept = set(alive_children(but=processes.watchdog.pid))
    for _ in range(3):
        await shell(processes, "setsid env -i sleep 31 >/dev/null 2>&1 & exit 0")
    await shell(processes, "sleep 31", 0.1)
    print(len(kept), kept == set(alive_children(but=processes.watchdog.pid)))
    await processes.close()
    print(kept == set(alive_children()))
    for pid in kept: os.kill(pid, 9)
asyncio.run(main())
""")
    assert out == "2 True\nTrue\n"


def test_a_stray_is_spared_while_a_run_that_may_have_started_it_is_under_way() -> None:
    out = in_own_process("""
import asyncio, os, tempfile
from bench.process_cases import Processes, alive_children, shell
async def main():
    processes = Processes(containment="subreaper")
    gate = tempfile.mktemp()
    helper = f"(env -i setsid sleep 31 >/dev/null 2>&1 &) ; echo up; while [ ! -e {gate} ]; do sleep 0.05; done"
    up = asyncio.Event()
    long = asyncio.create_task(shell(processes, helper, on_line=lambda line: up.set()))
    await up.wait()
    await asyncio.sleep(0.3)
    before = len(alive_children(but=processes.watchdog.pid))
    await shell(processes, "exit 0")
    between = len(alive_children(but=processes.watchdog.pid))
    open(gate, "w").close()
    await long
    os.unlink(gate)
    print(before, between, len(alive_children(but=processes.watchdog.pid)))
    await processes.close()
asyncio.run(main())
""")
    assert out == "2 2 0\n"


def test_a_marked_run_inside_a_hook_of_another_engine_marks_nothing_of_its_host() -> None:
    out = in_own_process("""
import asyncio, os, subprocess
from bench.process_cases import Processes, shell
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
async def main():
    processes = Processes(containment="subreaper")
    mine = subprocess.Popen(["sleep", "31"], start_new_session=True)
    await shell(processes, "sleep 31 & exit 0")
    print(mine.poll(), os.sched_getscheduler(0) == os.SCHED_BATCH)
    mine.kill(); mine.wait()
    await processes.close()
asyncio.run(main())
""")
    assert out == "None True\n"


def test_the_deadline_gives_a_whole_group_time_to_obey() -> None:
    async def main() -> None:
        processes = Processes(bounds=RunLimits(grace=20))
        # The shell dies of TERM at once; its child tidies up for a while and is heard.
        child = "trap 'sleep 0.3; echo tidy; exit' TERM; echo up; while :; do sleep 0.05; done"
        result = await shell(processes, f'sh -c "{child}"; true', 1)
        assert isinstance(result, Failed)
        assert (result.cause, result.stdout) == ("timed_out", b"up\ntidy\n")
        assert result.detail == "after 1 s"
        await processes.close()

    asyncio.run(main())


def test_output_before_the_deadline_is_kept() -> None:
    async def main() -> None:
        processes = Processes()
        result = await shell(processes, "echo out; echo err >&2; sleep 31", 1)
        assert isinstance(result, Failed)
        assert (result.cause, result.stdout, result.stderr) == ("timed_out", b"out\n", b"err\n")
        await processes.close()

    asyncio.run(main())


def test_fifty_cancelled_hooks_are_dead_soon_and_the_runner_is_still_good() -> None:
    seen = asyncio.run(cancelled(50))
    assert (seen.began, seen.left, seen.usable) == (50, 0, True)
    assert seen.control < 5
    assert seen.dead < 10


def test_an_anyio_scope_gets_control_back_at_once_and_the_hook_dies_all_the_same() -> None:
    async def main() -> None:
        processes = Processes()
        mark = os.urandom(6).hex()
        command = "trap '' TERM; while :; do sleep 0.1; done"
        started = time.monotonic()
        with anyio.move_on_after(0.2):
            await shell(processes, command, env=with_mark(mark))
        assert time.monotonic() - started < 5
        assert processes.alive == 1
        await processes.close(10)
        assert processes.alive == 0
        assert living(mark) == []

    asyncio.run(main())


def test_a_hook_cancelled_while_its_output_is_awaited_is_cleaned_up() -> None:
    async def main() -> None:
        processes = Processes(bounds=RunLimits(drain=20))
        mark = os.urandom(6).hex()
        run = asyncio.create_task(shell(processes, "sleep 31 & exit 0", env=with_mark(mark)))
        await asyncio.sleep(0.5)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await processes.close(10)
        assert living(mark) == []

    asyncio.run(main())


def test_closing_lets_hooks_finish_within_the_limit() -> None:
    async def main() -> None:
        processes = Processes()
        run = asyncio.create_task(shell(processes, "sleep 0.3; echo done"))
        await asyncio.sleep(0.05)
        await processes.close(20)
        assert await run == Exited(0, b"done\n")

    asyncio.run(main())


@pytest.mark.parametrize("limit", [0.0, 0.3, 0.7])
def test_closing_ends_what_does_not_finish_and_leaves_nothing(limit: float) -> None:
    async def main() -> None:
        processes = Processes()
        mark = os.urandom(6).hex()
        commands = ["trap '' TERM; sleep 31; sleep 31", "sleep 31", "setsid sleep 31 & sleep 31"]
        runs = [asyncio.create_task(shell(processes, text, env=with_mark(mark))) for text in commands]
        await until(lambda: processes.alive == 3 and len(living(mark)) >= 3)
        watchdog = processes.watchdog.pid
        assert watchdog is not None
        await asyncio.wait_for(processes.close(limit), 20)
        assert [said(await run) for run in runs] == ["cancelled"] * 3
        assert living(mark) == []
        assert procfs.process_info(watchdog) is None
        assert said(await shell(processes, "exit 0")) == "exited 0"
        await processes.close()

    asyncio.run(main())


def test_closing_refuses_hooks_that_still_wait_in_line() -> None:
    async def main() -> None:
        processes = Processes(Slots(1))
        runs = [asyncio.create_task(shell(processes, "sleep 31")) for _ in range(3)]
        await asyncio.sleep(0.2)
        await processes.close(0)
        assert [said(await run) for run in runs] == ["cancelled"] * 3

    asyncio.run(main())


def test_one_runner_serves_one_loop_after_another_and_ends_what_a_closed_loop_left() -> None:
    processes = Processes()
    mark = os.urandom(6).hex()

    async def leave_one() -> None:
        command = "trap '' TERM; echo up; sleep 31; sleep 31"
        up = asyncio.Event()
        task = asyncio.create_task(shell(processes, command, env=with_mark(mark), on_line=setter(up)))
        await up.wait()
        task.cancel()

    fds = len(os.listdir("/proc/self/fd"))
    asyncio.run(leave_one())
    assert (processes.alive, living(mark)) == (0, [])
    assert said(asyncio.run(shell(processes, "exit 0"))) == "exited 0"
    asyncio.run(leave_one())
    asyncio.run(processes.close())
    assert (processes.alive, living(mark)) == (0, [])
    assert len(os.listdir("/proc/self/fd")) <= fds


def test_an_engine_that_is_killed_takes_its_hooks_along() -> None:
    for wait in (0.0, 0.4):
        before, left = engine_killed(wait, settle=15)
        assert before >= len(ESCAPES)
        assert left == 0


def test_an_engine_that_is_killed_takes_the_whole_group_along_whatever_its_environment() -> None:
    code = """
import asyncio, os, time
from bench.process_cases import Processes, shell
async def main():
    processes = Processes()
    command = "env -i sleep 31 >/dev/null 2>&1 & echo $!; wait"
    said = asyncio.Event()
    def listen(line):
        print(line.decode(), flush=True)
        said.set()
    run = asyncio.create_task(shell(processes, command, on_line=listen))
    await said.wait()
    await asyncio.sleep(0.1)  # longer than it takes until the watchdog is told of a run
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    pid = int(done.stdout)
    wait_until(lambda: (left := procfs.process_info(pid)) is None or not left.alive)


def test_a_command_that_is_killed_takes_along_what_left_its_session_and_its_environment() -> None:
    out = in_own_process("""
import asyncio, os, time
from pathlib import Path
from bench.kill_cases import ESCAPES, KINDS, become_subreaper
from bench.process_cases import Processes, alive_children, shell
from hookline.checks.commands.programs import SURVIVORS
become_subreaper()  # so that whatever is left is our child in the end
lines = [line for name, line in KINDS.items() if name not in ESCAPES and "Python" not in name]
lines += [row.example for row in SURVIVORS if row.where == "numbered"]
sleepers = [f"sleep 61.{number}{os.getpid()}" for number in range(len(lines))]
child = os.fork()
if not child:
    # Their last sleeper stays with the hook, so only the others are told apart.
    parts = [line.rpartition("sleep 61")[0].replace("sleep 61", name) for line, name in zip(lines, sleepers)]
    every = [f"({part} sleep 61) &" for part in parts]
    asyncio.run(shell(Processes(containment="subreaper"), "\\n".join([*every, "sleep 61"])))
def running():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try: words = Path("/proc", pid, "cmdline").read_text().replace("\\0", " ").strip()
        except OSError: continue
        found += [number for number, name in enumerate(sleepers) if words == name]
    return sorted(set(found))
def until(holds):
    end = time.monotonic() + 15
    while not holds() and time.monotonic() < end: time.sleep(0.01)
loops = sum("LOOP" in line for line in lines)  # they never sleep for long
until(lambda: len(running()) == len(lines) - loops)
print(len(lines) - loops - len(running()), end=" ")
os.kill(child, 9)
os.waitpid(child, 0)
until(lambda: len(alive_children()) == 1)
print(len(alive_children()), running() == [len(lines) - 1])
for pid in alive_children(): os.kill(pid, 9)
""")
    # What the doctor says may survive, and nothing else.
    assert out == "0 1 True\n"


def test_an_engine_that_is_killed_leaves_what_hooks_were_allowed_to_leave() -> None:
    mark = os.urandom(6).hex()
    code = """
import asyncio, os
from bench.process_cases import Processes, shell
async def main():
    processes = Processes()
    await shell(processes, "setsid sleep 31 >/dev/null 2>&1 & exit 0", leftovers="leave")
    up = asyncio.Event()
    command = "setsid sleep 32 & echo up; sleep 32"
    run = asyncio.create_task(shell(processes, command, leftovers="leave", on_line=lambda line: up.set()))
    await up.wait()
    await asyncio.sleep(0.1)  # longer than it takes until the watchdog is told of a run
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=with_mark(mark), check=False)
    wait_until(lambda: len(living(mark)) <= 1)
    (left,) = living(mark)
    os.kill(left, signal.SIGKILL)


def test_hooks_run_without_a_watchdog_and_it_is_said() -> None:
    async def main() -> None:
        before = Held.now().zombies  # other tests leave what they do not wait for
        processes = Processes(watchdog_shell="/no/such/shell")
        for _ in range(2):
            assert said(await shell(processes, "exit 0")) == "exited 0"
        assert not processes.watchdog.running
        assert Held.now().zombies <= before
        await processes.close()

    asyncio.run(main())


def test_a_watchdog_that_was_killed_does_not_stop_hooks() -> None:
    async def main() -> None:
        before = Held.now().zombies
        processes = Processes()
        await shell(processes, "exit 0")
        assert processes.watchdog.pid is not None
        os.kill(processes.watchdog.pid, signal.SIGKILL)
        for _ in range(3):
            assert said(await shell(processes, "sleep 0.1")) == "exited 0"
        assert not processes.watchdog.running
        await processes.close()
        assert Held.now().zombies <= before

    asyncio.run(main())


def test_a_waiter_thread_serves_where_there_is_no_pidfd() -> None:
    async def main() -> None:
        processes = Processes(exit_watch=WaiterThread)
        assert said(await shell(processes, "exit 3")) == "exited 3"
        assert said(await shell(processes, "sleep 31", 0.2)) == "timed_out"
        assert said(await shell(processes, "kill -9 $$")) == "signalled"
        await processes.close()
        assert processes.alive == 0

    asyncio.run(main())


@pytest.mark.parametrize("kind", [PidfdWatch, WaiterThread])
def test_both_watches_tell_of_the_end_and_leave_the_zombie(kind: type[PidfdWatch | WaiterThread]) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        child = subprocess.Popen(["sleep", "0.1"])
        ended = asyncio.Event()
        if kind is PidfdWatch:
            watch = PidfdWatch(loop, os.pidfd_open(child.pid), ended.set)
        else:
            watch = WaiterThread(loop, child.pid, ended.set)
        await asyncio.wait_for(ended.wait(), 20)
        seen = procfs.process_info(child.pid)
        assert seen is not None
        assert not seen.alive
        watch.close()
        watch.close()
        assert child.wait() == 0

    asyncio.run(main())


def test_an_exit_status_that_somebody_else_took_is_a_typed_result() -> None:
    out = in_own_process("""
import asyncio, signal
from bench.process_cases import Processes, shell
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
async def main():
    processes = Processes()
    print((await shell(processes, "exit 0")).cause)
    await processes.close()
asyncio.run(main())
""")
    assert out == "crashed\n"


def runs_alive() -> list[ProcessRun]:
    return [thing for thing in gc.get_objects() if isinstance(thing, ProcessRun)]


def test_a_finished_run_is_freed_at_once_and_does_not_wait_for_the_garbage_collector() -> None:
    async def main() -> list[ProcessRun]:
        processes = Processes()
        gc.collect()
        # Other tests of this process may have left some.
        earlier = runs_alive()
        gc.disable()
        try:
            for command, seconds in (
                ("exit 0", 20),
                ("sleep 31", 0.1),
                ("sleep 31 & exit 0", 20),
                ("yes", 20),
            ):
                await shell(processes, command, seconds)
            await asyncio.sleep(0)
            return [run for run in runs_alive() if not any(run is other for other in earlier)]
        finally:
            gc.enable()
            await processes.close()

    assert asyncio.run(main()) == []


def test_two_hundred_mixed_hooks_leak_nothing() -> None:
    """`make soak` (part r1) runs 8,000."""
    seen = asyncio.run(mixed(200))
    expected = {"exited 0": 80, "exited 1": 40, "timed_out": 40, "exited 0 truncated": 40}
    assert seen.results == expected
    assert seen.after.fds == seen.before.fds
    assert seen.after.zombies <= seen.before.zombies
    assert seen.after.threads <= seen.before.threads  # idle threads of other tests may end meanwhile
    assert seen.after.tasks <= seen.before.tasks  # what other tests left to end may end meanwhile
    assert seen.after.memory - seen.before.memory < 50 << 20
