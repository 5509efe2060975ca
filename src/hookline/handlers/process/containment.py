"""Find the processes that belong to a run.

Every hook leads its own session and carries `HOOKLINE_RUN_ID=<engine>.<run>` in its environment, which its
descendants inherit. A process belongs to a run if it is in its session or group, carries its tag, or descends
from one that does. With a subreaper, strays (see `Orphans`) are found too: a stray is killed once every run
that was active when it was born has ended, and is left if one of these may leave processes.

Known gap without a subreaper: a process that left the session, emptied its environment *and* lost its parent.
When we are killed, such processes go to init: the watchdog then finds them by a number that they inherited as
a limit (see `Orphans`).
"""

import asyncio
import os
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, nullcontext
from time import sleep
from typing import Final, Literal

from msgspec import Struct

from hookline.handlers.process import procfs
from hookline.handlers.process.procfs import ProcessInfo

RUN_ID: Final = "HOOKLINE_RUN_ID"

_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_DUMPABLE: Final = 4
_NO_PRIORITY: Final = 0
_KERNEL_THREADS: Final = 2  # their common parent; they have no environment at all
# The limit on file locks: no Linux since 2.4 enforces it, but every fork and exec hands it on, and every
# process can read it.
_RLIMIT_LOCKS: Final = 10

Answer = Callable[[list[ProcessInfo]], None]


class ProcessTree(Struct, frozen=True):
    """A run as a set of processes: its leader, which must not be reaped yet, and its tag."""

    leader: int
    tag: str
    leftovers: Literal["kill", "leave"] = "kill"


class Orphans:
    """Recognises strays: descendants of hooks that we adopted because their parents are gone (Linux, opt-in).

    A child subreaper becomes the parent of every orphan among its descendants, so everything a hook starts
    stays visible, also with another session or environment. But the host starts children too, and these must
    never be touched. An adopted process is therefore a hook's only if it is in a hook's session, carries a
    run's tag in its environment, or carries the *mark*: it is outside our session and scheduled as
    SCHED_BATCH, as the thread that starts a hook is for just that time. Forks inherit the policy, no exec or
    setsid changes it, other threads do not share it, and even a zombie still shows it. The price: on a busy
    processor such a hook wakes up later.

    When we are killed, orphans go to init, where batch jobs of others are, too. For the watchdog a hook
    therefore also carries our own `number`, as its soft limit on file locks. That is not as exact while we
    live: limits belong to the whole process, so a process that another thread starts at the same time has it,
    too.
    """

    def __init__(self, engine: str) -> None:
        self._me = os.getpid()
        self._session = os.getsid(0)
        self._marks = True
        self._left: set[tuple[int, int]] = set()
        #: None where it cannot be set, or where we run in a hook of another engine, which has put its own
        #: number on us.
        self.number = (1 << 60) + int(engine, 16) if may_be_numbered() else None

    @contextmanager
    def marked(self, *, numbered: bool) -> Generator[None]:
        """Put the mark, and the number if wanted, on processes that this thread starts inside the `with`."""
        with self._scheduled(), self._limited() if numbered and self.number is not None else nullcontext():
            yield

    def mark(self, *, numbered: bool) -> tuple[bool, int]:
        """Return the mark for a process that exists already and marks itself: True for the policy, and the number."""
        self._marks = self._marks and os.sched_getscheduler(0) == os.SCHED_OTHER
        return self._marks, self.number if numbered and self.number is not None else 0

    @contextmanager
    def _limited(self) -> Generator[None]:
        import resource  # noqa: PLC0415 - only here, and not on every system

        unlimited = resource.RLIM_INFINITY
        try:
            resource.setrlimit(_RLIMIT_LOCKS, (self.number or unlimited, unlimited))
        except (ValueError, OSError):
            self.number = None  # a sandbox forbids it
        try:
            yield
        finally:
            if self.number is not None:
                resource.setrlimit(_RLIMIT_LOCKS, (unlimited, unlimited))

    @contextmanager
    def _scheduled(self) -> Generator[None]:
        # A host that is not scheduled as SCHED_OTHER (it may itself run in a hook) has children that would
        # look marked: then only sessions and tags are used.
        self._marks = self._marks and os.sched_getscheduler(0) == os.SCHED_OTHER
        if not self._marks:
            yield
            return
        ordinary = os.sched_param(_NO_PRIORITY)
        try:
            os.sched_setscheduler(0, os.SCHED_BATCH, ordinary)
        except OSError:
            self._marks = False
        try:
            yield
        finally:
            if self._marks:
                os.sched_setscheduler(0, os.SCHED_OTHER, ordinary)

    def is_adopted(self, process: ProcessInfo) -> bool:
        """Return True for our child that is a hook's descendant by its mark."""
        return (
            self._marks
            and process.parent == self._me
            and process.policy == os.SCHED_BATCH
            and process.session != self._session
        )

    def is_stray(self, process: ProcessInfo) -> bool:
        """Return True for an adopted process that no hook was allowed to leave behind."""
        return (process.pid, process.started) not in self._left and self.is_adopted(process)

    def leave(self, process: ProcessInfo) -> None:
        """Never touch this process again: its hook may leave processes behind."""
        self._left.add((process.pid, process.started))


