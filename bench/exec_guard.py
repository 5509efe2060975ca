"""Measure the exec guard: guarded commands against the same commands without a guard, in one run."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter

from bench.ratios import Timed, ratio
from hookline.agent.tools.shell import Streams, run_in_shell
from hookline.execguard.judge import ExecRules, GuardRow, RuleRow
from hookline.execguard.messages import ExecQuestion, Reply
from hookline.execguard.supervision import CallContext, ExecDecider, GuardedResult, Supervision
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.run import Listeners
from hookline.model.raw import Exited

_FORKS = "import os\nfor _ in range(1000):\n    pid = os.fork()\n    if not pid: os._exit(0)\n    os.waitpid(pid, 0)"
_SECONDS = 60.0


class _Rules(ExecDecider):
    """Rules and guards as a careful user has them."""

    @property
    def rules(self) -> ExecRules:
        guards = ("delete-recursive", "force-push", "history-rewrite", "privilege", "secrets-read")
        return ExecRules(
            deny=(RuleRow("Bash(rm *)"), RuleRow("Bash(curl *)")),
            ask=(RuleRow("Bash(git push *)"),),
            guards=tuple(GuardRow(name) for name in guards),
            project=os.getcwd(),
            home="/home/ada",
            path=os.environ["PATH"],
        )

    async def answer(self, question: ExecQuestion, call: CallContext) -> Reply:
        del call
        return Reply(question.id, False, "nobody is here")


class _Guard:
    """The guard of a workplace, as the agent has it."""

    is_active = True

    def __init__(self, supervision: Supervision) -> None:
        self._supervision = supervision

    async def run(
        self, argv: Sequence[str], command: str, *, env: dict[str, str], cwd: str, timeout: float, run_id: str,
        listeners: Listeners,
    ) -> GuardedResult:  # fmt: skip
        call = CallContext(command)
        return await self._supervision.run(
            argv, env=env, cwd=cwd, timeout=timeout, run_id=run_id, listeners=listeners, call=call
        )


@asynccontextmanager
async def _both(line: str, cwd: str = "/") -> AsyncGenerator[tuple[Timed, Timed]]:
    """Yield the line as the agent's Bash tool runs it, guarded and bare."""
    processes = Processes()
    supervision = Supervision(processes, _Rules())
    guard = _Guard(supervision)

    async def timed(under: _Guard | None) -> float:
        # A model thinks between two commands, and the next supervisor is forked meanwhile.
        await asyncio.sleep(0.06)
        started = perf_counter()
        end = await run_in_shell(
            processes, line, Streams(), env=dict(os.environ), cwd=cwd, timeout=_SECONDS, run_id="bench",
            guard=under,  # pyright: ignore[reportArgumentType] - it has what the tool needs
        )  # fmt: skip
        if not isinstance(end.raw, Exited) or end.raw.code or end.notes:
            raise RuntimeError(f"{line}: {end}")
        return perf_counter() - started

    async def guarded() -> float:
        return await timed(guard)

    async def bare() -> float:
        return await timed(None)

    try:
        for _ in range(2):
            await guarded()
            await bare()
        yield guarded, bare
    finally:
        await processes.close()
        supervision.close()


async def _figure(line: str, rounds: int, cwd: str = "/") -> float:
    async with _both(line, cwd) as (guarded, bare):
        return await ratio(guarded, bare, rounds)


async def two_hundred_execs() -> float:
    """Each has other arguments, so none is judged from memory."""
    return await _figure("for i in $(seq 200); do /bin/true $i; done", 15)


async def a_thousand_forks() -> float:
    return await _figure(f"{sys.executable} -S -c '{_FORKS}'", 9)


async def git_status() -> float:
    """Ten times in one command: the start of a guarded command is a figure of its own."""
    git = shutil.which("git") or "git"
    with tempfile.TemporaryDirectory() as directory:
        for number in range(2000):
            Path(directory, str(number)).write_text(str(number))
        subprocess.run([git, "init", "-q", directory], check=True)
        subprocess.run([git, "-C", directory, "add", "-A"], check=True)
        line = "for i in 1 2 3 4 5 6 7 8 9 10; do git status >/dev/null; done"
        return await _figure(line, 15, directory)


async def true() -> float:
    return await _figure("true", 61)
