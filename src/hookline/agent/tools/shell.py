"""Run one command line in a shell, read its output while it runs, and find its last directory.

The shell notes its last working directory in a file beside the command, so that neither its output nor its
exit status is touched. The note is written when the command ends, when it calls `exit`, when `set -e` ends
it, and when it has set its own trap for EXIT. A shell that replaced itself (`exec`) or was killed leaves no
note: then it counts as not having moved.
"""

import asyncio
import codecs
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Mapping
from time import sleep
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hookline.agent.tools.files import TooLargeError, read_regular
from hookline.agent.tools.off_loop import off_loop
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.run import Listeners
from hookline.model.raw import Exited, Failed, RawResult
from hookline.model.safe_text import head_and_tail

if TYPE_CHECKING:
    from hookline.agent.tools.exec_guard import CommandGuard

#: Characters of output that are shown.
MOST_SHOWN = 30_000
_BASH: Final = "/bin/bash"
_SH: Final = "/bin/sh"
_LONGEST_NOTE: Final = 1 << 16
#: Pieces of output that are kept for a look while a command runs, and characters of each.
_MOST_RECENT: Final = 64
_LONGEST_RECENT: Final = 4000
# One line, which the shell has read whole before it starts the command: a command that cannot be parsed then
# spoils nothing after it, and its own lines are counted from 1. $1 is the command, $2 the file, $3 what follows.
_PROGRAM: Final = 'eval "$3"; eval "$__hookline_command"; { __hookline_note && :; } 2>/dev/null'
# The groups with a redirection keep the lines of `set -x` out of the command's output; `&& :` hands the status on
# without being a failure that ends a shell under `set -e`. In POSIX mode the name of a special builtin cannot be a
# function's, so a trap for EXIT that the command sets is then the only one.
_IN_BASH: Final = r"""
__hookline_command=$1 __hookline_note_file=$2
set --
__hookline_note() {
  __hookline_status=$?
  [ "$BASH_SUBSHELL" = 0 ] && builtin pwd -P >|"$__hookline_note_file"
  return "$__hookline_status"
} 2>/dev/null
__hookline_keep_note() {
  local now
  now=$(builtin trap -p EXIT)
  case $now in
    *__hookline_note*) ;;
    '') builtin trap '{ __hookline_note && :; } 2>/dev/null' EXIT ;;
    *) eval "set -- $now"; builtin trap "{ __hookline_note && :; } 2>/dev/null
$3" EXIT ;;
  esac
} 2>/dev/null
builtin trap '{ __hookline_note && :; } 2>/dev/null' EXIT
case :$SHELLOPTS: in
  *:posix:*) ;;
  *) trap() {
       builtin trap "$@" || return
       if [ "$BASH_SUBSHELL" = 0 ]; then { __hookline_keep_note; } 2>/dev/null; fi
     } ;;
esac
"""
_IN_SH: Final = r"""
__hookline_command=$1 __hookline_note_file=$2
set --
__hookline_note() {
  __hookline_status=$?
  pwd -P >|"$__hookline_note_file"
  return "$__hookline_status"
}
trap '{ __hookline_note && :; } 2>/dev/null' EXIT
"""


class KeptText:
    """Beginning and end of an output. It is fed bytes in any chunks, also ones that split a character."""

    def __init__(self, most: int = MOST_SHOWN, recent: "deque[str] | None" = None) -> None:
        self._half = most // 2
        self._recent = recent
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._reset()

    def _reset(self) -> None:
        self._head: list[str] = []
        self._room = self._half
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._missing = 0

    def feed(self, chunk: bytes) -> None:
        text = self._decoder.decode(chunk)
        if self._recent is not None and text:
            self._recent.append(text[-_LONGEST_RECENT:])
        if self._room:
            start, text = text[: self._room], text[self._room :]
            self._head.append(start)
            self._room -= len(start)
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
            self._trim()

    def _trim(self) -> None:
        too_much = self._tail_size - self._half
        while too_much > 0:
            first = self._tail.popleft()
            gone = min(len(first), too_much)
            if gone < len(first):
                self._tail.appendleft(first[gone:])
            too_much -= gone
            self._tail_size -= gone
            self._missing += gone

    @property
    def text(self) -> str:
        """The kept text, with a note where something is missing."""
        mark = f"\n[... {self._missing} characters left out ...]\n" if self._missing else ""
        return "".join([*self._head, mark, *self._tail]).rstrip()

    def take(self) -> str:
        """Return the output since the last call."""
        text = self.text
        self._reset()
        return text


