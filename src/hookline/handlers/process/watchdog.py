"""Kill our hooks when this process dies, also by SIGKILL, from a small shell process.

It reads from a pipe whose write end only this process has. The kernel closes that end even on SIGKILL; the
shell then kills every group on its list and every process that carries our tag or our number (see `Orphans`).
"""

import asyncio
import os
import subprocess
import sys
from time import monotonic, sleep
from typing import Final

from hookline.handlers.process.containment import RUN_ID
from hookline.handlers.process.pipes import write_some

_SOON: Final = 0.02

# It stops only after several searches that found nothing: a process that forks and exits again and again can
# be missed by one search. In the commands of Hookline itself Python does the searching, which is faster:
# `_SWEEP`. A host's own `sys.executable` may be any program. Lines: "+12=tag" a run began, "-12" it ended,
# "q" quit without killing anything.
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
if [ -n "$3" ]; then "$4" -I -S -c "$5" "$3" "$tags" && exit 0; fi
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

# Kills processes with the number (argument 1) or a tag (the lines of argument 2). The newest come first: of
# a process that forks and exits again and again, only the last one matters.
_SWEEP: Final = r"""
import os, re, sys, time
number = re.compile(rb"^Max file locks +%s " % sys.argv[1].encode(), re.M)
tags = [tag.encode() for tag in sys.argv[2].splitlines()]
def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb", 0) as file:
            return file.read()
    except OSError:
        return b""
end, quiet = time.monotonic() + 5, 0
while quiet < 8 and time.monotonic() < end:
    quiet += 1
    for pid in sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True):
        if number.search(read(pid, "limits")) or any(tag in read(pid, "environ") for tag in tags):
            if read(pid, "stat").rpartition(b") ")[2][:1] not in (b"Z", b"X"):
                quiet = 0
                try:
                    os.kill(pid, 9)
                except OSError:
                    pass
"""


class Watchdog:
    """A shell that is started with the first run. When it cannot be started, hooks run without it and
    `running` is false."""

    def __init__(self, engine: str, shell: str = "/bin/sh", number: int | None = None) -> None:
        self._shell = shell
        self._sweep = ("",) if number is None else (str(number), sys.executable, _SWEEP)
        self._pattern = f"{RUN_ID}={engine}."
        self._popen: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._gave_up = False
        self._unsent: dict[int, str] = {}
        self._sending_on: asyncio.AbstractEventLoop | None = None

    @property
    def running(self) -> bool:
        return self._pipe >= 0

    @property
    def pid(self) -> int | None:
        return None if self._popen is None else self._popen.pid

    def start(self) -> None:
        """Call it before a hook is started: if we are killed in between, nothing else ends that hook."""
        if self._pipe < 0:
            self._start()

    def began(self, loop: asyncio.AbstractEventLoop, group: int, tag: str = "") -> None:
        """Note that a run began. `tag` only for runs that the engine's own pattern does not cover.

        The line is written a little later: most hooks are over by then, and waking the shell twice for each
        would cost them 5 %. If we die before, it finds the hook by the tag in its environment.
        """
        if self._pipe < 0:
            return
        self._unsent[group] = tag
        if self._sending_on is not loop:
            self._sending_on = loop
            loop.call_later(_SOON, self._send_all)

    def ended(self, group: int) -> None:
        """Call it before the group's leader is reaped: afterwards the pid may be reused."""
        if self._unsent.pop(group, None) is None and self._pipe >= 0:
            self._send(f"-{group}\n")

    def close(self, within: float = 1.0) -> None:
        """Make it quit and reap it; that takes well under a millisecond."""
        if self._popen is None:
            return
        if self._pipe >= 0:
            self._send("q\n")
        self._drop_pipe()
        until = monotonic() + within
        while self._popen.poll() is None and monotonic() < until:
            sleep(0.0005)
        if self._popen.poll() is None:
            self._popen.kill()
            self._popen.wait()
        self._popen = None
        self._gave_up = False

    def forked(self) -> None:
        """Close the parent's pipe: as long as a child holds it, the shell would not see the parent die."""
        self._drop_pipe()
        if self._popen is not None:
            self._popen.returncode = 0
            self._popen = None

    def _start(self) -> None:
        if self._gave_up:
            return
        fds: tuple[int, ...] = ()
        try:
            fds = os.pipe2(os.O_CLOEXEC)
            self._popen = subprocess.Popen(
                [self._shell, "-c", _PROGRAM, "hookline-watchdog", self._pattern, f"{RUN_ID}=", *self._sweep],
                stdin=fds[0], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                # Without our tag, so that it does not kill itself; and no directory is kept busy by it.
                env={"PATH": os.defpath}, cwd="/", start_new_session=True, close_fds=True,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            for fd in fds:
                os.close(fd)
            self._gave_up = True
            return
        os.close(fds[0])
        os.set_blocking(fds[1], False)
        self._pipe = fds[1]

    def _send_all(self) -> None:
        self._sending_on = None
        unsent, self._unsent = self._unsent, {}
        for group, tag in unsent.items():
            if self._pipe >= 0:
                self._send(f"+{group}={tag}\n")

    def _send(self, line: str) -> None:
        try:
            written = write_some(self._pipe, line.encode())
        except BlockingIOError:
            return  # the pipe is full: it finds the hook by the tag in its environment
        if written is None:
            if self._popen is not None:
                self._popen.poll()
            self._drop_pipe()
            self._gave_up = True

    def _drop_pipe(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
