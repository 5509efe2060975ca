"""The fleet under kill -9 of hosts, workers and the server, judged from three independent records.

As in `tests/jobs/kills.py`: accepted is what the tester wrote down, effects are lines of real `sh` hooks, and shown
is what the session's host noted. Also part of `make soak`, at full counts.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tests.jobs.kills import Plan, Players, Say, Seen
from tests.team.fleet.server import Server, home
from tests.waiting import wait_until

MACHINES = ("alpha", "beta")
_TURNS = ("host", "worker", "settle", "server", "seen", "told", "worker", "host")


def turns(kills: int) -> Sequence[str]:
    """So many kills of hosts, workers and the server; in the middle its disk is wiped, and a worker is stopped, too."""
    usual, half = (_TURNS * kills)[:kills], kills // 2
    return (*usual[:half], "wipe", "stop", *usual[half + 1 :])


class FleetPlayers(Players):
    """A host on the first machine, a worker on each, one server."""

    def __init__(self, directory: Path, plan: Plan, say: Say = lambda _line: None) -> None:
        directory.mkdir(parents=True)
        self.server = Server(directory / "server")
        self._machines: dict[int, str] = {}
        self._envs: dict[str, dict[str, str]] = {}
        super().__init__(directory, plan, say)

    def _configure(self, entry: str) -> None:
        entry = entry.replace("durable = true", 'durable = "fleet"')
        for name in MACHINES:
            self._envs[name] = home(self.directory, name, self.server, entry, lease=self.plan.lease)

    def start(self, role: str) -> subprocess.Popen[bytes]:
        name = MACHINES[0] if role == "host" else role
        started = self._start("tests.team.fleet.player", role, self._envs[name])
        self._machines[started.pid] = role
        return started

    def machine_of(self, pid: int) -> str:
        return self._machines[pid]

    def workers(self, count: int) -> None:
        """As many as are missing: one a machine."""
        there = {self._machines[each.pid] for each in self._workers}
        self._workers += [self.start(name) for name in MACHINES if name not in there]

    def _one_turn(self, turn: int, kind: str) -> None:
        if kind in ("server", "wipe"):
            self.server.restart(wiped=kind == "wipe")
            self.kills += 1
        elif kind == "stop":
            os.kill(self.stop([f"{kind}{turn}"]), signal.SIGCONT)
        else:
            super()._one_turn(turn, kind)

    def close(self) -> None:
        super().close()
        self.server.kill()


def stopped_worker(directory: Path, mutant: str = "") -> Seen:
    """Stop a worker after a hook's effect; the other machine takes the job over and settles it; then it continues."""
    with closing(FleetPlayers(directory, Plan(jobs=1, turns=(), mutant=mutant, lease=1.5))) as players:
        results = directory / "results"
        results.touch()
        players.workers(2)
        stopped = players.stop(["1"])
        if mutant and players.machine_of(stopped) != MACHINES[0]:  # else no machine can bring it home yet
            wait_until(results.read_text)
        os.kill(stopped, signal.SIGCONT)
        if mutant:
            wait_until(lambda: len(results.read_text().split()) >= 2)
        players.finish()
        return players.judge()
