"""The fleet under kill -9 of hosts, workers and the server, judged from three independent records.

As in `tests/durable/kills.py`: accepted is what the tester wrote down, effects are lines of real `sh` hooks, and shown
is what the session's host noted. Also part of `make soak`, at full counts.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.durable.kills import Plan, Players, Seen
from tests.fleet.server import Server, home
from tests.waiting import wait_until

MACHINES = ("alpha", "beta")
_TURNS = ("host", "worker", "settle", "server", "seen", "told", "worker", "host")


class FleetPlayers(Players):
    """A host on the first machine, a worker on each, one server."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        folder.mkdir(parents=True)
        self.server = Server(folder / "server")
        self._machines: dict[int, str] = {}
        self._envs: dict[str, dict[str, str]] = {}
        super().__init__(folder, plan)

    def _configure(self, entry: str) -> None:
        entry = entry.replace("durable = true", 'durable = "fleet"')
        for name in MACHINES:
            self._envs[name] = home(self.folder, name, self.server, entry, lease=self.plan.lease)

    def start(self, role: str) -> subprocess.Popen[bytes]:
        name = MACHINES[0] if role == "host" else role
        env = {**self._envs[name], "PYTHONPATH": os.pathsep.join(sys.path)}
        kind = "host" if role == "host" else "worker"
        words = [sys.executable, "-m", "tests.fleet.player", kind, str(self.folder), self.plan.mutant]
        with (self.folder / f"{role}.err").open("ab") as errors:
            started = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=env
            )
        self._machines[started.pid] = role
        return started

    def machine_of(self, pid: int) -> str:
        return self._machines[pid]

    def workers(self, count: int) -> None:
        """As many as are missing: one a machine."""
        there = {self._machines[each.pid] for each in self._workers}
        self._workers += [self.start(name) for name in MACHINES if name not in there]

    def _one_kill(self, turn: int) -> None:
        half = self.plan.kills // 2
        kind = "wipe" if turn == half else _TURNS[turn % len(_TURNS)]
        if turn == half + 1 and self.plan.kills >= 10:  # it takes longer than a lease
            kind = "stop"
        if kind == "host":
            self.kill_host()
        elif kind == "worker":
            self.kill_worker()
        elif kind in ("server", "wipe"):
            self.server.restart(wiped=kind == "wipe")
            self.kills += 1
        elif kind == "stop":
            self._stop_past_lease()
        else:
            file = self.folder / f"kill-before-{kind}"
            file.touch()
            self.feed([f"{kind}{turn}{each}" for each in range(3)])
            self.died(file.name)

    def _stop_past_lease(self) -> None:
        """One worker is stopped until the other one has begun what it had."""
        victim = self._workers[self._random.randrange(len(self._workers))]
        victim.send_signal(signal.SIGSTOP)
        self.kills += 1
        reruns = len(self.effects_of("start"))
        try:
            wait_until(
                lambda: any(words[3] != "1" for words in self.effects_of("start")[reruns:]),
                4 * self.plan.lease,
            )
        except AssertionError:
            pass  # it had nothing
        victim.send_signal(signal.SIGCONT)

    def close(self) -> None:
        super().close()
        self.server.kill()


def play_fleet(folder: Path, plan: Plan, say: Callable[[str], None] = lambda _line: None) -> Seen:
    players = FleetPlayers(folder, plan)
    players.say = say
    try:
        return players.play()
    finally:
        players.close()


def stopped_worker(folder: Path, mutant: str = "") -> Seen:
    """A worker is stopped after a hook's effect; the other machine takes the job over and settles it; it goes on."""
    players = FleetPlayers(folder, Plan(jobs=1, kills=1, seed=1, mutant=mutant, lease=1.0))
    try:
        (folder / "stop-before-settle").touch()
        players.workers(2)
        players.feed(["1"])
        wait_until((folder / "stopped").exists)
        wait_until(lambda: len(players.effects_of("done")) == 2)
        results = folder / "results"
        results.touch()
        stopped = int((folder / "stopped").read_text())
        if mutant and players.machine_of(stopped) != MACHINES[0]:  # else nobody can bring it home yet
            wait_until(results.read_text)
        os.kill(stopped, signal.SIGCONT)
        players.kills += 1
        if mutant:
            wait_until(lambda: len(results.read_text().split()) >= 2)
        players.finish()
        return players.judge()
    finally:
        players.close()
