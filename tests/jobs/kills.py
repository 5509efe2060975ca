"""Durable hooks under kill -9, judged from three independent records.

The tester writes which jobs were accepted; the effects are lines that real `sh` hooks append; and the delivered
wakes are those that the session's host noted before it acknowledged them. Also part of `make soak`, at full counts.
"""

import os
import random
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from hookline.jobs.port import MAX_ATTEMPTS
from tests.waiting import wait_until

SLOTS = 8
_TURNS = ("host", "worker", "settle", "host", "seen")
_HOOK = r"""
read -r line
n=${line##*\"command\":\"}; n=${n%%\"*}
exec 9>"$locks/$n"
flock -n 9 || echo "overlap $n $HOOKLINE_JOB_ID $HOOKLINE_ATTEMPT" >> "$effects"
echo "start $n $HOOKLINE_JOB_ID $HOOKLINE_ATTEMPT $HOOKLINE_EVENT_ID" >> "$effects"
[ "$slow" = 0 ] || sleep "$slow"
echo "done $n $HOOKLINE_JOB_ID $HOOKLINE_ATTEMPT" >> "$effects"
echo "$n" >&2
exit 2
"""


Say = Callable[[str], None]
_BURIED = re.compile(r"was not run to its end: the process that ran it ended (\d+) times")


class Plan(NamedTuple):
    """The number of events, and the processes to kill meanwhile, one after another."""

    jobs: int
    turns: Sequence[str]
    seed: int = 19
    mutant: str = ""
    lease: float = 10.0
    #: Seconds after which the job of a process that died is begun again.
    grace: float = 1.0
    slow: float = 0.0
    order: bool = False


def turns(kills: int) -> Sequence[str]:
    """Plan so many kills: of hosts and workers at any time, and at the worst times."""
    return (_TURNS * kills)[:kills]