def may_be_numbered() -> bool:
    """Return True if this system passes our number on to processes that hooks start, and this process has
    none yet."""
    try:
        import resource  # noqa: PLC0415

        return (
            os.path.exists("/proc/self/limits")
            and resource.getrlimit(_RLIMIT_LOCKS)[0] == resource.RLIM_INFINITY
        )
    except (ImportError, ValueError, OSError):
        return False


def become_subreaper() -> bool:
    """Become the parent of all orphans among our descendants; return False where the system does not support it."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> bool:
    """Keep other processes of the user from reading this one's memory; return False where the system does not
    support it."""
    return _prctl(_PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> bool:
    import ctypes  # noqa: PLC0415 - slow to load, and only few processes need it

    try:
        return ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


class Containment:
    """Finds the processes of runs.

    `under_way` is read each time: every tree with an unreaped leader. `bystanders` are our own children that
    are not hooks: the watchdog, and processes started ahead.
    """

    def __init__(
        self,
        engine: str,
        under_way: Collection[ProcessTree],
        bystanders: Callable[[], Collection[int]],
        orphans: Orphans | None = None,
    ) -> None:
        self._bystanders = bystanders
        self._me = os.getpid()
        self._prefix = f"{RUN_ID}={engine}".encode()
        self._engine = engine
        self._under_way = under_way
        self._orphans = orphans
        #: True if orphans of hooks become our children, so that they have to be searched for.
        self.adopts = orphans is not None

    def members(self, trees: Iterable[ProcessTree]) -> dict[int, list[ProcessInfo]]:
        """Return the living processes of these trees, by leader, from one scan of all processes."""
        wanted = {tree.leader: tree for tree in trees}
        everyone, owners = self._look(wanted)
        found: dict[int, list[ProcessInfo]] = {leader: [] for leader in wanted}
        for pid, leader in _with_descendants(owners, everyone).items():
            if everyone[pid].alive:
                found[leader].append(everyone[pid])
            elif everyone[pid].parent == self._me and pid != leader:
                reap(everyone[pid])
        strays = self._strays(wanted, everyone)
        for leader in found if strays else ():
            found[leader] += strays
        return found

    def anything_left(self, tree: ProcessTree) -> bool:
        """Check the adopted processes only, which is cheap, when the leader has ended but is not reaped."""
        if self._orphans is None:
            return False
        adopted = self._adopted()
        leader = procfs.process_info(tree.leader) if adopted else None
        left = False
        for pid in adopted:
            process = procfs.process_info(pid)
            if process is None or leader is None or not self._may_be_of(tree, process):
                continue
            if not process.alive:
                reap(process)
            elif tree.leftovers == "kill":
                left = True
            elif process.started >= leader.started:
                self._orphans.leave(process)
        return left

    def reap_strays(self) -> None:
        """Take in the exit status of everything that was left behind and has ended since."""
        if self._orphans is None:
            return
        for pid in self._adopted():
            process = procfs.process_info(pid)
            if process is not None and not process.alive and self._orphans.is_adopted(process):
                reap(process)

    def _adopted(self) -> set[int]:
        """Return our children without those we started ourselves; the host's own are still among them."""
        return children() - {tree.leader for tree in self._under_way} - set(self._bystanders())

    def _may_be_of(self, tree: ProcessTree, process: ProcessInfo) -> bool:
        if process.session == tree.leader:
            return True
        tag = self._settled_tag(process.pid) if process.alive else None
        return tag == tree.tag or (not tag and self._orphans is not None and self._orphans.is_stray(process))

    def _look(self, wanted: Mapping[int, ProcessTree]) -> tuple[dict[int, ProcessInfo], dict[int, int]]:
        """Scan all processes; return them, and the leader each belongs to by session, group or tag."""
        leaders = [leader for leader in map(procfs.process_info, wanted) if leader is not None]
        earliest = min((leader.started for leader in leaders), default=0)
        by_tag = {tree.tag: tree.leader for tree in wanted.values()}
        everyone: dict[int, ProcessInfo] = {}
        owners: dict[int, int] = {}
        unsure: list[int] = []
        ours = {self._me, *self._bystanders()}
        for process in procfs.all_processes():
            if process.pid in ours:
                continue
            everyone[process.pid] = process
            if process.session in wanted:
                owners[process.pid] = process.session
            elif process.group in wanted:
                owners[process.pid] = process.group
            elif process.alive and process.started >= earliest:
                tag = self._tag(process.pid)
                if tag in by_tag:
                    owners[process.pid] = by_tag[tag]
                elif tag is None and process.parent != _KERNEL_THREADS:
                    unsure.append(process.pid)
        for pid in unsure:
            tag = self._settled_tag(pid)
            if tag in by_tag:
                owners[pid] = by_tag[tag]
        return everyone, owners

    def _settled_tag(self, pid: int) -> str | None:
        """Return the tag, read a few times over: a process without environment may just be changing its program."""
        for _ in range(3):
            tag = self._tag(pid)
            if tag is not None:
                return tag
            sleep(0.0005)
        return None

    def _tag(self, pid: int) -> str | None:
        """Return the tag a process carries if it is one of ours, else empty; None when it shows no environment."""
        block = procfs.environment(pid)
        if not block:
            return None
        rest = procfs.entry(block, self._prefix)
        return "" if rest is None else self._engine + rest.decode("ascii", "replace")

    def _strays(
        self, wanted: Mapping[int, ProcessTree], everyone: Mapping[int, ProcessInfo]
    ) -> list[ProcessInfo]:
        """Return living strays that no run outside `wanted` can have started, and their descendants."""
        if self._orphans is None:
            return []
        leaders = {tree.leader for tree in self._under_way}
        others = [everyone[pid].started for pid in leaders - wanted.keys() if pid in everyone]
        roots: dict[int, int] = {}
        for process in everyone.values():
            known = process.pid in leaders or process.session in leaders
            if known or not self._orphans.is_stray(process):
                continue
            if not process.alive:
                reap(process)
            elif not self._settled_tag(process.pid) and all(started > process.started for started in others):
                roots[process.pid] = process.pid
        return [everyone[pid] for pid in _with_descendants(roots, everyone) if everyone[pid].alive]


