"""A guarded command: denied by every spelling, asked about, ended, and otherwise as without a guard."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hookline import Engine
from hookline.engine.host.tool import ApprovalRequest
from hookline.events import EXEC_START, PRE_TOOL_USE, ExecStarted
from hookline.execguard.guard import ExecGuard
from hookline.guards import guard as builtin_guard
from hookline.model.outcome import Outcome, deny
from hookline.model.raw import Failed
from tests.agent.tools.tool_runner import alive
from tests.execguard.guarded import guarded, needs_verify, run
from tests.waiting import until

pytestmark = needs_verify
RULE = ["Bash(forbidden *)"]


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in PATH with `forbidden`, a binary that makes the file it is given."""
    made = tmp_path / "bin"
    made.mkdir()
    shutil.copy("/usr/bin/touch", made / "forbidden")
    monkeypatch.setenv("PATH", f"{made}:{os.environ['PATH']}")
    return made


#: Each makes the file `mark` by `forbidden` in its own way, if nothing stops it.
HELD = {
    "plainly": "forbidden mark",
    "by its path": "$B/forbidden mark",
    "through env": "env -i $B/forbidden mark",
    "under another name": "(exec -a harmless $B/forbidden mark)",
    "by a symbolic link": "ln -s $B/forbidden l; ./l mark",
    "by a hard link": "ln $B/forbidden l; ./l mark",
    "as an exact copy": "cp $B/forbidden c; ./c mark",
    "as a copy in a file that was another program": (
        f"old() {{ {sys.executable} -c 'import os; os.utime(\"c\", (1, 1))'; }};"
        " truncate -s $(stat -c %s $B/forbidden) c; chmod +x c; old; ./c; cat $B/forbidden > c; old; ./c mark"
    ),
    "by the loader": "$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null) $B/forbidden mark",
    "as an interpreter": "printf '#!'$B'/forbidden\\n' > s; chmod +x s; ./s; test -e mark",
    "from a shell on stdin": "echo forbidden mark | sh",
    "from code": f'{sys.executable} -c \'import os; os.execv("{{B}}/forbidden", ["x", "mark"])\'',
    "from a file in memory": (
        f'{sys.executable} -c \'import os; f=os.memfd_create("m"); os.write(f, open("{{B}}/forbidden","rb").read());'
        ' os.execve(f, ["x", "mark"], {})\''
    ),
    "by an open descriptor": (
        f'{sys.executable} -c \'import os; os.execve(os.open("{{B}}/forbidden", 0), ["x", "mark"], {{{{}}}})\''
    ),
    "from find": "find . -maxdepth 0 -exec forbidden mark ';'",
    "from xargs": "echo mark | xargs forbidden",
    "from make": "printf 'all:\\n\\t@forbidden mark\\n' | make -f -",
    "from an alias of git": "git -c alias.x='!forbidden mark' x",
    "below strace": "strace -f -o /dev/null forbidden mark",
    "below valgrind": "valgrind -q --trace-children=yes sh -c 'forbidden mark'",
    "from gdb": "gdb -nx -batch -ex run --args forbidden mark",
    "from a variable": "x=forb; y=idden; $x$y mark",
    "in the background": "forbidden mark & wait",
    "in a session of its own": "setsid -w forbidden mark",
}


@pytest.mark.parametrize("way", HELD)
def test_no_spelling_reaches_a_denied_program(way: str, tmp_path: Path, bin_dir: Path) -> None:
    line = HELD[way].replace("$B", str(bin_dir)).replace("{B}", str(bin_dir)).replace("{{}}", "{}")
    for needed in ("strace", "make", "git", "gdb", "valgrind"):
        if f"{needed} -" in line and shutil.which(needed) is None:
            pytest.skip(f"{needed} is not here")

    done = run(tmp_path, line, deny=RULE)

    assert not (tmp_path / "mark").exists()
    assert done.denied
    assert done.denied[0].rule == RULE[0]
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=False, capture_output=True)
    if way != "as an interpreter":
        assert (tmp_path / "mark").exists(), "the line does nothing without the guard either"


#: What the page says that it does not stop. A test that fails here is good news: change the page.
ESCAPES = {
    "a copy with one byte more": "cp $B/forbidden c; echo x >> c; ./c mark",
    "another program that does the same": "cp /dev/null mark",
    "code that does the same itself": f'{sys.executable} -c \'open("mark", "w")\'',
    "the shell itself": "> mark",
}