class Seen(NamedTuple):
    """The contents of the records."""

    accepted: int
    lost: int
    told_twice: int
    reruns: int
    overlaps: int
    out_of_order: int
    kills: int
    #: Jobs that became dead letters because their processes were killed too often, as it was said: not lost.
    buried: int = 0
    #: Told of something that never was accepted, or of another end than that of the hook.
    odd: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Say nothing of overlaps: a machine of a fleet that is silent for longer than its lease may cause one."""
        bad = self.lost + self.told_twice + self.out_of_order + len(self.odd)
        return (
            not bad
            and self.reruns <= self.kills * SLOTS
            and self.buried <= self.kills // MAX_ATTEMPTS * SLOTS
        )


class Players:
    """The tester: it starts processes, feeds the host, and kills."""

    def __init__(self, directory: Path, plan: Plan, say: Say = lambda _line: None) -> None:
        self.directory = directory
        self.plan = plan
        #: Hears from time to time how far it is.
        self._say = say
        self.accepted: list[str] = []
        #: Numbers that the host got. One that it did not confirm before it was killed may have been accepted, or not.
        self.fed: list[str] = []
        self.kills = 0
        self._random = random.Random(plan.seed)
        self._workers: list[subprocess.Popen[bytes]] = []
        self._host: subprocess.Popen[bytes] | None = None
        self.effects = directory / "effects"
        self._prepare()

    def _prepare(self) -> None:
        (self.directory / "locks").mkdir(parents=True)
        script = self.directory / "hook.sh"
        places = {"effects": self.effects, "locks": self.directory / "locks", "slow": f"{self.plan.slow:g}"}
        settings = "\n".join(f"{name}={shlex.quote(str(value))}" for name, value in places.items())
        script.write_text(f"{settings}\n{_HOOK}")
        order = 'order = "session"\n' if self.plan.order else ""
        self._configure(
            "[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\n"
            f'type = "command"\ncommand = "sh {script}"\nasyncRewake = true\ndurable = true\n{order}'
        )
        self.effects.touch()

    def _configure(self, entry: str) -> None:
        config = self.directory / "home" / ".config" / "hookline" / "hooks.toml"
        config.parent.mkdir(parents=True)
        config.write_text(entry)

    def start(self, role: str) -> subprocess.Popen[bytes]:
        home = str(self.directory / "home")
        env = {
            "HOME": home, "XDG_STATE_HOME": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/.config",
            "PLAYER_LEASE": f"{self.plan.lease:g}", "PLAYER_GRACE": f"{self.plan.grace:g}",
        }  # fmt: skip
        return self._start("tests.jobs.player", role, env)

    def _start(self, module: str, role: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", module, role, str(self.directory), self.plan.mutant]
        env = {**env, "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        with (self.directory / f"{role}.err").open("ab") as errors:
            return subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=env
            )

    @property
    def host(self) -> subprocess.Popen[bytes]:
        if self._host is None:
            self._host = self.start("host")
        return self._host

    def workers(self, count: int) -> None:
        self._workers += [self.start("worker") for _ in range(count)]

    def feed(self, numbers: list[str]) -> None:
        """Let the host fire events, and write down which of them it accepted. It may be killed meanwhile."""
        host = self.host
        assert host.stdin is not None
        assert host.stdout is not None
        self.fed += numbers
        try:
            host.stdin.write("".join(f"{number}\n" for number in numbers).encode())
            host.stdin.flush()
        except BrokenPipeError:
            return
        for _ in numbers:
            line = host.stdout.readline()
            if not line:
                return
            self.accepted.append(line.decode().strip())

    def kill_host(self) -> None:
        host, self._host = self.host, None
        self._kill(host)
        if host.stdout is not None:
            self.accepted += host.stdout.read().decode().split()
        _close_pipes(host)

    def kill_worker(self) -> None:
        worker = self._workers.pop(self._random.randrange(len(self._workers)))
        self._kill(worker)
        _close_pipes(worker)
        self.workers(1)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        self.kills += 1

    def died(self, file: str) -> None:
        """Wait until one of them has killed itself at that point, and start another one instead."""
        wait_until(lambda: not (self.directory / file).exists() or self._dead())
        wait_until(self._dead)
        if self._host is not None and self._host.poll() is not None:
            self.kill_host()
        for worker in [each for each in self._workers if each.poll() is not None]:
            self._workers.remove(worker)
            _close_pipes(worker)
            self.kills += 1
            self.workers(1)

    def _dead(self) -> bool:
        others = [*self._workers, *([self._host] if self._host is not None else [])]
        return any(each.poll() is not None for each in others)

    def effects_of(self, word: str) -> list[list[str]]:
        return [line.split() for line in self.effects.read_text().splitlines() if line.startswith(word)]

    def play(self) -> Seen:
        """Events and kills in turns; at last everything comes to its end."""
        plan = self.plan
        numbers = [f"{number:06}" for number in range(plan.jobs)]
        self.workers(1)
        share = plan.jobs // (len(plan.turns) + 1)
        for turn, kind in enumerate(plan.turns):
            self.feed(numbers[turn * share : (turn + 1) * share])
            before = len(self.effects_of("start"))
            wanted = before + self._random.randrange(1, max(2, share // 2))
            self._begun(min(wanted, len(self.accepted)))
            self._one_turn(turn, kind)
            if turn % 10 == 9:
                done = len(self.effects_of("done"))
                self._say(f"{self.kills} kills, {len(self.accepted)} accepted, {done} done")
        self.feed(numbers[len(plan.turns) * share :])
        self.finish()
        return self.judge()

    def _begun(self, count: int) -> None:
        wait_until(lambda: len(self.effects_of("start")) >= count)

    def _one_turn(self, turn: int, kind: str) -> None:
        if kind == "host":
            self.kill_host()
        elif kind == "worker":
            self.kill_worker()
        else:
            file = self.directory / f"kill-before-{kind}"
            file.touch()
            self.feed([f"{kind}{turn}{each}" for each in range(3)])
            self.died(file.name)

    def stop(self, numbers: list[str]) -> int:
        """Let a process be stopped after the effect of a hook, until another one has run that again. Its number."""
        (self.directory / "stop-before-settle").touch()
        self.feed(numbers)
        stopped = self.directory / "stopped"
        wait_until(lambda: stopped.exists() and stopped.read_text().endswith("\n"))
        pid, job = stopped.read_text().split()
        stopped.unlink()
        self.kills += 1
        wait_until(lambda: sum(words[2] == job for words in self.effects_of("done")) >= 2)
        return int(pid)

    def finish(self) -> None:
        host = self.host
        assert host.stdin is not None
        assert host.stdout is not None
        host.stdin.close()
        self.accepted += host.stdout.read().decode().split()
        assert host.wait() == 0, (self.directory / "host.err").read_text()[-2000:]

    def close(self) -> None:
        for each in [*self._workers, *([self._host] if self._host is not None else [])]:
            each.send_signal(signal.SIGCONT)
            each.kill()
            each.wait()
            _close_pipes(each)

    def judge(self) -> Seen:
        shown = [line.split() for line in (self.directory / "shown").read_text().splitlines()]
        delivered = Counter(words[2] for words in shown if words[1] == "wake")
        started, done = self.effects_of("start"), self.effects_of("done")
        ended = {words[1] for words in done}
        known, fed, ids = Counter(self.accepted), set(self.fed), {words[1]: words[2] for words in started}
        buried = self._buried(shown)
        lost = [
            number
            for number in self.accepted
            if (number not in ended or number not in delivered) and ids.get(number) not in buried
        ]
        odd = [
            *(
                " ".join(words)
                for words in shown
                if (words[1] != "wake" or words[2] not in fed) and words[0].split(".")[0] not in buried
            ),
            *(f"accepted twice: {number}" for number, count in known.items() if count > 1),
            *(f"another id: {words}" for words in started if ids[words[1]] != words[2]),
        ]
        place = {number: at for at, number in enumerate(self.fed)}
        first = [place[words[1]] for words in started if words[3] == "1"]
        return Seen(
            accepted=len(self.accepted),
            lost=len(lost),
            told_twice=sum(count - 1 for count in delivered.values()),
            reruns=len(started) - len({words[1] for words in started}),
            overlaps=len(self.effects_of("overlap")),
            out_of_order=sum(one > two for one, two in pairwise(first)) if self.plan.order else 0,
            kills=self.kills,
            buried=len(buried),
            odd=tuple(odd[:5]),
        )

    def _buried(self, shown: Sequence[Sequence[str]]) -> set[str]:
        """Return the jobs of which it was said that their processes ended too often, as often as can be."""
        found: set[str] = set()
        for words in shown:
            said = _BURIED.search(" ".join(words[2:]))
            if words[1] == "wake" and said is not None and MAX_ATTEMPTS <= int(said[1]) <= self.kills:
                found.add(words[0].split(".")[0])
        return found


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                pass  # what it was fed and never read


def play(directory: Path, plan: Plan, say: Say = lambda _line: None, kind: type[Players] = Players) -> Seen:
    with closing(kind(directory, plan, say)) as players:
        return players.play()


def both(info: Callable[[Path, str], Seen], directory: Path, mutant: str) -> tuple[Seen, Seen]:
    """Play a case, and at the same time the same with a fault that it must find."""
    with ThreadPoolExecutor() as threads:
        as_it_is = threads.submit(info, directory / "x", "")
        faulty = threads.submit(info, directory / "mutant", mutant)
        return as_it_is.result(), faulty.result()


def killed_before_seen(directory: Path, mutant: str = "") -> Seen:
    """Kill a host after it noted a wake, and before it acknowledged it. Another one continues the session."""
    with closing(Players(directory, Plan(jobs=3, turns=(), mutant=mutant, grace=0.2))) as players:
        (directory / "kill-before-seen").touch()
        players.workers(1)
        players.feed(["1", "2", "3"])
        players.died("kill-before-seen")
        players.finish()
        return players.judge()


def stopped_past_lease(directory: Path, mutant: str = "") -> Seen:
    """Stop a host before it settles a job; another process takes it over and settles it; the host continues."""
    with closing(Players(directory, Plan(jobs=1, turns=(), mutant=mutant, lease=1.0, grace=0.2))) as players:
        players.workers(1)
        pid = players.stop(["1"])
        wait_until(lambda: _settled(directory))
        os.kill(pid, signal.SIGCONT)
        players.finish()
        return players.judge()


def _settled(directory: Path) -> bool:
    connection = sqlite3.connect(directory / "state" / "jobs.sqlite")
    try:
        return connection.execute("SELECT count(*) FROM wake").fetchone() == (1,)
    finally:
        connection.close()
