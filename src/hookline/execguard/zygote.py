"""Keep supervisors ready: a process with rules and code loaded, which forks one for each command.

`hookline.execguard.ready` starts it. The forked processes are children of the engine, not of the zygote, so that it
waits for them like for any other command.
"""

import ctypes
import gc
import os
import signal
import socket
from collections.abc import Sequence
from typing import Final, NoReturn

import msgspec

from hookline.execguard.judge import ExecJudge, ExecRules
from hookline.execguard.kernel import libc
from hookline.execguard.messages import (
    FORK_FOR_NETWORK,
    TAKE_RULES,
    Problem,
    SupervisedCommand,
    encoded,
    job_in,
    receive,
    sealed,
    send,
    whole,
)
from hookline.execguard.supervisor import Supervisor

#: By machine: the number of clone, and True if the address for the thread's id comes before the one for its storage.
_CLONES: Final = {"x86_64": (56, True), "aarch64": (220, False)}
_CLONE_PARENT, _CLONE_CHILD_SETTID, _CLONE_CHILD_CLEARTID = 0x8000, 0x01000000, 0x00200000
_PR_GET_TID_ADDRESS: Final = 40
_rules = msgspec.json.Decoder(ExecRules)


def serve(control: socket.socket) -> NoReturn:
    """Take rules, and fork a supervisor for each socket that comes, until the owner closes its end."""
    judge = ExecJudge(ExecRules())
    while True:
        message, descriptors = receive(control)
        if not message:
            os._exit(0)
        if message == TAKE_RULES:
            judge = ExecJudge(_rules.decode(whole(descriptors[0])))
            judge.rehearse()
            gc.collect()
            gc.freeze()
            continue
        pid = _fork()
        if pid == 0:
            control.close()
            gc.disable()  # it lives as long as a command
            _supervise(judge, socket.socket(fileno=descriptors[0]), network=message == FORK_FOR_NETWORK)
        os.close(descriptors[0])
        send(control, b"%d" % pid)


def supervise_one(channel: socket.socket) -> NoReturn:
    """Take rules and a job, and supervise that command with the standard streams of this process."""
    _message, descriptors = receive(channel)
    judge, job = ExecJudge(_rules.decode(whole(descriptors[0]))), job_in(descriptors[1])
    status = 126 << 8
    try:
        network = job.network is not None
        status = Supervisor(judge, channel, lambda: (job, (0, 1, 2)), network=network).run()
    finally:
        _end_as(status)


def _supervise(judge: ExecJudge, channel: socket.socket, *, network: bool) -> NoReturn:
    """Wait for a job and run it; end as the command does."""
    status = 126 << 8
    descriptors: list[int] = []

    def take() -> tuple[SupervisedCommand, Sequence[int]]:
        message, taken = receive(channel)
        if not message:
            os._exit(0)
        descriptors.extend(taken)
        return job_in(taken[0]), taken[1:4]

    try:
        os.setsid()
        _touch(judge)
        status = Supervisor(judge, channel, take, network=network).run()
        if os.WIFEXITED(status):
            # The death of a process takes longer than the rest of a small command.
            send(socket.socket(fileno=descriptors[4]), b"S%d" % os.WEXITSTATUS(status))
    except Exception as error:  # noqa: BLE001 - it is reported, and nothing runs unsupervised
        try:
            send(channel, encoded(Problem(f"the supervisor failed: {type(error).__name__}: {error}")))
        except OSError:
            pass
    finally:
        _end_as(status)


def _touch(judge: ExecJudge) -> None:
    """Use once what a command needs, before there is one: the pages that a fork shares are copied then."""
    judge.rehearse()
    encoded(Problem(""))
    job_in(sealed(SupervisedCommand(argv=("cat",), program="/bin/cat", env={}, cwd="/")))
    gc.collect(0)


def _end_as(status: int) -> NoReturn:
    if os.WIFSIGNALED(status):
        import resource  # noqa: PLC0415 - rarely needed

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 126)


def _fork() -> int:
    """Fork a process whose parent is that of the zygote. Raises OSError."""
    number, id_first = _CLONES[os.uname().machine]
    flags = _CLONE_PARENT | int(signal.SIGCHLD)
    c, python = libc(), ctypes.pythonapi
    address = ctypes.c_void_p()
    # The C library keeps the id of the main thread; without this it would stay that of the zygote.
    if c.prctl(_PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0 and address.value:
        flags |= _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID
    none, tid = ctypes.c_void_p(0), ctypes.c_void_p(address.value)
    python.PyOS_BeforeFork()
    pid = c.syscall(
        ctypes.c_long(number), ctypes.c_long(flags), none, none, *((tid, none) if id_first else (none, tid))
    )
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    failed = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(failed, os.strerror(failed))
    return pid
