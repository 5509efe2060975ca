"""Store pauses of guards: a person lets calls past a guard for a while, and the pause ends by itself.

Only `hookline guard pause` writes the file, at a terminal. Engines read it when a guard stops a call, so a pause
begins and ends in running agents and in the daemon, too. A file that is damaged, or that another user could have
written, pauses nothing.
"""

import os
import shlex
import stat
import time
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from hookline.dialects.registry import OWN_FORMAT
from hookline.handlers.specs import GUARDS
from hookline.journal.file import state_dir
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook
from hookline.trust.store import replace_file

#: The longest pause, in seconds: for more, a guard is switched off.
LONGEST = 8 * 3600
_VERSION = 1
_MOST_BYTES = 1 << 20
#: Pauses that are kept, the newest, as a record.
_KEPT = 200
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"))


class PauseError(HooklineError):
    """A pause that cannot be stored."""


class Pause(Struct, frozen=True, kw_only=True):
    """A pause of one guard."""

    guard: str
    #: The file of its entry.
    file: str
    #: Seconds since the epoch. A clock that is set back to before the beginning ends it.
    begins: float
    ends: float
    #: The user and the terminal.
    by: str = ""
    terminal: str = ""

    def is_about(self, hook: Hook) -> bool:
        return self.guard == hook.name and self.file == hook.where.file


class _Stored(Struct, frozen=True, kw_only=True):
    version: int = _VERSION
    pauses: tuple[Pause, ...] = ()


class GuardPauses:
    """The pauses of one user."""

    def __init__(self, env: Mapping[str, str], clock: Callable[[], float] = time.time) -> None:
        self.path = os.path.join(state_dir(env), "pauses.json")
        self._env = env
        self._clock = clock

    def is_paused(self, hook: Hook) -> bool:
        return self.pause_of(hook) is not None

    def pause_of(self, hook: Hook) -> Pause | None:
        """Return the pause of a hook that lasts now."""
        if not can_be_paused(hook):
            return None
        now = self._clock()
        lasting = (each for each in self.read() if each.is_about(hook) and each.begins <= now < each.ends)
        return next((each for each in lasting if each.ends - each.begins <= LONGEST), None)

    def hint(self, hook: Hook) -> str:
        # The words of a rule or a script are its author's: nothing is added to them.
        if getattr(hook.spec, "name", "") not in GUARDS or hook.kind != "builtin" or not can_be_paused(hook):
            return ""
        name = shlex.quote(hook.name)
        # Most calls are not denied, and need no sockets.
        from hookline.config.console_address import console_page  # noqa: PLC0415 as said

        page = console_page(self._env, "/runs", hook=hook.name, status="blocked")
        shown = f"; to see it: {page}" if page else ""
        return f"(Guard {hook.name}. A person can pause it: hookline guard pause {name} --for 10m{shown})"

    def begin(self, hook: Hook, seconds: float, *, by: str = "", terminal: str = "") -> Pause:
        """Pause a hook from now on. Raises PauseError."""
        now = self._clock()
        pause = Pause(
            guard=hook.name, file=hook.where.file, begins=now, ends=now + seconds, by=by, terminal=terminal
        )
        self._write((*self._ended(hook), pause))
        return pause

    def end(self, hook: Hook) -> bool:
        """End the pause of a hook now. Returns False if it is not paused. Raises PauseError."""
        if not self.is_paused(hook):
            return False
        self._write(self._ended(hook))
        return True

    def read(self) -> tuple[Pause, ...]:
        """Return all stored pauses, also those that are over; none if the file cannot be read with certainty."""
        try:
            descriptor = os.open(self.path, _READ)
        except OSError:
            return ()
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return ()
            stored = msgspec.json.decode(os.read(descriptor, _MOST_BYTES), type=_Stored)
        except (OSError, msgspec.MsgspecError):
            return ()
        finally:
            os.close(descriptor)
        return stored.pauses if stored.version == _VERSION else ()

    def _ended(self, hook: Hook) -> tuple[Pause, ...]:
        """Return the stored pauses, with those of the hook ended now."""
        now = self._clock()
        return tuple(
            msgspec.structs.replace(each, ends=min(each.ends, now)) if each.is_about(hook) else each
            for each in self.read()
        )

    def _write(self, pauses: tuple[Pause, ...]) -> None:
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            replace_file(self.path, msgspec.json.encode(_Stored(pauses=pauses[-_KEPT:])))
        except OSError as problem:
            raise PauseError(f"{self.path} cannot be written: {problem.strerror}") from None


def can_be_paused(hook: Hook) -> bool:
    """Return True for a guard of Hookline's own files that no administrator manages."""
    return bool(
        hook.where.file
        and hook.dialect == OWN_FORMAT
        and hook.scope != "managed"
        and hook.bundle is None
        and hook.event.guard
    )
