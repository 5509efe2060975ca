"""Take one job from the owner, and turn a waiting process into the one that its start would have made."""

import _signal
import builtins
import ctypes
import os
import posix
import runpy  # noqa: F401 - imported ahead, for `python -m`
import sys
import time
from importlib.machinery import BuiltinImporter, SourceFileLoader

import modules_ahead
import sources

libc = ctypes.PyDLL(None, use_errno=True)  # with the GIL held: a fork must not run anything else
_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_RLIMIT_LOCKS = 10
#: True if the interpreter puts the directory of a script into sys.path.
USES_FIRST_PATH = not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated)


class Elsewhere(Exception):  # noqa: N818 - it says where the job is done, not that something is wrong
    """The real interpreter has to run it."""


class WarmJob:
    """The script to run: the message of the owner (see `scripts._job`), and the descriptors that came with it."""

    def __init__(self, message, descriptors):
        numbers, self.cwd, self.program, self.form, *rest = message.split(b"\0")
        self.umask, self.batch, self.locks, self.script_at, count, *self.keeps = map(int, numbers.split())
        self.argv, self.env = rest[:count], rest[count:]
        self.descriptors = descriptors

    def take_descriptors(self, private):
        """Move standard streams to 0, 1 and 2, and sealed files to the numbers that argv names."""
        targets = [0, 1, 2, *self.keeps]
        if private in targets or len(targets) != len(self.descriptors):
            raise OSError("the numbers of the descriptors do not fit")
        above = max(*targets, *self.descriptors, private) + 1
        for index, descriptor in enumerate(self.descriptors):
            os.dup2(descriptor, above + index, False)
            os.close(descriptor)
        for index, target in enumerate(targets):
            os.dup2(above + index, target, True)
            os.close(above + index)

    def replace_process(self):
        """Start the real interpreter in this process."""
        for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
            _signal.signal(number, _signal.SIG_DFL)
        os.execve(self.program, self.argv, dict(entry.partition(b"=")[::2] for entry in self.env))


class Surroundings:
    """The parts of the zygote's own start that have to be undone or kept for each job."""

    def __init__(self):
        with open("/proc/self/stat", "rb", 0) as file:
            fields = file.read().rpartition(b")")[2].split()
        #: The memory that /proc shows as command line and as environment.
        self._arguments = tuple(map(int, fields[45:47]))
        self._environment = tuple(map(int, fields[47:49]))
        if not (self._arguments[0] > 0 and 0 < self._environment[0] < self._environment[1]):
            raise OSError("the kernel does not say where the environment is")
        with open("/proc/self/environ", "rb", 0) as file:
            given = {entry.partition(b"=")[0] for entry in file.read().split(b"\0")}
        #: Variables that the interpreter itself added to its environment: LC_CTYPE, if the locale is C.
        self._added = [(name, value) for name, value in os.environ._data.items() if name not in given]
        self._dumpable = libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0)
        # Another process of this user must not read its memory, nor that of a process waiting for its job.
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)

    def become(self, job):
        os.umask(job.umask)
        if job.batch:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        if job.locks:
            limit = (ctypes.c_ulong * 2)(job.locks, ctypes.c_ulong(-1).value)
            libc.setrlimit(_RLIMIT_LOCKS, ctypes.byref(limit))
        os.chdir(job.cwd)
        self.set_environment([entry.partition(b"=")[::2] for entry in job.env])
        self._show(job.argv, job.env)
        libc.prctl(_PR_SET_DUMPABLE, self._dumpable, 0, 0, 0)

    def set_environment(self, pairs):
        for name in list(posix.environ):
            posix.unsetenv(name)
        posix.environ.clear()
        named = {name for name, _ in pairs}
        data = os.environ._data
        data.clear()
        for name, value in [*pairs, *(pair for pair in self._added if pair[0] not in named)]:
            posix.putenv(name, value)
            posix.environ[name] = value
            data[name] = value

    def _show(self, argv, env):
        """Write command line and environment where /proc reads them; the run's tag, by which it is found, first."""
        tag = [entry for entry in env if entry.startswith(b"HOOKLINE_RUN_ID=")]
        others = [entry for entry in env if entry not in tag]
        _overwrite(self._environment, [*tag, *others]) or _overwrite(self._environment, tag)
        _overwrite(self._arguments, argv)


def _overwrite(area, entries):
    start, end = area
    text = b"".join(entry + b"\0" for entry in entries)
    if len(text) > end - start:
        return False
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))
    return True


def prepared(job):
    """Return the function to call and its arguments, so that the script runs as `__main__`. Raises Elsewhere."""
    words = [os.fsdecode(each) for each in job.argv]
    target = words[job.script_at]
    for entry in list(sys.path_importer_cache):
        if entry not in modules_ahead.STANDARD:
            del sys.path_importer_cache[entry]
    main = type(sys)("__main__")
    names = main.__dict__
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    names["__builtins__"] = builtins
    names["__loader__"] = BuiltinImporter
    if job.form == b"file":
        call = (exec, _file(target, names), names)
        argv, first = words[job.script_at :], _first_path(target)
    elif job.form == b"code":
        call = (exec, _text(target), names)
        argv, first = ["-c", *words[job.script_at + 1 :]], ""
    else:
        import runpy

        call = (runpy._run_module_as_main, target)
        argv, first = ["-m", *words[job.script_at + 1 :]], os.getcwd()
    _start_clocks()
    sys.argv, sys.orig_argv = argv, words
    if USES_FIRST_PATH:
        sys.path.insert(0, first)
    sys.modules["__main__"] = main
    return call


def _start_clocks():
    """Set anew what modules imported ahead found out about the process then."""
    logging = modules_ahead.kept("logging")
    if logging is not None:  # its records are timed from its import
        logging._startTime = time.time() if sys.version_info < (3, 13) else time.time_ns()
    threading = modules_ahead.kept("threading") or sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._set_native_id()


def _file(script, names):
    filename = _absolute(script)
    code = sources.code_of(filename)
    if code is None:
        raise Elsewhere("it is not a Python file that compiles without a warning")
    names["__file__"], names["__cached__"] = filename, None
    names["__loader__"] = SourceFileLoader("__main__", filename)
    return code


def _text(source):
    code = sources.compiled(source.encode("utf-8", "surrogateescape"), "<string>")
    if code is None:
        raise Elsewhere("it does not compile without a warning")
    if sys.version_info >= (3, 13):  # its lines are shown in tracebacks
        import linecache

        linecache._register_code("<string>", source, "<string>")
    return code


def _first_path(script):
    """Return what the interpreter puts before sys.path for a script."""
    path = script
    try:
        link = os.readlink(script)
    except OSError:
        link = ""
    if link.startswith("/"):
        path = link
    elif "/" in link:
        path = os.path.join(os.path.dirname(script), link)
    try:
        path = os.path.realpath(path, strict=True)
    except OSError:
        pass
    head = path.rpartition("/")[0]
    return head or ("/" if path.startswith("/") else "")


def _absolute(script):
    """Make a path absolute as the interpreter does it: nothing is resolved but a leading `./`."""
    if script.startswith("/"):
        return script
    while script.startswith("./"):
        script = script[2:].lstrip("/")
    return f"{os.getcwd().rstrip('/')}/{script}"
