"""Descendants of hooks that were given to us because their parents are gone (Linux, opt-in).

A child subreaper becomes the parent of every orphan among its descendants, so nothing a hook starts gets out
of sight, whatever it does to its session or its environment. But the host starts children too, and these must
never be touched. An adopted process is therefore a hook's only if it proves it: it is in a hook's session,
or it carries a run's tag in its environment, or it carries the *mark*: it is not in our session, and it is
scheduled as SCHED_BATCH, which the thread that starts a hook is for just that moment. Forks inherit the
policy, no exec or setsid changes it, other threads do not share it, and even a zombie still shows it. Its
price is that on a busy processor a hook that wakes up waits for its turn.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from hookline.handlers.procfs import Seen

_PR_SET_CHILD_SUBREAPER: Final = 36
_NO_PRIORITY: Final = 0


class Orphans:
    """Recognises adopted processes that carry the mark but no tag: strays."""

    def __init__(self) -> None:
        self._me = os.getpid()
        self._session = os.getsid(0)
        self._marks = True
        self._left: set[tuple[int, int]] = set()

    @contextmanager
    def marked(self) -> Generator[None]:
        """What this thread starts in here carries the mark."""
        # Where the host is not scheduled in the ordinary way (it may itself run in a hook), its own children
        # could look like ours: then only sessions and tags count.
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

    def is_adopted(self, process: Seen) -> bool:
        """Our child, and a hook's descendant by its mark."""
        return (
            self._marks
            and process.parent == self._me
            and process.policy == os.SCHED_BATCH
            and process.session != self._session
        )

    def is_stray(self, process: Seen) -> bool:
        """Adopted, and not left behind by a hook that may do so."""
        return (process.pid, process.started) not in self._left and self.is_adopted(process)

    def leave(self, process: Seen) -> None:
        """A hook that may leave processes behind has left this one: it is never touched again."""
        self._left.add((process.pid, process.started))


def become_subreaper() -> bool:
    """Ask the kernel for the orphans of all our descendants. False where that does not exist."""
    import ctypes  # noqa: PLC0415 - only those who ask for it pay for the import

    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False