@pytest.mark.parametrize("way", ESCAPES)
def test_the_list_of_what_escapes_is_honest(way: str, tmp_path: Path, bin_dir: Path) -> None:
    done = run(tmp_path, ESCAPES[way].replace("$B", str(bin_dir)), deny=RULE)

    assert (tmp_path / "mark").exists()
    assert not done.denied


def test_a_denial_is_an_error_for_the_program_and_a_reason_for_the_caller(
    tmp_path: Path, bin_dir: Path
) -> None:
    done = run(tmp_path, "forbidden x; echo $?; forbidden x; exit 7", deny=RULE)

    assert done.code == 7
    assert getattr(done.raw, "stdout", b"") == b"126\n"
    assert len(done.notes) == 1
    assert "`forbidden x` was denied by the rule Bash(forbidden *)" in done.notes[0]


def test_guards_by_meaning_judge_what_a_script_runs(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "clean.sh").write_text("x=r; ${x}m -rf build\n")

    def prepare(engine: Engine) -> None:
        engine.add(PRE_TOOL_USE, builtin_guard("delete-recursive"))

    done = run(tmp_path, "sh clean.sh", prepare=prepare)

    assert (tmp_path / "build").exists()
    assert [one.rule for one in done.denied] == ["delete-recursive"]


def test_denials_are_in_the_journal(tmp_path: Path, bin_dir: Path) -> None:
    async def work(guard: ExecGuard, engine: Engine) -> list[tuple[str, str | None]]:
        await guard.run(["sh", "-c", "forbidden x"])
        return [(run.event, run.decision) for run in engine.journal.recent()]

    assert guarded(tmp_path, work, deny=RULE) == [("ExecStart", "deny")]


def test_each_exec_waits_for_its_own_answer(tmp_path: Path, bin_dir: Path) -> None:
    order: list[str] = []

    async def approve(question: ApprovalRequest) -> bool:
        order.append(question.tool_input["command"])
        return question.tool_input["command"].endswith("second")

    done = run(tmp_path, "forbidden first & forbidden second & wait", approve=approve, ask=RULE)

    assert sorted(order) == ["forbidden first", "forbidden second"]
    assert not (tmp_path / "first").exists()
    assert (tmp_path / "second").exists()
    assert [one.what for one in done.denied] == ["forbidden first"]


def test_the_clock_stands_still_while_a_user_is_asked(tmp_path: Path, bin_dir: Path) -> None:
    async def approve(_question: ApprovalRequest) -> bool:
        await asyncio.sleep(1.0)
        return True

    done = run(tmp_path, "forbidden mark", approve=approve, ask=RULE, timeout=0.8)

    assert done.code == 0
    assert (tmp_path / "mark").exists()


def test_without_a_user_a_question_is_a_denial(tmp_path: Path, bin_dir: Path) -> None:
    done = run(tmp_path, "forbidden mark", ask=RULE)

    assert not (tmp_path / "mark").exists()
    assert "needs approval" in done.notes[0]


def test_hooks_of_exec_start_see_and_stop_programs(tmp_path: Path) -> None:
    seen: list[ExecStarted] = []

    def stop(event: ExecStarted) -> Outcome:
        seen.append(event)
        return deny("no files today")

    def prepare(engine: Engine) -> None:
        engine.add(EXEC_START, stop, "touch")

    done = run(tmp_path, "ls >/dev/null; touch mark", prepare=prepare)

    assert [(one.program, one.argv, one.directory) for one in seen] == [
        ("touch", ("touch", "mark"), str(tmp_path))
    ]
    assert seen[0].command.endswith("touch mark'")
    assert not (tmp_path / "mark").exists()
    assert done.denied[0].reason == "no files today"


def test_questions_are_answered_out_of_order(tmp_path: Path) -> None:
    second = asyncio.Event()
    order: list[str] = []

    async def wait(event: ExecStarted) -> None:
        if event.argv[1] == "first":
            await second.wait()
        order.append(event.argv[1])
        second.set()

    def prepare(engine: Engine) -> None:
        engine.add(EXEC_START, wait, "touch")

    done = run(tmp_path, "touch first & sleep 0.1; touch second; wait", prepare=prepare)

    assert done.code == 0
    assert order == ["second", "first"]
    assert (tmp_path / "first").exists()


def test_a_hook_of_exec_start_needs_a_matcher(tmp_path: Path) -> None:
    def prepare(engine: Engine) -> None:
        engine.add(EXEC_START, always)

    def always(_event: ExecStarted) -> None:
        """Do nothing."""

    with pytest.raises(TypeError, match="matcher"):
        run(tmp_path, "true", prepare=prepare)