class Streams:
    """Both outputs of a command."""

    def __init__(self, most: int = MOST_SHOWN) -> None:
        #: The newest pieces of both.
        self._recent: deque[str] = deque(maxlen=_MOST_RECENT)
        self.stdout = KeptText(most, self._recent)
        self.stderr = KeptText(most, self._recent)

    def tail(self, lines: int) -> list[str]:
        """Return the last lines of both, as they arrived. May be called on another thread."""
        text = "".join(self._recent.copy())[-_LONGEST_RECENT:]
        return [
            line.rstrip().rsplit("\r", 1)[-1] for line in text.rstrip().split("\n")[-lines:] if line.strip()
        ]


def both(stdout: str, stderr: str, most: int = MOST_SHOWN) -> str:
    """Join both outputs. If they are too long together, each is cut in its middle, the longer one more."""
    if len(stdout) + len(stderr) > most:
        for_out = min(len(stdout), most - min(len(stderr), most // 2))
        stdout = head_and_tail(stdout, for_out // 2)
        stderr = head_and_tail(stderr, (most - for_out) // 2)
    return "\n".join(part for part in (stdout, stderr) if part)


class ShellEnd(Struct, frozen=True):
    """End of a command, and its shell's last directory, if known."""

    raw: Exited | Failed
    last_cwd: str | None = None
    #: Lines of the exec guard about what it denied.
    notes: tuple[str, ...] = ()


async def run_in_shell(
    processes: Processes,
    command: str,
    streams: Streams,
    *,
    env: Mapping[str, str],
    cwd: str,
    timeout: float,
    run_id: str,
    guard: "CommandGuard | None" = None,
) -> ShellEnd:
    """Run a command to its end, under a guard if there is one. When cancelled, the command and all it started
    are killed."""
    # Not in a thread: a caller cancelled meanwhile would leave the directory behind.
    try:
        directory = tempfile.mkdtemp(prefix="hookline-shell-")
    except OSError as problem:
        return ShellEnd(Failed("not_started", f"no temporary directory could be made: {problem.strerror}"))
    try:
        note = os.path.join(directory, "cwd")
        argv = _argv(command, note)
        # A shell keeps the name PWD for its directory, if it is one of its names.
        whole = {**env, "PWD": cwd}
        listeners = Listeners(streams.stdout.feed, streams.stderr.feed)
        raw: RawResult
        notes: tuple[str, ...] = ()
        if guard is not None and guard.is_active:
            guarded = await guard.run(
                argv, command, env=whole, cwd=cwd, timeout=timeout, run_id=run_id, listeners=listeners
            )
            raw, notes = guarded.raw, guarded.notes
        else:
            raw = await processes.run(
                argv, env=whole, cwd=cwd, timeout=timeout, run_id=run_id, listeners=listeners
            )
        return ShellEnd(_settled(raw), await off_loop(lambda _limit: _noted(note)), notes)
    finally:
        # Not awaited: a cancelled caller cannot, and the command may have filled the directory.
        asyncio.get_running_loop().run_in_executor(None, _remove, directory)


def _remove(directory: str) -> None:
    """Remove the directory, repeatedly, because a shell that is being killed may still write its note."""
    for _ in range(100):
        shutil.rmtree(directory, ignore_errors=True)
        if not os.path.lexists(directory):
            return
        sleep(0.02)


def _argv(command: str, note: str) -> list[str]:
    shell, notes = (_BASH, _IN_BASH) if os.access(_BASH, os.X_OK) else (_SH, _IN_SH)
    return [shell, "-c", _PROGRAM, os.path.basename(shell), command, note, notes]


def _settled(raw: RawResult) -> Exited | Failed:
    if isinstance(raw, Exited | Failed):
        return raw
    return Failed("crashed", "the shell gave no readable result")


def _noted(note: str) -> str | None:
    """Return the noted directory, checked, because the command may have written anything there."""
    try:
        text = os.fsdecode(read_regular(note, _LONGEST_NOTE, follow=False).content)
    except (OSError, TooLargeError):
        return None
    where = text.removesuffix("\n")
    return where if where.startswith("/") and "\0" not in where and os.path.isdir(where) else None
