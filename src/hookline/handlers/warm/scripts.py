"""Run Python hooks in processes that were forked ahead, at a tenth of the cost and with the same result.

An interpreter is started ahead when a command has been run a few times; from then on runs take a waiting
process, and another one is forked instead. Where none waits, or anything is unusual, the command is started
in the ordinary way: warm scripts have no errors of their own.
"""

import os
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import RLock
from time import monotonic
from typing import Final, Literal

from msgspec import Struct

from hookline.handlers.process.early_status import EarlyStatus
from hookline.handlers.process.spawn import Child, Mark, Pipes, Started
from hookline.handlers.warm.commands import Cold, WarmScript, find_script, unknown_setting
from hookline.handlers.warm.interpreters import Key, inherited, interpreter, start_variables
from hookline.handlers.warm.preloads import may_be_preloaded
from hookline.handlers.warm.shells import Shells, signal_message
from hookline.handlers.warm.zygotes import LONGEST_JOB, WaitingProcess, Zygote, end_all, reap

_MACHINES: Final = ("x86_64", "aarch64", "riscv64")
#: Seconds until a zygote that failed is tried again, doubled each time.
_FIRST_PAUSE: Final = 5.0
_LONGEST_PAUSE: Final = 3600.0
_IDLE_SECONDS: Final = 900.0
_MOST_KEYS: Final = 256
_MOST_PRELOADS: Final = 400
_MOST_SCRIPTS: Final = 8
_SAFE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def unavailable() -> str | None:
    """Return why nothing can run warm on this system, or None."""
    if sys.platform != "linux":
        return f"{platform.system()} has no way to fork a process on behalf of another"
    if not hasattr(os, "pidfd_open") or os.uname().machine not in _MACHINES:
        return f"warm scripts are not known to work on {os.uname().machine}"
    return None if os.path.exists("/proc/thread-self/status") else "/proc is not mounted"


