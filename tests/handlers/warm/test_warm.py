"""Warm runs: what can happen to them, and that nothing of it is a different result."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from hookline import Engine
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.extending import Exited, standard_handlers
from hookline.handlers.process import procfs
from hookline.handlers.process.containment import children
from hookline.handlers.process.spawn import placeholder
from hookline.handlers.warm.commands import Cold
from hookline.handlers.warm.shells import Shells
from hookline.handlers.warm.zygotes import Zygote
from tests.handlers.warm.warm_runs import PYTHON, WarmRuns, finished
from tests.waiting import until, wait_until, waits_for

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="warm scripts need Linux"),
    pytest.mark.skipif(not os.path.exists(PYTHON), reason=f"there is no {PYTHON}"),
]


def test_a_script_runs_warm_after_it_has_run_cold(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            script = runs.write("import json, sys; print(json.load(sys.stdin)['a']); sys.exit(3)")
            cold = await runs.run(script, stdin=b'{"a": 1}')
            warm = await runs.warm(script, stdin=b'{"a": 1}')
            assert (cold.code, cold.stdout, cold.warm) == (3, b"1\n", None)
            assert (warm.code, warm.stdout, warm.warm) == (3, b"1\n", True)
            assert (await runs.run(script, stdin=b'{"a": 1}', warm=False)).warm is None

    finished(main())


def test_the_tag_of_a_run_is_where_others_look_for_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            await runs.ready()
            go, there = tmp_path / "go", tmp_path / "there"
            script = runs.write(
                "import os\nwith open('pid', 'w') as file:\n"
                "    file.write(f'{os.getpid()} ' + os.environ['HOOKLINE_RUN_ID'])\n"
                f"os.rename('pid', {str(there)!r})\nos.system({waits_for(go)!r})"
            )
            running = asyncio.ensure_future(runs.run(script, env={"SECRET": "x" * 100}))
            await until(there.exists)
            pid, tag = there.read_text().split()
            block = procfs.environment(int(pid))
            assert procfs.entry(block, b"HOOKLINE_RUN_ID=") == tag.encode()
            assert b"SECRET=" in block
            go.touch()
            assert (await running).warm is True

    finished(main())


def test_an_edit_is_seen_at_once_also_with_equal_size_and_time(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            script = runs.write("print('one')")
            before = script.stat()
            for _ in range(3):
                assert (await runs.warm(script)).stdout == b"one\n"
            script.write_text("print('two')")
            os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert (await runs.warm(script)).stdout == b"two\n"
            helper = runs.write("VALUE = 1", "helper.py")
            script.write_text("import helper; print(helper.VALUE)")
            assert (await runs.warm(script)).stdout == b"1\n"
            helper.write_text("VALUE = 222")
            assert (await runs.warm(script)).stdout == b"222\n"

    finished(main())


_SCAN = """
import re, sys
# In brackets, letter by letter: what is looked for must not be in memory because it is looked for.
secret = re.compile("".join("[" + letter + "]" for letter in reversed(sys.argv[1])).encode() + b"-tail")
found = []
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        area, mode = line.split()[:2]
        start, end = (int(each, 16) for each in area.split("-"))
        if mode[0] == "r" and "[v" not in line:
            try:
                memory.seek(start)
                if secret.search(memory.read(end - start)):
                    found.append(line.split()[-1])
            except (OSError, OverflowError):
                pass
