"""Keep supervisors ready: a process with rules and code loaded, which forks one for each command.

`hookline.execguard.ready` starts it. The forked processes are children of the engine, not of the zygote, so that it
waits for them like for any other command.
"""

import ctypes
import gc
import os
import signal
import socket
import threading
from typing import Final, NoReturn

import msgspec

from hookline.execguard.facts import ExecFacts
from hookline.execguard.filter import guard_filter
from hookline.execguard.judge import ExecJudge, ExecRules
from hookline.execguard.kernel import libc, machine, signal_descriptor
from hookline.execguard.messages import Problem, SupervisedCommand, encoded, job_in, receive, sealed, send
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
        if message[:1] == b"R":
            with open(descriptors[0], "rb") as file:
                judge = ExecJudge(_rules.decode(file.read()))
            gc.collect()
            gc.freeze()
            continue
        pid = _fork()
        if pid == 0:
            control.close()
            gc.disable()  # it lives as long as a command
            _supervise(judge, socket.socket(fileno=descriptors[0]))
        os.close(descriptors[0])
        send(control, b"%d" % pid)


def supervise_one(channel: socket.socket) -> NoReturn:
    """Take rules and a job, and supervise that command with the standard streams of this process."""
    _message, descriptors = receive(channel)
    with open(descriptors[0], "rb") as file:
        judge = ExecJudge(_rules.decode(file.read()))
    status = 126 << 8
    try:
        status = Supervisor(judge, job_in(descriptors[1]), channel, (0, 1, 2)).run()
    finally:
        _end_as(status)


def _supervise(judge: ExecJudge, channel: socket.socket) -> NoReturn:
    """Wait for a job and run it; end as the command does."""
    status = 126 << 8
    try:
        os.setsid()
        _touch(judge)
        message, descriptors = receive(channel)
        if not message:
            os._exit(0)
        job = job_in(descriptors[0])
        status = Supervisor(judge, job, channel, (descriptors[1], descriptors[2], descriptors[3])).run()
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
    judge.finding(ExecFacts(("cat", "-n", "x"), "/", "/bin/cat", "/bin/cat"))
    encoded(Problem(""))
    job_in(sealed(SupervisedCommand(argv=("cat",), program="/bin/cat", env={}, cwd="/")))
    if (known := machine()) is not None:
        guard_filter(known)
    os.close(signal_descriptor(signal.SIGCHLD))
    thread = threading.Thread(target=libc)
    thread.start()
    thread.join()
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
