"""Fork the processes of Python scripts, run by the hook's own interpreter.

    python [flags] main.py CONTROL PADDING

On each request over the socket CONTROL it forks a process that waits on a socket for one job, runs it as the
interpreter would have, reports its exit status and ends. The zygote itself never sees a job, so nothing of
one run can reach another. Forked with CLONE_PARENT, these processes are children of the one that started the
zygote.

Everything must be the same as in a new interpreter:

- The flags, the streams (pipes here, too) and what start-up reads of the environment are the same from the
  beginning.
- Modules that were imported ahead are kept aside until they are imported (`modules_ahead`).
- Whatever is not plain before the script's own code runs (it cannot be compiled, or with warnings; it is a
  directory, an archive or bytecode) replaces the process by the real interpreter, with the same pid,
  descriptors and environment.
- The end does what the end of an interpreter shows to others (`finish`).
"""

import sys

_AT_START = dict(sys.modules)
if sys.version_info < (3, 10) or sys.implementation.name != "cpython":
    import os

    os.write(int(sys.argv[1]), b"Eonly CPython from 3.10 on can be started ahead")
    sys.exit(1)
_HERE = __file__.rpartition("/")[0]
if sys.path[:1] != [_HERE]:
    sys.path.insert(0, _HERE)

import modules_ahead

modules_ahead.at_start.update(_AT_START)

import _signal
import _socket
import builtins
import ctypes
import gc
import os

import finish
import pages
import sources
from job import Surroundings, WarmJob, libc, prepared

del sys.path[0]
for _name in ("modules_ahead", "sources", "job", "finish", "pages"):
    del sys.modules[_name]
sys.path_importer_cache.pop(_HERE, None)

_python = ctypes.pythonapi
# By machine: the number of clone, and True if the address for the thread's id comes before the one for its
# storage.
_CLONES = {"x86_64": (56, True), "aarch64": (220, False), "riscv64": (220, False)}
_CLONE_PARENT, _CLONE_CHILD_SETTID, _CLONE_CHILD_CLEARTID = 0x8000, 0x01000000, 0x00200000
_PR_GET_TID_ADDRESS = 40
_IDLE_SECONDS = 900.0
_LONGEST_MESSAGE = 1 << 20
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")


class CannotServe(Exception):  # noqa: N818 - it is a finding, not an error
    """This interpreter or system cannot have warm scripts."""