print(found)
"""


def test_nothing_of_one_run_is_in_the_memory_of_another(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            script, scan = runs.write("import os; os.environ['TOKEN']"), runs.write(_SCAN, "scan.py")
            secret = os.urandom(12).hex()
            env = {"TOKEN": f"{secret}-tail"}
            for _ in range(3):
                await runs.warm(script, f"{secret}-tail", env=env, stdin=env["TOKEN"].encode())
            # It finds what exists: its own environment.
            own = await runs.warm(scan, secret[::-1], env=env)
            assert own.stdout != b"[]\n"
            for _ in range(4):
                assert (await runs.warm(scan, secret[::-1])).stdout == b"[]\n"
            await runs.ready()
            for pid in (*runs.scripts.zygotes, *runs.scripts.waiting):
                assert secret.encode() not in procfs.environment(pid)
                assert secret.encode() not in _memory(pid), pid
            assert len(_memory(runs.scripts.zygotes[0])) > 1 << 20 or os.getuid()

    finished(main())


def _memory(pid: int) -> bytes:
    """All that can be read of a process; nothing if that is not allowed."""
    parts: list[bytes] = []
    with suppress(PermissionError), open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end = (int(each, 16) for each in line.split()[0].split("-"))
            if line.split()[1][0] == "r" and "[v" not in line:
                with suppress(OSError, OverflowError):
                    memory.seek(start)
                    parts.append(memory.read(end - start))
    return b"".join(parts)


def test_what_waits_cannot_be_read_by_other_processes_of_the_user(tmp_path: Path) -> None:
    code = textwrap.dedent("""
        import sys
        from pathlib import Path
        from tests.handlers.warm.warm_runs import WarmRuns, finished

        def is_readable(pid):
            try:
                open(f"/proc/{pid}/mem", "rb").close()
            except PermissionError:
                return False
            return True

        async def main():
            async with WarmRuns(Path(sys.argv[1])) as runs:
                await runs.ready()
                print(*map(is_readable, (*runs.scripts.zygotes, *runs.scripts.waiting)))
        finished(main())
    """)
    # Root may read all memory, unless it has given that up.
    plain = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if os.getuid() == 0 else []
    if plain and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    words = [*plain, sys.executable, "-c", code, str(tmp_path)]
    ran = subprocess.run(words, check=False, capture_output=True, text=True)
    assert ran.stdout == "False False False\n", ran.stderr


def test_a_burst_is_answered_by_all_and_counts_what_it_missed(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            await runs.ready()
            script = runs.write("import sys; print(sys.argv[1]); sys.exit(int(sys.argv[1]))")
            before = runs.scripts.runs.copy()
            results = await asyncio.gather(*(runs.run(script, str(number)) for number in range(12)))
            assert [(each.code, each.stdout) for each in results] == [(n, b"%d\n" % n) for n in range(12)]
            seen = runs.scripts.runs - before
            assert seen["warm"] == sum(each.warm is True for each in results) >= 2
            assert seen["missed"] == sum(each.warm is False for each in results) == 12 - seen["warm"]

    finished(main())


def test_when_waiting_processes_and_zygote_are_killed_scripts_are_started_anew(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            waiting = await runs.ready()
            script = runs.write("print('ran')")
            for pid in waiting:
                os.kill(pid, signal.SIGKILL)
            assert (await runs.run(script)).stdout == b"ran\n"
            await runs.ready()
            for pid in (*runs.scripts.zygotes, *runs.scripts.waiting):
                os.kill(pid, signal.SIGKILL)
            for _ in range(3):
                assert (await runs.run(script)).stdout == b"ran\n"
            runs.scripts.tend()
            assert runs.scripts.zygotes == ()  # it is tried again later

    finished(main())


def test_a_process_killed_before_it_takes_its_job_costs_nothing_but_time(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path, children=1) as runs:
            (pid,) = await runs.ready(1)
            os.kill(pid, signal.SIGSTOP)
            script = runs.write("open('runs', 'a').write('x'); print('ran')")
            running = asyncio.ensure_future(runs.run(script))
            await until(lambda: runs.processes.alive)
            os.kill(pid, signal.SIGKILL)
            result = await running
            assert (result.code, result.stdout, result.warm) == (0, b"ran\n", None)
            assert (tmp_path / "runs").read_text() == "x"

    finished(main())


def test_a_process_killed_after_it_began_is_not_started_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            await runs.ready()
            script = runs.write(
                "import os, signal; open('runs', 'a').write('x'); os.kill(os.getpid(), signal.SIGKILL)"
            )
            result = await runs.run(script)
            assert (result.cause, result.signal) == ("signalled", signal.SIGKILL)
            assert result.warm is True
            assert (tmp_path / "runs").read_text() == "x"

    finished(main())


def test_a_script_that_speaks_for_its_process_gains_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            await runs.ready()
            for said in (b"Nnothing ran", b"Xelsewhere", b"A", b"S0\0os", b"rubbish"):
                mark = f"mark{said[:1].decode()}"
                script = runs.write(
                    f"import os, socket, sys\nopen({mark!r}, 'a').write('x')\n"
                    f"s = socket.socket(fileno=250)\nfor _ in range(3): s.send({said!r})\n"
                    "os.kill(os.getpid(), 9)"
                )
                result = await runs.warm(script)
                # At most it says its own exit status, and is then killed.
                assert getattr(result, "cause", "exited") == (
                    "exited" if said[:1] == b"S" else "signalled"
                ), said
                assert set((tmp_path / mark).read_text()) == {"x"}
                ran = len((tmp_path / mark).read_text())
                await asyncio.sleep(0.05)
                assert len((tmp_path / mark).read_text()) == ran
            await until(lambda: runs.processes.alive == 0)

    finished(main())


@pytest.mark.parametrize("containment", ["group", "subreaper"])
def test_nothing_is_left_of_a_run_that_is_killed(tmp_path: Path, containment: str) -> None:
    seconds = f"300.{os.getpid()}"
    words = ["-m", "tests.handlers.warm.killed", str(tmp_path), containment, seconds]
    ran = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True)
    assert ran.stdout == "timed_out begun True\n", ran.stderr
    wait_until(lambda: not _sleepers(seconds))


def _sleepers(seconds: str) -> list[int]:
    found: list[int] = []
    for process in procfs.all_processes():
        try:
            line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        except OSError:
            continue
        if process.alive and line == b"/bin/sleep\0%s\0" % seconds.encode():
            found.append(process.pid)
    return found


def test_what_was_started_ahead_ends_with_its_owner(tmp_path: Path) -> None:
    code = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from tests.handlers.warm.warm_runs import WarmRuns, finished

        async def main():
            async with WarmRuns(Path(sys.argv[1])) as runs:
                await runs.ready()
                print(*runs.scripts.zygotes, *runs.scripts.waiting, flush=True)
                await asyncio.sleep(300)
        finished(main())
    """)
    owner = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        pids = [int(word) for word in owner.stdout.readline().split()]
        assert len(pids) >= 3
        owner.kill()
        wait_until(lambda: not any(_is_alive(pid) for pid in pids))
    finally:
        owner.kill()
        owner.wait()
        if owner.stdout is not None:
            owner.stdout.close()


