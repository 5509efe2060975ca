"""End a script as `Py_FinalizeEx` does: every effect that others can see, in its order, and nothing else."""

import _signal
import _socket
import _weakref
import atexit
import gc
import os
import sys

import modules_ahead
from job import libc

# The script may have replaced any of these.
_exit, _getpid, _closerange, _kill = os._exit, os.getpid, os.closerange, os.kill
_listdir, _open, _fsencode = os.listdir, open, os.fsencode
_set_signal, _get_signal = _signal.signal, _signal.getsignal
_HIGHEST = os.sysconf("SC_OPEN_MAX")


def end(error, private, leader):
    """Do everything that the end of the interpreter does, report the status, and exit. Never returns."""
    status = 1
    try:
        fresh = ()
        try:
            status = 0 if error is None else _status_of(error)
            error = None
            if _getpid() == leader:
                fresh = modules_ahead.fresh()
            if not _run_down():
                status = 120
            libc.fflush(None)
        except BaseException:
            pass
        if status is None:
            _set_signal(_signal.SIGINT, _signal.SIG_DFL)
            _kill(_getpid(), _signal.SIGINT)
        # A process that the script forked ends here, too, and has no status to report. Children are searched
        # for when this process is dead.
        if _getpid() == leader and not _has_children():
            number = private.fileno()
            _closerange(0, number)
            _closerange(number + 1, _HIGHEST)
            private.setblocking(True)
            private.send(b"S%d\0" % status + b"\0".join(map(_fsencode, fresh)), _socket.MSG_NOSIGNAL)
    except BaseException:
        pass
    finally:
        _exit(130 if status is None else status)


def _status_of(error):
    """Return the status the interpreter makes of an uncaught exception; None if it dies of SIGINT."""
    if isinstance(error, SystemExit):
        return _asked_for(error)
    kind, trace = type(error), error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        _complain("sys.excepthook is missing\n")
        hook = sys.__excepthook__
    try:
        hook(kind, error, trace)
    except SystemExit as asked:
        return _asked_for(asked)
    except BaseException as second:
        second.__traceback__ = second.__traceback__.tb_next
        _complain("Error in sys.excepthook:\n")
        sys.__excepthook__(type(second), second, second.__traceback__)
        _complain("\nOriginal exception was:\n")
        sys.__excepthook__(kind, error, trace)
    return None if kind is KeyboardInterrupt else 1


def _asked_for(error):
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    try:
        text = str(code)
    except BaseException:
        text = ""
    _complain(text)
    _complain("\n")
    return 1


def _complain(text):
    try:
        sys.stderr.write(text)
    except BaseException:
        pass


def _args_of_unraisable():
    """Return the type of the argument of `sys.unraisablehook`; Python does not name it."""
    got, hook = [], sys.unraisablehook
    sys.unraisablehook = lambda args: got.append(type(args))

    class Failing:
        def __del__(self):
            raise ValueError

    Failing()
    sys.unraisablehook = hook
    return got[0]


_Unraisable = _args_of_unraisable()
_HERE = __file__.rpartition("/")[0]


def _without_us(hook):
    """Wrap the hook for unraisable exceptions, which must not see our frames."""

    def cleaned(args):
        trace = args.exc_traceback
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
            trace = trace.tb_next
        hook(_Unraisable((args.exc_type, args.exc_value, trace, args.err_msg, args.object)))

    return cleaned


def _run_down():
    """End threads, exit functions, output, then everything that the script still holds; return False if
    output was lost."""
    sys.unraisablehook = _without_us(sys.unraisablehook)
    threads = sys.modules.get("threading")
    if threads is not None:
        try:
            threads._shutdown()
        except BaseException as error:
            _ignored(error, threads, error.__traceback__)
    atexit._run_exitfuncs()
    # From here on no other thread gets a turn unless this one waits.
    sys.setswitchinterval(1000.0)
    sys.is_finalizing = lambda: True
    whole = _flush_all()
    for number in _signal.valid_signals():
        if callable(_get_signal(number)):
            _set_signal(number, _signal.SIG_DFL)
    gc.collect()
    for name in (
        "path",
        "argv",
        "ps1",
        "ps2",
        "last_type",
        "last_value",
        "last_traceback",
        "last_exc",
        "meta_path",
    ):
        if name in sys.__dict__:
            setattr(sys, name, None)
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    _clear_modules()
    _flush(sys.stdout, loud=False)
    _flush(sys.stderr, loud=False)
    return whole


def _ignored(error, source, trace=None, message=None):
    sys.unraisablehook(_Unraisable((type(error), error, trace, message, source)))


#: The message for output that could not be written; older versions name the stream instead.
_UNFLUSHED = None
if sys.version_info >= (3, 13):
    word = "on" if sys.version_info < (3, 14) else "while"
    _UNFLUSHED = f"Exception ignored {word} flushing sys.stdout"


def _flush_all():
    whole = _flush(getattr(sys, "stdout", None), loud=True)
    _flush(getattr(sys, "stderr", None), loud=False)
    return whole


def _flush(stream, loud):
    """Flush a stream; return True if nothing was lost."""
    try:
        if stream is None or stream.closed:
            return True
    except BaseException:
        pass
    try:
        stream.flush()
    except BaseException as error:
        if loud:
            _ignored(error, stream if _UNFLUSHED is None else None, message=_UNFLUSHED)
        return not loud
    return True


def _clear_modules():
    """Drop the script's modules, so that the objects they hold are closed and finalised."""
    left = []
    for name, module in list(sys.modules.items()):
        if modules_ahead.is_own(name):
            continue
        try:
            left.append(_weakref.ref(module))
        except TypeError:
            pass
    # As at the real end, nothing can be imported any more. Objects that are not the script's must stay.
    kept = [module for name, module in sys.modules.items() if modules_ahead.is_own(name)]
    module = None
    sys.modules.clear()
    gc.collect()
    for each in reversed(left):
        names = getattr(each(), "__dict__", None)
        if type(names) is not dict:
            continue
        for private in (True, False):
            for name in list(names):
                if name != "__builtins__" and (name[:1] == "_" and name[1:2] != "_") == private:
                    names[name] = None
        names = None
    gc.collect()
    del kept


def _has_children():
    try:
        for thread in _listdir("/proc/self/task"):
            with _open(f"/proc/self/task/{thread}/children", "rb", 0) as file:
                if file.read(1):
                    return True
    except OSError:
        return True
    return False