def never_warm(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> str | None:
    """Return why a command can never run warm, as far as that is known without starting anything; None if it may."""
    script = find_script(argv, env, cwd)
    if isinstance(script, Cold):
        return script.why
    found = unknown_setting(env) or interpreter(script)
    return found.why if isinstance(found, Cold) else None


class WarmScripts:
    """Interpreters started ahead. One may serve many `Processes`, also on several threads.

    `children` processes wait per interpreter, of at most `interpreters`; a command is run `after` times
    before its interpreter is started ahead.
    """

    def __init__(self, *, children: int = 2, interpreters: int = 6, after: int = 2) -> None:
        self.children = children
        self.interpreters = interpreters
        self.after = after
        self.unavailable = unavailable()
        #: While True, everything is started in the ordinary way.
        self.paused = False
        #: The number of runs that were warm, that found no process, and that the real interpreter took over,
        #: by reason.
        self.runs: Counter[str] = Counter()
        self._lock = RLock()
        self._pools: dict[Key, _Pool] = {}
        self._variables: dict[Key, frozenset[str]] = {}
        self._shells = Shells()
        self._untried: dict[str, str] = {}
        self._retired: list[Zygote] = []
        self._spoilt: set[int] = set()
        self._under_way: dict[EarlyStatus, _Pool] = {}

    # Called by runs

    def why_cold(self, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> str | None:
        """Return why a command never runs warm; None if it may. Reads the program that it names."""
        if self.unavailable is not None:
            return self.unavailable
        with self._lock:
            self._prepared(argv, env, cwd)
            self._try_shells()
            found = self._prepared(argv, env, cwd)
            if isinstance(found, Cold):
                return found.why
            pool = self._pools.get(found.key)
            return pool.refusal if pool is not None else None

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        keeps: Sequence[int] = (),
        mark: Mark | None = None,
    ) -> Started | Literal["missed", "cold"]:
        """Start a run; return "missed" where only a waiting process was lacking, else "cold"."""
        if self.unavailable is not None or self.paused:
            return "cold"
        with self._lock:
            try:
                found = self._prepared(argv, env, cwd)
            except (OSError, ValueError):
                return "cold"  # the ordinary start reports the error
            if isinstance(found, Cold):
                return "cold"
            pool = self._pool(found)
            waiting = self._take(pool, found)
            if waiting is not None:
                waits = found.script.waits and found.script.shell is not None
                waits = waits and self._shells.waits(found.script.shell or "")
                begun = _give(waiting, found, cwd, keeps, mark or Mark(), waits=waits)
                if begun is not None and begun.early is not None:
                    self.runs["warm"] += 1
                    self._under_way[begun.early] = pool
                    return begun
                self._discard(waiting)
            missed = "missed" if pool.is_up else "cold"
            self.runs[missed] += 1
            return missed

    def ended(self, early: EarlyStatus) -> None:
        """Learn from a run which modules it needs, and why the real interpreter had to take over."""
        with self._lock:
            pool = self._under_way.pop(early, None)
            if pool is not None:
                pool.learn(early.imported)
                if early.why:
                    self.runs[f"elsewhere: {early.why}"] += 1

    def tend(self) -> None:
        """Start missing processes. Called between runs, when no call waits for an answer."""
        if self.unavailable is not None or self.paused:
            return
        with self._lock:
            self._try_shells()
            self._spoilt = {pid for pid in self._spoilt if not reap(pid)}
            self._retired = [zygote for zygote in self._retired if not zygote.is_gone()]
            now = monotonic()
            for key, pool in list(self._pools.items()):
                if pool.is_up and now - pool.used > _IDLE_SECONDS:
                    self._end(pool)
                elif not pool.wanted and len(self._pools) > _MOST_KEYS:
                    del self._pools[key]
            for pool in list(self._pools.values()):
                self._tend_pool(pool)

    @property
    def pids(self) -> frozenset[int]:
        """Our own children without a job: they belong to no run."""
        with self._lock:
            zygotes = [
                *self._retired,
                *(pool.zygote for pool in self._pools.values() if pool.zygote is not None),
            ]
            return frozenset(self._spoilt.union(*(zygote.pids for zygote in zygotes)))

    @property
    def zygotes(self) -> tuple[int, ...]:
        """The pids of the interpreters that are started ahead."""
        with self._lock:
            return tuple(pool.zygote.pid for pool in self._pools.values() if pool.zygote is not None)

    @property
    def waiting(self) -> tuple[int, ...]:
        """The pids of the processes that are ready for a job."""
        with self._lock:
            pools = [pool for pool in self._pools.values() if pool.zygote is not None]
            return tuple(pid for pool in pools if pool.zygote is not None for pid in pool.zygote.ready())

    def close(self) -> None:
        """End everything that has no job, and wait for it. It can be used again afterwards."""
        with self._lock:
            for pool in self._pools.values():
                self._end(pool)
            self._pools.clear()
            for zygote in self._retired:
                zygote.end()
            self._retired.clear()
            end_all(self._spoilt)
            self._spoilt.clear()

    def forked(self) -> None:
        """Start empty in the child of a fork."""
        self._lock = RLock()
        for zygote in [
            *self._retired,
            *(pool.zygote for pool in self._pools.values() if pool.zygote is not None),
        ]:
            zygote.forked()
        self._retired.clear()
        self._pools.clear()
        self._spoilt.clear()
        self._under_way.clear()

    # Implementation

    def _prepared(self, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> "_Prepared | Cold":
        script = find_script(argv, env, cwd)
        if isinstance(script, Cold):
            return script
        unknown = unknown_setting(env)
        if unknown is not None:
            return unknown
        which = interpreter(script)
        if isinstance(which, Cold):
            return which
        given: Mapping[str, str] | Cold = env
        if script.shell is not None:
            path = env.get("PATH", os.defpath)
            given = self._shells.environment(script.shell, env, cwd, script.program)
            if isinstance(given, Cold):
                self._untried.setdefault(script.shell, path)
                return given
        more = self._variables.get(which, frozenset())
        at_start = start_variables(given, more)
        like, umask = inherited()
        key = (which, script.flags, tuple(sorted(at_start.items())), like)
        return _Prepared(script, key, given, at_start, umask)

    def _try_shells(self) -> None:
        for shell, path in self._untried.items():
            self._shells.try_out(shell, path)
        self._untried.clear()

    def _pool(self, found: "_Prepared") -> "_Pool":
        pool = self._pools.get(found.key)
        if pool is None:
            pool = self._pools[found.key] = _Pool(found.script.program, found.script.flags, found.at_start)
        pool.came(found.script, self.after)
        return pool

    def _tend_pool(self, pool: "_Pool") -> None:
        zygote = pool.zygote
        if zygote is not None:
            zygote.look()
            if zygote.failure is not None:
                pool.failed(zygote.failure, lasting=zygote.variables is None)
                self._end(pool)
            elif zygote.is_outdated():
                self._end(pool)
        if pool.zygote is None and pool.wanted and monotonic() >= pool.not_before:
            self._make_room(pool)
            pool.start()
        pool.fill(self.children)

    def _take(self, pool: "_Pool", found: "_Prepared") -> WaitingProcess | None:
        zygote = pool.zygote
        if zygote is None or zygote.is_outdated():
            return None
        waiting = zygote.take()
        if zygote.variables is None:
            return None
        # The variables that start-up code reads are known after the first start: they are part of the key
        # from now on.
        self._variables[found.key[0]] = frozenset(zygote.variables)
        unlike = any(found.env.get(name) != zygote.env.get(name) for name in zygote.variables)
        if not unlike:
            return waiting
        self._end(pool)
        if waiting is not None:
            self._discard(waiting)
        return None

    def _discard(self, waiting: WaitingProcess) -> None:
        """Drop a process whose job could not be sent: without its socket it ends."""
        waiting.socket.close()
        if waiting.pid is not None:
            self._spoilt.add(waiting.pid)

    def _make_room(self, pool: "_Pool") -> None:
        running = [each for each in self._pools.values() if each.zygote is not None and each is not pool]
        for each in sorted(running, key=lambda one: one.used)[: max(0, len(running) + 1 - self.interpreters)]:
            self._end(each)
            each.forget()

    def _end(self, pool: "_Pool") -> None:
        if pool.zygote is not None:
            pool.zygote.retire()
            self._retired.append(pool.zygote)
            pool.zygote = None


class _Prepared(Struct, frozen=True):
    """A command with all facts that decide which interpreter may run it."""

    script: WarmScript
    key: Key
    #: Its environment, as its shell would hand it on; and the part that the start of an interpreter reads.
    env: Mapping[str, str]
    at_start: Mapping[str, str]
    umask: int


class _Pool:
    """The zygote of one key, and the processes it should have ready."""

    def __init__(self, program: str, flags: Sequence[str], env: Mapping[str, str]) -> None:
        self._program, self._flags, self._env = program, flags, env
        self.zygote: Zygote | None = None
        self.used = monotonic()
        self.wanted = False
        self.refusal: str | None = None
        self.not_before = 0.0
        self._pause = _FIRST_PAUSE
        self._came = 0
        self._preloads: dict[str, None] = {}
        self._scripts: dict[str, None] = {}

    @property
    def is_up(self) -> bool:
        return self.zygote is not None and self.zygote.variables is not None

    def came(self, script: WarmScript, after: int) -> None:
        self._came += 1
        self.used = monotonic()
        self.wanted = self.wanted or self._came >= after
        if script.form == "file" and script.target.startswith("/"):
            self._scripts.pop(script.target, None)
            self._scripts[script.target] = None
            if len(self._scripts) > _MOST_SCRIPTS:
                del self._scripts[next(iter(self._scripts))]

    def forget(self) -> None:
        """Reset its count: another one replaced it, so it has to be requested again."""
        self._came, self.wanted = 0, False

    def start(self) -> None:
        try:
            self.zygote = Zygote(self._program, self._flags, self._env)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.failed(str(error), lasting=False)

    def failed(self, why: str, *, lasting: bool) -> None:
        """Note a failure and try again later; `lasting` if the interpreter itself says that it cannot."""
        self.refusal = why if lasting else self.refusal
        self.not_before = monotonic() + self._pause
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def fill(self, children: int) -> None:
        zygote = self.zygote
        while zygote is not None and len(zygote.waiting) < children:
            if not zygote.fork(self._preloads, self._scripts):
                break

    def learn(self, names: Sequence[str]) -> None:
        for name in names:
            if len(self._preloads) < _MOST_PRELOADS and _SAFE_NAME.fullmatch(name) and may_be_preloaded(name):
                self._preloads[name] = None


def _give(
    waiting: WaitingProcess, found: _Prepared, cwd: str, keeps: Sequence[int], mark: Mark, *, waits: bool
) -> Started | None:
    """Send the job to a process that waits; None if it is gone, or the job is too big to be sent."""
    script = found.script
    job = _job(script, found, cwd, keeps, mark)
    if job is None or waiting.pid is None:
        return None
    try:
        pipes = Pipes()
    except OSError:
        return None  # the ordinary start says that no descriptor is left
    if not waiting.send(job, (*pipes.theirs, *keeps)):
        pipes.close()
        return None
    early = EarlyStatus(waiting.socket, signal_message if waits else None)
    return Started(Child(waiting.pid), *pipes.handed_over(), early, True)


def _job(script: WarmScript, found: _Prepared, cwd: str, keeps: Sequence[int], mark: Mark) -> bytes | None:
    numbers = (found.umask, int(mark.batch), mark.number, script.script_at, len(script.argv), *keeps)
    entries = [f"{name}={value}" for name, value in found.env.items()]
    if any("=" in name or not name for name in found.env):
        return None
    texts = (" ".join(map(str, numbers)), cwd, script.program, script.form, *script.argv, *entries)
    try:
        parts = [os.fsencode(text) for text in texts]
    except UnicodeEncodeError:
        return None
    job = b"\0".join(parts)
    return job if len(job) <= LONGEST_JOB and job.count(b"\0") == len(parts) - 1 else None
