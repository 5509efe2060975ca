"""Find the files that programs of sed and awk read and write, and if they run commands.

A name that is put together at run time is a placeholder.
"""

from typing import NamedTuple

from hookline.shell.kinds import awk, sed
from hookline.shell.placeholders import HOLE, Words


class ScriptFiles(NamedTuple):
    reads: Words = ()
    writes: Words = ()
    #: It runs a line of shell.
    runs: bool = False
    #: False: not all of it could be read.
    sure: bool = True


_ANYTHING = ScriptFiles((HOLE,), (HOLE,), runs=True, sure=False)
#: Targets of writes that are not files.
_STREAMS = frozenset(("/dev/stdout", "/dev/stderr"))


def sed_script(code: str) -> ScriptFiles:
    """Read a program of sed. If it cannot be read, it may do anything."""
    actions = sed.actions(code)
    if sed.UNREAD in actions:
        return _ANYTHING
    named = {
        what: tuple(one.text.lstrip() for one in actions if one.what == what) for what in ("reads", "writes")
    }
    runs = any(one.what in {"runs", "input"} for one in actions)
    return ScriptFiles(named["reads"], _files(named["writes"]), runs)


def awk_script(code: str) -> ScriptFiles:
    """Read a program of awk, as far as its text shows."""
    reads, writes = awk.files(code)
    return ScriptFiles(reads, _files(writes), awk.runs(code))


def _files(names: Words) -> Words:
    return tuple(name for name in names if name not in _STREAMS)