def test_a_loop_of_denials_ends(tmp_path: Path, bin_dir: Path) -> None:
    done = run(tmp_path, "while :; do forbidden x; done 2>/dev/null", deny=RULE, most_denials=20)

    assert isinstance(done.raw, Failed)
    assert "after 20 denied programs" in done.notes[-1]


def test_without_its_supervisor_nothing_more_is_executed(tmp_path: Path) -> None:
    line = "echo $PPID > pid; while ! test -e go; do read -t 0.05 x <> <(:); done; ls > ran"

    async def work(guard: ExecGuard, _engine: Engine) -> bool:
        running = asyncio.ensure_future(guard.run(["bash", "-c", "trap '' HUP TERM; " + line], timeout=20))
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        (tmp_path / "go").touch()
        done = await running
        return isinstance(done.raw, Failed)

    assert guarded(tmp_path, work)
    assert not (tmp_path / "ran").exists() or not (tmp_path / "ran").read_text()


def test_a_guard_inside_a_guarded_command_says_that_it_cannot_be(tmp_path: Path) -> None:
    code = "from hookline.execguard.probe import capabilities as c; print(c().level, c().why)"

    done = run(tmp_path, [sys.executable, "-c", code])

    assert getattr(done.raw, "stdout", b"").decode().strip() == (
        "none another supervisor watches this process already (it runs inside a guarded command)"
    )


def test_what_a_command_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    done = run(tmp_path, "sleep 100 & echo $! > pid; exit 3")

    assert done.code == 3
    assert not alive(int((tmp_path / "pid").read_text()))


def test_signals_and_statuses_are_those_of_the_command(tmp_path: Path) -> None:
    killed = run(tmp_path, "kill -SEGV $$").raw
    late = run(tmp_path, "sleep 60", timeout=0.3).raw

    assert isinstance(killed, Failed)
    assert killed.signal == signal.SIGSEGV
    assert isinstance(late, Failed)
    assert late.cause == "timed_out"
    assert run(tmp_path, ["no-such-program-here"]).raw.__class__ is Failed
    assert getattr(run(tmp_path, "cat", stdin=b"in").raw, "stdout", b"") == b"in"


def test_many_threads_spawn_and_a_thread_that_does_not_lead_executes(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys, threading
def many():
    for _ in range(5): subprocess.run(["true"], check=True)
threads = [threading.Thread(target=many) for _ in range(16)]
[one.start() for one in threads]; [one.join() for one in threads]
print("spawned", flush=True)
threading.Thread(target=lambda: os.execvp("echo", ["echo", "executed"])).start()
import time; time.sleep(60)
"""
    done = run(tmp_path, [sys.executable, "-c", code])

    assert getattr(done.raw, "stdout", b"") == b"spawned\nexecuted\n"
    assert done.execs >= 82


def test_a_debugger_works_inside_and_the_report_says_so(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")

    done = run(tmp_path, "strace -f -qq -e trace=execve -o trace sh -c 'ls / >/dev/null'; exit $?")

    assert done.code == 0
    assert "execve" in (tmp_path / "trace").read_text()
    assert done.unverified
    assert "not verified" in done.notes[-1]


#: Everyday work with the same output and status as without a guard.
EVERYDAY = (
    "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=%s",
    "git status --short --branch",
    f"{sys.executable} --version",
    f"{sys.executable} -m pip --version",
    "npm --version",
    "printf 'all:\\n\\t@echo made\\n' | make --no-print-directory -f - 2>&1",
    "find . -name '*.txt' | xargs -r wc -l; ls -la / | head -1",
    "for i in 1 2 3; do echo $i | tr 1 x; done; seq 3 | sort -r",
    "no-such-program; echo $?",
    "sh -c 'exit 5'",
)


@pytest.mark.parametrize("line", EVERYDAY)
def test_everyday_work_is_as_without_a_guard(line: str, tmp_path: Path) -> None:
    bare, under = tmp_path / "bare", tmp_path / "under"
    bare.mkdir()
    under.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=bare, check=True)
    subprocess.run(["git", "init", "-q", "."], cwd=under, check=True)
    expected = subprocess.run(["bash", "-c", line], cwd=bare, capture_output=True, check=False)

    done = run(under, line, deny=RULE)

    raw = done.raw
    assert (done.code, getattr(raw, "stdout", b""), done.denied) == (expected.returncode, expected.stdout, ())