def _clone_arguments():
    machine = os.uname().machine
    if machine not in _CLONES or sys.maxsize < 1 << 32:
        raise CannotServe(f"the system call for it is not known on {machine}")
    number, id_first = _CLONES[machine]
    flags = _CLONE_PARENT | int(_signal.SIGCHLD)
    address = ctypes.c_void_p()
    # The C library keeps the id of the main thread; without this it would stay that of the zygote.
    if libc.prctl(_PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0 and address.value:
        flags |= _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID
    none, tid = ctypes.c_void_p(0), ctypes.c_void_p(address.value)
    libc.syscall.restype = ctypes.c_long
    last = (tid, none) if id_first else (none, tid)
    return (ctypes.c_long(number), ctypes.c_long(flags), none, none, *last)


def _fork(arguments):
    """Fork; return 0 in the child, its pid in the zygote, or minus an error number."""
    _python.PyOS_BeforeFork()
    pid = libc.syscall(*arguments)
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0
    failed = ctypes.get_errno() if pid < 0 else 0
    _python.PyOS_AfterFork_Parent()
    return -failed if pid < 0 else pid


def _receive(sock):
    data, ancillary, _flags, _address = sock.recvmsg(
        _LONGEST_MESSAGE, _socket.CMSG_SPACE(4 * 64), _socket.MSG_CMSG_CLOEXEC
    )
    descriptors = []
    for level, kind, raw in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            places = range(0, len(raw) - 3, 4)
            descriptors += [int.from_bytes(raw[place : place + 4], sys.byteorder) for place in places]
    return data, descriptors


# Facts that the start depends on


def _hello():
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise CannotServe("it runs without the global lock")
    places, texts = _start_up_code()
    names = _variables(texts)
    if names is None:
        raise CannotServe("code that it runs at start-up reads the environment")
    return b"\0".join([b"H", b" ".join(names), *map(os.fsencode, places)])


def _start_up_code():
    """Return (files and directories, texts) that decide what happens at start-up: .pth files, and modules
    loaded by them."""
    places, texts = [], []
    if "site" not in _AT_START or sys.flags.no_site:
        return places, texts
    for directory in _package_directories():
        places.append(directory)
        try:
            names = sorted(name for name in os.listdir(directory) if name.endswith(".pth"))
        except OSError:
            continue
        for name in names:
            places.append(os.path.join(directory, name))
            lines = (sources.read(places[-1]) or b"").splitlines()
            texts += [line for line in lines if line.startswith((b"import ", b"import\t"))]
    for name, module in _AT_START.items():
        file, spec = getattr(module, "__file__", None), getattr(module, "__spec__", None)
        custom = name in ("sitecustomize", "usercustomize")
        foreign = spec is not None and not modules_ahead.is_standard(spec)
        if file and name != "__main__" and (custom or foreign):
            places.append(file)
            texts.append(sources.read(file) or b"")
    return places, texts


def _package_directories():
    site = _AT_START["site"]
    directories = [each for each in sys.path if each not in modules_ahead.STANDARD]
    try:
        directories += [*site.getsitepackages(), site.getusersitepackages() if site.ENABLE_USER_SITE else ""]
    except Exception:
        pass
    return [
        each
        for each in dict.fromkeys(directories)
        if os.path.basename(each) in ("site-packages", "dist-packages")
    ]


def _variables(texts):
    """Return the names of environment variables that start-up code may read; None if it may read any."""
    names = []
    for text in texts:
        if b"environ" not in text and b"getenv" not in text:
            continue
        quoted = text.replace(b'"', b"'").split(b"'")
        found = [word for word in quoted if len(word) > 2 and _UPPER.issuperset(word)]
        if not found:
            return None
        names += found
    return names


# Forking and waiting


def _serve(control):
    """Fork on request. Returns, in a forked process only, the socket that its job comes from."""
    arguments = _clone_arguments()
    control.sendmsg([_hello()])
    modules_ahead.watch_imports()
    modules_ahead.keep_aside()
    control.settimeout(_IDLE_SECONDS)
    while True:
        data, descriptors = _receive(control)
        if not data or len(descriptors) != 1:
            finish._exit(0)
        names, _, scripts = data.partition(b"\0\0")
        modules_ahead.preload([os.fsdecode(each) for each in names.split(b"\0")[1:] if each])
        sources.compile_ahead([os.fsdecode(each) for each in scripts.split(b"\0") if each])
        modules_ahead.keep_aside()  # a warning of the compiler imports some
        gc.collect()
        gc.freeze()
        pid = _fork(arguments)
        if pid == 0:
            control.close()
            builtins.__import__ = modules_ahead.plain_import
            return descriptors[0]
        os.close(descriptors[0])
        control.sendmsg([b"P%d" % pid])


def _wait(descriptor):
    """Wait for the job; return it, and the private socket under a number that is out of the script's way."""
    os.setsid()
    number = min(os.sysconf("SC_OPEN_MAX") - 1, 250)
    os.dup2(descriptor, number, False)
    os.close(descriptor)
    private = _socket.socket(fileno=number)
    gc.collect()
    pages.take_all(libc)
    private.settimeout(_IDLE_SECONDS)
    private.send(b"R%d" % os.getpid(), _socket.MSG_NOSIGNAL)
    data, descriptors = _receive(private)
    if not data:
        finish._exit(0)
    private.settimeout(None)
    return WarmJob(data, descriptors), private


def _begin(job, private, surroundings):
    """Return the function to call. Any obstacle is reported to the owner, and the real interpreter takes over."""
    try:
        job.take_descriptors(private.fileno())
        surroundings.become(job)
    except BaseException as error:
        # Nothing has run yet: the owner starts it in the ordinary way.
        private.send(b"N" + repr(error).encode("utf-8", "replace"), _socket.MSG_NOSIGNAL)
        finish._exit(0)
    try:
        call = prepared(job)
    except BaseException as error:
        private.send(b"X" + str(error).encode("utf-8", "replace"), _socket.MSG_NOSIGNAL)
        job.replace_process()
        raise
    private.send(b"A", _socket.MSG_NOSIGNAL)
    return call


def _job():
    """Be the zygote; the rest of this function happens in forked processes."""
    control = _socket.socket(fileno=int(sys.argv[1]))
    try:
        surroundings = Surroundings()
        job, private = _wait(_serve(control))
    except (OSError, EOFError):
        finish._exit(0)  # the owner is gone, or nothing was requested for a long time
    except BaseException as error:
        control.sendmsg([b"E" + str(error).encode("utf-8", "replace")])
        finish._exit(1)
    return private, _begin(job, private, surroundings)


if __name__ == "__main__":
    private, call = _job()
    leader, failed = os.getpid(), None
    try:
        # From here and not from a function, so that only one frame is below that of the script.
        call[0](*call[1:])
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next
        failed = [error]
    call = None
    finish.end(failed.pop() if failed else None, private, leader)