def _is_alive(pid: int) -> bool:
    info = procfs.process_info(pid)
    return info is not None and info.alive


def test_an_answer_does_not_wait_for_the_death_of_its_process_and_that_is_reaped(tmp_path: Path) -> None:
    before = children()  # of other tests

    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            await runs.ready()
            script = runs.write("print('x')")
            for _ in range(5):
                result = await runs.warm(script)
                assert isinstance(result, Exited)
                assert result.pipes_held is False
            await until(lambda: runs.processes.alive == 0)
            assert runs.processes.slots.taken == 0
            await until(lambda: len(runs.scripts.waiting) == 2)
            assert children() - before == {*runs.scripts.pids, runs.processes.watchdog.pid}
        assert children() <= before

    finished(main())


def test_a_loop_that_ends_with_the_answer_leaves_no_process(tmp_path: Path) -> None:
    before = children()
    runs = WarmRuns(tmp_path)
    script = runs.write("print('x')")
    for _ in range(6):
        finished(runs.warm(script))
        assert runs.processes.alive == 0

    async def close() -> None:
        await runs.processes.close()
        runs.scripts.close()

    asyncio.run(close())
    assert children() <= before


def test_a_sealed_file_is_run_as_it_was_sealed(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            await runs.ready()
            seen = [
                await (runs.warm if warm else runs.run)(
                    placeholder(0),
                    warm=warm,
                    files=(b"import sys; print('sealed', sys.path[0], __file__[:14])",),
                )
                for warm in (False, True)
            ]
            assert [each.warm for each in seen] == [None, True]
            assert seen[0].stdout == seen[1].stdout == b"sealed / /proc/self/fd/\n"

    finished(main())


def test_a_package_that_is_installed_later_is_there(tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv/bin/python")
    (packages,) = (tmp_path / "venv/lib").glob("python3*/site-packages")

    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            script = runs.write("import sys; print(sys.prefix)\nimport later; print(later.NAME)")
            assert (await runs.warm(script, python=python)).code == 1
            (tmp_path / "elsewhere").mkdir()
            (tmp_path / "elsewhere/later.py").write_text("NAME = 'found'")
            (packages / "later.pth").write_text(str(tmp_path / "elsewhere"))
            expected = f"{tmp_path}/venv\nfound\n".encode()
            assert (await runs.run(script, python=python)).stdout == expected
            assert (await runs.warm(script, python=python)).stdout == expected

    finished(main())


def test_variables_that_start_up_code_reads_belong_to_the_key(tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv/bin/python")
    (packages,) = (tmp_path / "venv/lib").glob("python3*/site-packages")
    (packages / "own.pth").write_text("import os, sys; sys.own = os.environ.get('OWN_SETTING')\n")

    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            script = runs.write("import sys; print(sys.own)")
            for value in ("one", "two", "one"):
                for _ in range(2):
                    result = await runs.warm(script, python=python, env={"OWN_SETTING": value})
                    assert result.stdout == f"{value}\n".encode()

    finished(main())


def test_interpreters_that_cannot_be_started_ahead_say_why(tmp_path: Path) -> None:
    old = next(Path(os.path.expanduser("~/.pyenv/versions")).glob("3.[6-9].*/bin/python3"), None)
    if old is None:
        pytest.skip("there is no Python older than 3.10 here")

    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            script = runs.write("import sys; print(sys.version_info[1])")
            argv = [str(old), str(script)]

            async def refused() -> None:
                while runs.scripts.why_cold(argv, runs.env, str(tmp_path)) is None:
                    assert (await runs.run(script, python=str(old))).warm is not True
                    await asyncio.sleep(0.05)

            await refused()
            assert (
                runs.scripts.why_cold(argv, runs.env, str(tmp_path))
                == "only CPython from 3.10 on can be started ahead"
            )
            launcher = runs.write('#!/bin/sh\nexec python3 "$@"\n', "python3")
            launcher.chmod(0o755)
            why = runs.scripts.why_cold([str(launcher), str(script)], runs.env, str(tmp_path))
            assert why == f"{launcher} is a launcher, not an interpreter"

    finished(main())


def test_a_zygote_that_cannot_fork_is_given_up_for_a_while(tmp_path: Path) -> None:
    # A program that speaks for a zygote whose forks fail: on a real one that cannot be brought about as root.
    program = tmp_path / "zygote"
    program.write_text(
        f"#!{PYTHON}\nimport socket, sys\ns = socket.socket(fileno=int(sys.argv[2]))\ns.send(b'H\\0')\n"
        "while s.recvmsg(4096, 1024)[0]: s.send(b'P-11')\n"
    )
    program.chmod(0o755)
    zygote = Zygote(str(program), (), {})
    assert zygote.fork((), ())
    wait_until(lambda: zygote.look() or zygote.failure)
    assert zygote.failure == f"it cannot fork: {os.strerror(11)}"
    assert zygote.take() is None
    zygote.retire()
    wait_until(zygote.is_gone)


def test_in_the_child_of_a_fork_the_interpreters_are_the_parents(tmp_path: Path) -> None:
    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            waiting = await runs.ready()
            pid = os.fork()
            if pid == 0:
                os._exit(0 if not runs.scripts.pids else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            assert (await runs.run(runs.write("print('x')"))).warm is True
            assert all(map(_is_alive, waiting[1:]))

    finished(main())


def test_a_shell_that_could_not_be_started_once_is_tried_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shells, shell, now = Shells(), tmp_path / "shell", [0.0]
    monkeypatch.setattr("hookline.handlers.warm.shells.monotonic", lambda: now[0])

    def tried() -> object:
        shells.try_out(str(shell), os.environ["PATH"])
        return shells.environment(str(shell), {}, "/", "/usr/bin/env")

    first = tried()  # as where no process could be started
    assert isinstance(first, Cold)
    assert "could not be tried out" in first.why
    shell.symlink_to("/bin/sh")
    assert tried() == first  # not at once
    now[0] = 6.0
    assert tried() == {"PWD": "/"}


def test_a_shell_that_can_never_be_started_is_not_tried_out_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shells, shell, now = Shells(), tmp_path / "shell", [0.0]
    monkeypatch.setattr("hookline.handlers.warm.shells.monotonic", lambda: now[0])
    for _ in range(20):
        shells.try_out(str(shell), os.environ["PATH"])
        now[0] += 10_000.0
    shell.symlink_to("/bin/sh")
    shells.try_out(str(shell), os.environ["PATH"])
    assert isinstance(shells.environment(str(shell), {}, "/", "/usr/bin/env"), Cold)


def test_shells_are_tried_out_where_a_script_ignores_signals_in_the_background() -> None:
    """A daemon that such a script starts ignores them as well, and so do its hooks."""
    code = (
        "from hookline.handlers.warm.shells import Shells; shells = Shells();"
        "shells.try_out('/bin/sh', '/usr/bin:/bin');"
        "print(shells.environment('/bin/sh', {}, '/', '/usr/bin/env'))"
    )
    line = """trap '' HUP INT QUIT; exec "$0" -c "$1" """
    ran = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, code], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "{'PWD': '/'}\n"


def test_a_shell_that_can_never_be_started_is_not_tried_forever(tmp_path: Path) -> None:
    shells, shell = Shells(), tmp_path / "shell"
    for _ in range(3):
        shells.try_out(str(shell), os.environ["PATH"])
    shell.symlink_to("/bin/sh")
    shells.try_out(str(shell), os.environ["PATH"])
    assert isinstance(shells.environment(str(shell), {}, "/", "/usr/bin/env"), Cold)


def test_shells_are_tried_out_and_their_rules_hold(tmp_path: Path) -> None:
    shells = Shells()
    for shell in ("/bin/sh", "bash"):
        shells.try_out(shell, os.environ["PATH"])
        env = {"PATH": "/usr/bin:/bin", "odd.name": "1", "PWD": "/nowhere", "A": "b c"}
        received = shells.environment(shell, env, str(tmp_path), "/usr/bin/env")
        ran = subprocess.run(
            [shell, "-c", "/usr/bin/env -0"], env=env, cwd=tmp_path, check=True, capture_output=True
        )
        seen = dict(each.split("=", 1) for each in ran.stdout.decode().split("\0") if each)
        assert received == seen, shell
    refused = shells.environment("bash", {"BASH_ENV": "x"}, "/", "/usr/bin/env")
    assert not isinstance(refused, dict)


def test_an_embedding_engine_has_it_when_it_asks_for_it(tmp_path: Path) -> None:
    script = tmp_path / "guard.py"
    script.write_text("import sys; sys.stdin.read(); sys.exit(2)")
    call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
    before = children()

    async def runs_of(warm: bool) -> list[bool | None]:
        async with Engine(handlers=standard_handlers(warm=warm)) as engine:
            hook = engine.make_hook(PRE_TOOL_USE, f"{PYTHON} {script}")
            engine.swap([hook])
            session = engine.session("s")
            while True:
                assert (await session.dispatch(PRE_TOOL_USE, call)).blocked
                seen = [run.warm for run in engine.journal.recent()]
                if True in seen or not warm:
                    return seen
                await asyncio.sleep(0.02)

    assert finished(runs_of(False)) == [None]
    assert finished(runs_of(True))[:2] == [None, None]
    assert children() <= before
