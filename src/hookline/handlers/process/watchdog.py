"""Nothing of a hook survives us: a tiny shell waits for our end and then kills what we were running.

Its only link to us is a pipe whose write end nobody else has. The kernel closes that end however we die, also
by SIGKILL, and then the shell kills every group it was told of and every process that carries our tag.
"""

import asyncio
import os
import subprocess
from time import monotonic, sleep
from typing import Final

from hookline.handlers.process.containment import RUN_ID
from hookline.handlers.process.pipes import write_some

_SOON: Final = 0.02

# It stops only after several looks that found nothing: a process that keeps handing over to a new child can
# be between the two at any one look.
# Lines: "+12=tag" a run began, "-12" it ended, "q" all is well and nothing is to be done.
_PROGRAM: Final = r"""
trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM TSTP TTIN TTOU
runs=' '
while read -r line; do
  case $line in
    +*) runs="$runs${line#+} " ;;
    -*) key=" ${line#-}="
        case $runs in *"$key"*) after=${runs#*"$key"}; runs="${runs%%"$key"*} ${after#* }" ;; esac ;;
    q) exit 0 ;;
  esac
done
set -f
tags="$1
"
for run in $runs; do
  kill -9 "-${run%%=*}"
  [ -n "${run#*=}" ] && tags="$tags$2${run#*=}
"
done
set +f
round=0
quiet=0
while [ $round -lt 200 ] && [ $quiet -lt 8 ]; do
  quiet=$((quiet + 1))
  for file in $(grep -lF -e "${tags%?}" /proc/[0-9]*/environ); do
    pid=${file#/proc/}
    kill -9 "${pid%/environ}" && quiet=0
  done
  round=$((round + 1))
done
"""


class Watchdog:
    """Started with the first run. `running` says whether it is there: hooks run without it all the same."""

    def __init__(self, engine: str, shell: str = "/bin/sh") -> None:
        self._shell = shell
        self._pattern = f"{RUN_ID}={engine}."
        self._popen: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._gave_up = False
        self._untold: dict[int, str] = {}
        self._told_by: asyncio.AbstractEventLoop | None = None

    @property
    def running(self) -> bool:
        return self._pipe >= 0

    @property
    def pid(self) -> int | None:
        return None if self._popen is None else self._popen.pid

    def began(self, loop: asyncio.AbstractEventLoop, group: int, tag: str = "") -> None:
        """A run began. `tag` only for runs that the engine's own pattern does not cover.

        The line is written a moment later: most hooks are over by then, and waking the shell twice for each
        would cost them 5 %. If we die before, the tag in the hook's environment still tells it what is ours.
        """
        if self._pipe < 0 and not self._start():
            return
        self._untold[group] = tag
        if self._told_by is not loop:
            self._told_by = loop
            loop.call_later(_SOON, self._tell_all)

    def ended(self, group: int) -> None:
        """Said before the group's leader is reaped, because afterwards the number may be a stranger's."""
        if self._untold.pop(group, None) is None and self._pipe >= 0:
            self._tell(f"-{group}\n")

    def close(self, within: float = 1.0) -> None:
        """Send it home and reap it. It answers in well under a millisecond."""
        if self._popen is None:
            return
        if self._pipe >= 0:
            self._tell("q\n")
        self._drop_pipe()
        until = monotonic() + within
        while self._popen.poll() is None and monotonic() < until:
            sleep(0.0005)
        if self._popen.poll() is None:
            self._popen.kill()
            self._popen.wait()
        self._popen = None
        self._gave_up = False

    def _start(self) -> bool:
        if self._gave_up:
            return False
        fds: tuple[int, ...] = ()
        try:
            fds = os.pipe2(os.O_CLOEXEC)
            self._popen = subprocess.Popen(
                [self._shell, "-c", _PROGRAM, "hookline-watchdog", self._pattern, f"{RUN_ID}="],
                stdin=fds[0], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                # Without our tag, so that it does not kill itself; and no directory is kept busy by it.
                env={"PATH": os.defpath}, cwd="/", start_new_session=True, close_fds=True,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            for fd in fds:
                os.close(fd)
            self._gave_up = True
            return False
        os.close(fds[0])
        os.set_blocking(fds[1], False)
        self._pipe = fds[1]
        return True

    def _tell_all(self) -> None:
        self._told_by = None
        untold, self._untold = self._untold, {}
        for group, tag in untold.items():
            if self._pipe >= 0:
                self._tell(f"+{group}={tag}\n")

    def _tell(self, line: str) -> None:
        try:
            written = write_some(self._pipe, line.encode())
        except BlockingIOError:
            return  # it does not get to read: the tag in the environment still tells it what is ours
        if written is None:
            if self._popen is not None:
                self._popen.poll()
            self._drop_pipe()
            self._gave_up = True

    def _drop_pipe(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
