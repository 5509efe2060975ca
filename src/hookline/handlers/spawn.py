"""Starting a process in a session of its own, with our own pipes."""

import os
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence

from msgspec import Struct

from hookline.handlers.groups import signal_group
from hookline.handlers.programs import find_program
from hookline.handlers.spawn_failures import explained, not_started
from hookline.model.raw import Broke


class Started(Struct, frozen=True):
    """A child, not yet reaped, and our ends of its pipes; none of them ever blocks."""

    popen: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    stderr: int

    @property
    def pid(self) -> int:
        return self.popen.pid

    def undo(self) -> None:
        """As if it had never been started."""
        signal_group(self.pid, signal.SIGKILL)
        self.popen.wait()
        for fd in (self.stdin, self.stdout, self.stderr):
            try:
                os.close(fd)
            except OSError:
                pass


def start(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: str, script: int | None = None
) -> Started | Broke:
    """Start the program, or say why not. `script` is a descriptor the child keeps under its number."""
    problem = _cwd_problem(cwd)
    if problem is not None:
        return not_started(problem)
    program = find_program(argv[0], env.get("PATH", os.defpath), cwd)
    if isinstance(program, Broke):
        return program
    fds: list[int] = []
    try:
        for _ in range(3):
            fds.extend(os.pipe2(os.O_CLOEXEC))
        in_theirs, in_ours, out_ours, out_theirs, err_ours, err_theirs = fds
        popen = subprocess.Popen(
            argv, executable=program, env=env, cwd=cwd, close_fds=True, start_new_session=True,
            stdin=in_theirs, stdout=out_theirs, stderr=err_theirs,
            pass_fds=() if script is None else (script,),
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        for fd in fds:
            os.close(fd)
        return explained(error, argv, program, env, cwd)
    for fd in (in_theirs, out_theirs, err_theirs):
        os.close(fd)
    for fd in (in_ours, out_ours, err_ours):
        os.set_blocking(fd, False)
    return Started(popen, in_ours, out_ours, err_ours)


def _cwd_problem(cwd: str) -> str | None:
    """Checked beforehand, because a failed chdir looks like a missing program."""
    try:
        mode = os.stat(cwd).st_mode
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return f"its working directory {cwd!r} cannot be used: {reason}"
    if not stat.S_ISDIR(mode):
        return f"its working directory {cwd!r} is not a directory"
    return None
