"""Run a process of `kills`: a host that fires events and notes its session's wakes, or a worker for the rest.

It can die, or stop, at the worst times: after the effect of a hook and before the job is settled, and after a wake
was delivered and before it is acknowledged.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from hookline import Engine
from hookline.engine.session import Session
from hookline.events import POST_TOOL_USE
from hookline.jobs.file import DurableFile
from hookline.jobs.port import Lease, Settled, Wake
from hookline.model.payloads import ToolResult

SESSION = "the session"


class Queue(DurableFile):
    """The real queue, in a process that ends or stops before it settles the given job."""

    def __init__(self, directory: Path, mutant: str) -> None:
        lease, grace = (float(os.environ[f"PLAYER_{name}"]) for name in ("LEASE", "GRACE"))
        super().__init__(str(directory / "state" / "jobs.sqlite"), lease=lease, grace=grace)
        self._directory = directory
        self._mutant = mutant

    def settle(self, lease: Lease, wakes: Sequence[Wake], why: str = "") -> Settled:
        end_before_settle(self._directory, lease)
        if self._mutant == "settles again":
            # Without the check of the lease, and with wakes that are new for each.
            return self._settle_anyway(lease, wakes)
        return super().settle(lease, wakes, why)

    def _settle_anyway(self, lease: Lease, wakes: Sequence[Wake]) -> Settled:
        def settle(connection: Any) -> Settled:
            connection.execute("DELETE FROM job WHERE id = ?", (lease.job.id,))
            for wake in wakes:
                row = f"{wake.id}-{lease.epoch}", wake.session, wake.body
                connection.execute("INSERT INTO wake (id, session, body, at) VALUES (?, ?, ?, 0)", row)
            return "settled"

        return self._write(settle)


def taken(file: Path) -> bool:
    """Return True if the word was there: one process takes it."""
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    return True


def end_before_settle(directory: Path, lease: Lease) -> None:
    """The effect of the hook is there. If so asked, this process is killed, or stopped and says with which job."""
    if taken(directory / "kill-before-settle"):
        os.kill(os.getpid(), signal.SIGKILL)
    if taken(directory / "stop-before-settle"):
        append(directory / "stopped", f"{os.getpid()} {lease.job.id}")
        os.kill(os.getpid(), signal.SIGSTOP)


def append(file: Path, line: str) -> None:
    with file.open("a") as opened:
        opened.write(line + "\n")


async def host(directory: Path, engine: Engine, mutant: str) -> None:
    """Fire an event for each number on stdin, report when it was accepted, and note the session's wakes."""
    session = engine.session(SESSION, cwd=directory)
    session.inbox.owner_acknowledges = True
    shown = directory / "shown"
    before = [line.split()[0] for line in shown.read_text().splitlines()] if shown.exists() else []
    engine.jobs.wakes.join(session, () if mutant == "forgets" else before)
    listening = asyncio.ensure_future(listen(directory, session, shown, mutant))
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while number := (await reader.readline()).decode().strip():
        result = ToolResult(tool_name="Bash", tool_input={"command": number}, tool_response={})
        await session.dispatch(POST_TOOL_USE, result)
        os.write(1, f"{number}\n".encode())
        await asyncio.sleep(0)
    while engine.jobs.queue.open_jobs(SESSION) or (
        engine.jobs.queue.wakes(SESSION) and mutant != "settles again"
    ):
        await asyncio.sleep(0.05)
    listening.cancel()
    if mutant == "settles again":
        for wake in engine.jobs.queue.wakes(SESSION):
            append(shown, f"{wake.id} wake {msgspec.json.decode(wake.body)['text']}")


async def listen(directory: Path, session: Session, shown: Path, mutant: str) -> None:
    while True:
        late = await session.inbox.get()
        if mutant == "settles again":
            continue  # it gets what the queue has, below
        append(shown, f"{late.wake_id} {late.kind} {late.text}")
        if taken(directory / "kill-before-seen"):
            os.kill(os.getpid(), signal.SIGKILL)
        if session.inbox.acknowledge is not None:
            session.inbox.acknowledge(late.wake_id)


async def main(role: str, directory: Path, mutant: str) -> None:
    async with Engine(durable=Queue(directory, mutant), drain_seconds=0.2) as engine:
        engine.jobs.adopt_seconds = 0.1
        if role == "host":
            engine.load(directory)
            await host(directory, engine, mutant)
        else:
            engine.jobs.adopt()
            os.write(1, b"ready\n")
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""))
