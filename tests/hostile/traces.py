"""Read what a command and all its processes did, as strace saw it: programs started, connections, files changed.

One trace file per process (`strace -ff`), so that no call is split over two lines.
"""

import ast
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

#: A program that was started or tried, an address that was connected to, a path that was written.
What = Literal["exec", "connect", "write"]

_OPENS = ("open", "openat", "openat2", "creat")
#: Calls that change a file by name, and which of their texts are the names that change.
_CHANGES = {
    "rename": (0, 1), "renameat": (0, 1), "renameat2": (0, 1), "unlink": (0,), "unlinkat": (0,), "rmdir": (0,),
    "mkdir": (0,), "mkdirat": (0,), "symlink": (1,), "symlinkat": (1,), "link": (1,), "linkat": (1,), "truncate": (0,),
    "mknod": (0,), "mknodat": (0,), "chmod": (0,), "fchmodat": (0,), "fchmodat2": (0,), "chown": (0,), "lchown": (0,),
    "fchownat": (0,), "utimensat": (0,), "setxattr": (0,), "lsetxattr": (0,), "bind": (0,),
}  # fmt: skip
#: A request can be sent without connecting first.
_SENDS = ("sendto", "sendmsg", "sendmmsg")
_CALLS = ("execve", "execveat", "connect", *_SENDS, *_OPENS, *_CHANGES)

_LINE = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|\?)(?:<(.*?)>)?(?: (E\w+).*)?$", re.DOTALL)
_TEXT = re.compile(r'(?:(?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"')
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE")
_ADDRESS = re.compile(r"sa_family=AF_(INET6?|UNIX).*?(?=\}|$)")


class Act(Struct, frozen=True):
    what: What
    #: The path or the address; for a program its words.
    about: str
    words: tuple[str, ...] = ()
    #: The system call and what it returned, for messages.
    call: str = ""


@cache
def problem() -> str | None:
    """Return why nothing can be traced here, or None."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run([*_strace("/dev/null"), "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip()[:200]}"


def traced(words: list[str], directory: Path) -> list[str]:
    """The command line that runs these words and leaves traces in the directory, which is made."""
    directory.mkdir(parents=True)
    return [*_strace(str(directory / "trace")), *words]


def _strace(output: str) -> list[str]:
    """With a filter in the kernel: calls that are not asked for cost nothing."""
    return ["strace", "-ff", "--seccomp-bpf", "-qq", "-y", "-s", "65536", "-e", "signal=none",
            "-e", f"trace={','.join(f'?{call}' for call in _CALLS)}", "-o", output]  # fmt: skip


def actions(directory: Path) -> Iterator[Act]:
    """Return what happened, process by process; the start of the command itself is included."""
    for file in sorted(directory.iterdir()):
        for line in file.read_text("utf-8", "backslashreplace").splitlines():
            yield from actions_of(line)


def actions_of(line: str) -> Iterator[Act]:
    """Return what one line of a trace says was done or, for programs and connections, tried."""
    matched = _LINE.match(line)
    if matched is None:
        if line.startswith(("execve", "connect")):  # killed in the middle of it
            yield Act("exec" if line.startswith("exec") else "connect", line, call=line)
        return
    name, arguments, returned, opened, _error = matched.groups()
    failed = returned.startswith("-")
    if name.startswith("execve"):
        words = tuple(_unquoted(text) for _, text in _TEXT.findall(arguments))
        yield Act("exec", words[0] if words else arguments, words[1:], call=line)
    elif name in {"connect", *_SENDS}:
        address = _ADDRESS.search(arguments)
        if address is not None:
            yield Act("connect", address.group(), call=line)
    elif failed:
        return
    elif name in _OPENS:
        if name == "creat" or _WRITES.search(_TEXT.sub("", arguments)):
            yield Act("write", _unquoted(opened or arguments), call=line)
    else:
        yield from _changes(name, arguments, line)


def _changes(name: str, arguments: str, line: str) -> Iterator[Act]:
    found = _TEXT.findall(arguments)
    for which in _CHANGES[name]:
        if which < len(found):
            base, text = found[which]
            yield Act("write", _resolved(os.path.join(_unquoted(base), _unquoted(text))), call=line)


def _resolved(path: str) -> str:
    """The real directory a name is in; the name itself may be a link that was made or removed."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path.rstrip("/")))


def _unquoted(text: str) -> str:
    """strace writes bytes as C does, which Python reads as well."""
    if "\\" not in text:
        return text
    raw: bytes = ast.literal_eval(
        "b'" + text.replace("'", "\\'").encode("ascii", "backslashreplace").decode() + "'"
    )
    return raw.decode("utf-8", "surrogateescape")