class Sweeper:
    """A search for living processes of the runs being killed; one scan serves all of them."""

    def __init__(self, containment: Containment) -> None:
        self._containment = containment
        self._asked: dict[ProcessTree, Answer] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, loop: asyncio.AbstractEventLoop, tree: ProcessTree, pause: float, answer: Answer) -> None:
        """Call `answer` with the living processes of the tree, after the pause or sooner."""
        if loop is not self._loop:
            self._loop, self._timer = loop, None
            self._asked.clear()
        self._asked[tree] = answer
        if self._timer is None or loop.time() + pause < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_later(pause, self._look)

    def forget(self, tree: ProcessTree) -> None:
        self._asked.pop(tree, None)

    def _look(self) -> None:
        self._timer = None
        asked, self._asked = self._asked, {}
        found = self._containment.members(asked)
        for tree, answer in asked.items():
            answer(found[tree.leader])


def children() -> set[int]:
    """Return our own children, the adopted ones too."""
    pids: set[int] = set()
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", "rb") as file:
                pids.update(map(int, file.read().split()))
    except OSError:
        pass  # no /proc, or a thread has just ended: its children are those of another one now
    return pids


def reap(process: ProcessInfo) -> None:
    """Take the exit status of a dead process that we adopted, so that it does not stay a zombie."""
    try:
        os.waitpid(process.pid, os.WNOHANG)
    except ChildProcessError:
        pass


def _with_descendants(owners: dict[int, int], everyone: Mapping[int, ProcessInfo]) -> dict[int, int]:
    """Hand ownership down from parents to children that have no other owner."""
    if not owners:
        return owners
    children: dict[int, list[int]] = {}
    for process in everyone.values():
        children.setdefault(process.parent, []).append(process.pid)
    open_ends = list(owners)
    while open_ends:
        parent = open_ends.pop()
        for child in children.get(parent, ()):
            if child not in owners:
                owners[child] = owners[parent]
                open_ends.append(child)
    return owners
