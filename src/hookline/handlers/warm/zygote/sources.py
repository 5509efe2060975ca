"""Read scripts anew for every run, and compile them ahead where they have not changed since."""

import os
import sys

_MOST_SCRIPTS = 16
_LONGEST_SCRIPT = 1 << 18
_codes = {}


class _Silence:
    """A replacement for stderr while a script is compiled: remembers if there was a warning."""

    broken = False

    def write(self, text):
        self.broken = True
        return len(text)

    def flush(self):
        pass


def compiled(source, filename):
    """Compile a source; return None where the interpreter would print something about it."""
    silence, stderr = _Silence(), sys.stderr
    sys.stderr = silence
    try:
        code = compile(source, filename, "exec", 0, True)
    except BaseException:
        return None
    finally:
        sys.stderr = stderr
    return None if silence.broken else code


def compile_ahead(filenames):
    for filename in filenames:
        source = read(filename)
        if source is None or len(source) > _LONGEST_SCRIPT or _codes.get(filename, (None,))[0] == source:
            continue
        code = compiled(source, filename)
        if code is not None:
            _codes.pop(filename, None)
            _codes[filename] = (source, code)
            if len(_codes) > _MOST_SCRIPTS:
                del _codes[next(iter(_codes))]


def code_of(filename):
    """Return the code of a script as it is now; None where the real interpreter has to read it."""
    source = read(filename)
    if source is None:
        return None
    known = _codes.get(filename)
    return known[1] if known is not None and known[0] == source else compiled(source, filename)


def read(filename):
    """Return the bytes of a plain source file, or None for anything else."""
    try:
        descriptor = os.open(filename, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        if os.fstat(descriptor).st_mode & 0o170000 != 0o100000:
            return None
        parts = []
        while True:
            part = os.read(descriptor, 1 << 16)
            if not part:
                break
            parts.append(part)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    source = b"".join(parts)
    # Bytecode holds NULs; an archive, whatever it begins with, has this mark near its end.
    if filename.endswith(".pyc") or b"\0" in source or b"PK\5\6" in source:
        return None
    return source
