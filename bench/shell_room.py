"""Run lines with real shells inside a namespace, and report which forbidden programs each of them started.

`bench.shell_sandbox` starts this file as a program, with the standard library alone. From here on it runs without
rights, in new namespaces (users, mounts, processes, network), in a new file system:
the system's programs and configuration read-only, and a room of temporary files that is new for every line. The
forbidden programs are shims that leave a mark, by whatever path they are started.

It reads one request a line (JSON: shell, line, seconds, whether the room is read-only) and answers each with one line:
the marks ({program: how it was started}), and whether it had to be ended.
"""

import ctypes
import json
import os
import resource
import signal
import struct
import sys
import time

#: The program of each shell, the name it is started by, and the user the lines are run by, as they see it: some things
#: only root can do (chroot), and some are not done for root (PS4 from the environment).
_SHELLS = {"bash": ("/usr/bin/bash", "bash", 1000), "dash": ("/usr/bin/dash", "sh", 0)}
_NOBODY = 65534
NEWNS, _NEWUSER, _NEWPID, _NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
NOSUID, _RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 2, 1, 32, 4096, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/usr/sbin",
    "HOME": "/room/home",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "GIT_CONFIG_NOSYSTEM": "1",
}
#: The files of the room when a line begins: names that lines use, none of them a program.
_FILES = {
    "f": "one\ntwo\nthree\n",
    "y": "y\n",
    "list": "y\nf\n",
    "d/a.txt": "one\n",
    "a.py": "print(1)\n",
    "Makefile": "all:\n\t@true\n",
    "home/.profile": "",
}
_REPOSITORY = (
    "git init -q -b main . && git config user.name a && git config user.email a@b && git add f y d && "
    "git commit -qm one && echo four >> f && git commit -qam two && echo five >> f"
)
#: How long processes that a line left running may continue after it.
_GRACE = 0.4

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    _checked(
        _libc.mount(source.encode(), target.encode(), kind.encode() or None, flags, options.encode() or None),
        f"mount {source} on {target}",
    )


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def _unshare_as(user: int, others: int = 0) -> None:
    """Into a namespace where our own user, the only one in it, has this number."""
    uid, gid = os.getuid(), os.getgid()
    unshare(_NEWUSER | others)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {uid} 1"), ("gid_map", f"{user} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def enter() -> None:
    """Enter new namespaces, as a user without rights outside. The caller continues as process 1 there."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        # Having changed the user, we may not write our own maps before this.
        _libc.prctl(4, 1, 0, 0, 0)
    _unshare_as(0, NEWNS | _NEWPID | _NEWNET)
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
    # The processes inside end with process 1, and that one with the one that waits outside.
    _libc.prctl(1, signal.SIGKILL, 0, 0, 0)


def furnish(forbidden: list[str]) -> None:
    """A root file system of our own: the old one is gone afterwards."""
    root = "/tmp"
    mount("none", "/", flags=_REC | _PRIVATE)
    mount("tmpfs", root, "tmpfs", NOSUID, "size=64m,mode=755")
    for name in ("usr", "etc", "dev", "proc", "mark", "room", "shims", "kept"):
        os.mkdir(f"{root}/{name}")
    for name in ("usr", "etc"):
        mount(f"/{name}", f"{root}/{name}", flags=_BIND | _REC)
        mount("none", f"{root}/{name}", flags=_BIND | _REMOUNT | _RDONLY | NOSUID)
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink(f"/{name}"):
            os.symlink(f"usr/{name}", f"{root}/{name}")
        elif os.path.isdir(f"/{name}"):
            os.mkdir(f"{root}/{name}")
            mount(f"/{name}", f"{root}/{name}", flags=_BIND | _REC)
    _devices(root)
    mount("proc", f"{root}/proc", "proc", NOSUID)
    mount("tmpfs", f"{root}/usr/local", "tmpfs", NOSUID, "size=1m,mode=755")
    os.mkdir(f"{root}/usr/local/bin")
    for name in forbidden:
        _forbid(root, name)
    os.symlink("room/tmp", f"{root}/tmp")
    os.chdir(root)
    _checked(_libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _DETACH), "umount the old root")
    os.chdir("/")


def _devices(root: str) -> None:
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        open(f"{root}/dev/{name}", "w").close()
        mount(f"/dev/{name}", f"{root}/dev/{name}", flags=_BIND)
    os.mkdir(f"{root}/dev/pts")
    mount("devpts", f"{root}/dev/pts", "devpts", NOSUID, "newinstance,ptmxmode=0666,mode=0620")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"{root}/dev/{name}")


def _forbid(root: str, name: str) -> None:
    """Replace the program of that name by a shim, wherever it was; in a directory of the PATH if it was nowhere."""
    shim = f"{root}/shims/{name}"
    with open(shim, "wb") as file:
        file.write(_shim(f"/mark/{name}"))
    os.chmod(shim, 0o755)
    places = [
        place
        for place in (
            f"{root}/usr/bin/{name}",
            f"{root}/usr/sbin/{name}",
            f"{root}/bin/{name}",
            f"{root}/sbin/{name}",
        )
        if os.path.exists(place)
    ]
    if not places:
        places = [f"{root}/usr/local/bin/{name}"]
        open(places[0], "w").close()
    for place in {os.path.realpath(place) for place in places}:
        mount(shim, place, flags=_BIND)
        mount("none", place, flags=_BIND | _REMOUNT | _RDONLY | NOSUID)


def _shim(mark: str) -> bytes:
    """A program that appends its arguments to the mark and succeeds.

    Machine code where we know how: it is started faster than a script, needs no interpreter, and the dynamic linker
    takes it for a program.
    """
    if os.uname().machine != "x86_64":
        return f'#!/bin/sh\nprintf "%s\\0" "$0" "$@" >> {mark}\n'.encode()
    before = bytes.fromhex(
        "488b0424"  # rax = argc
        "488b742408"  # rsi = argv[0]
        "488b54c410"  # rdx = envp[0], which follows the arguments in memory
        "4989f44989d5"  # kept in r12, r13
        "b802000000"  # open
    )
    after = bytes.fromhex(
        "be41040000"  # to append, made if missing
        "bab60100000f05"  # readable by all; call
        "89c74c89e64c89ea4829f2"  # that file, from argv[0], up to envp[0]
        "b8010000000f05"  # write; call
        "b83c00000031ff0f05"  # exit 0; call
    )
    code = before + b"\x48\x8d\x3d" + struct.pack("<i", len(after)) + after + mark.encode() + b"\0"
    base, headers = 0x400000, 64 + 56
    size = headers + len(code)
    return (
        b"\x7fELF\x02\x01\x01" + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + headers, 64, 0, 0, 64, 56, 1, 0, 0, 0)
        + struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
        + code
    )  # fmt: skip


def furnish_room() -> None:
    """Make what every line finds, once: the lines themselves only see a copy."""
    for name, text in _FILES.items():
        os.makedirs(os.path.dirname(f"/kept/{name}"), exist_ok=True)
        with open(f"/kept/{name}", "w") as file:
            file.write(text)
    os.mkdir("/kept/tmp", 0o1777)
    maker = os.fork()
    if maker == 0:
        os.chdir("/kept")
        environment = {**ENVIRONMENT, "HOME": "/kept/home"}
        os.execve("/bin/sh", ["sh", "-c", f"{{ {_REPOSITORY}; }} >/dev/null 2>&1"], environment)
    os.waitpid(maker, 0)


def _new_room(read_only: bool) -> None:
    """In the process of the line alone: the room goes with it. Nothing but the room and the marks can be written, or a
    line could change what the next ones find: the shims, for one."""
    unshare(NEWNS)
    mount("/mark", "/mark", flags=_BIND)
    for place in ("/", "/usr/local"):
        mount("none", place, flags=_BIND | _REMOUNT | _RDONLY | NOSUID)
    mount("tmpfs", "/room", "tmpfs", NOSUID, "size=32m,mode=755")
    for name in ("changes", "work"):
        os.mkdir(f"/room/{name}")
    mount("overlay", "/room", "overlay", 0, "lowerdir=/kept,upperdir=/room/changes,workdir=/room/work")
    if read_only:
        mount("none", "/room", flags=_REMOUNT | _BIND | _RDONLY)
    os.chdir("/room")


def limits(seconds: float) -> None:
    for limit, value in (
        (resource.RLIMIT_CPU, int(seconds) + 1),
        (resource.RLIMIT_FSIZE, 16 << 20),
        (resource.RLIMIT_NPROC, 400),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_DATA, 2 << 30),
    ):
        resource.setrlimit(limit, (value, value))


def run(shell: str, line: str, seconds: float, read_only: bool) -> tuple[dict[str, list[str]], bool]:
    """The marks that the line left, and whether it was ended before it was over."""
    child = os.fork()
    if child == 0:
        try:
            _become(shell, line, seconds, read_only)
        finally:
            os._exit(126)
    deadline = time.monotonic() + seconds
    ended = True
    while time.monotonic() < deadline:
        try:
            pid = os.waitpid(-1, os.WNOHANG)[0]
        except ChildProcessError:
            ended = False
            break
        if pid == child:
            deadline = min(deadline, time.monotonic() + _GRACE)
        elif pid == 0:
            signal.sigtimedwait([signal.SIGCHLD], 0.02)
            if os.listdir("/mark"):
                break
    end_all()
    return _marks(), ended


def _become(shell: str, line: str, seconds: float, read_only: bool) -> None:
    program, name, user = _SHELLS[shell]
    os.setsid()
    _new_room(read_only)
    limits(seconds)
    if user:
        # The process came from one that may not be inspected, and so may not write its own maps.
        _libc.prctl(4, 1, 0, 0, 0)
        _unshare_as(user)
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.closerange(3, 64)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, [name, "-c", line], {**ENVIRONMENT, "PWD": "/room"})


def end_all() -> None:
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _marks() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in os.listdir("/mark"):
        with open(f"/mark/{name}", "rb") as file:
            found[name] = file.read(2000).decode("utf-8", "replace").split("\0")[:-1]
        os.unlink(f"/mark/{name}")
    return found


def main() -> None:
    enter()
    furnish(sys.argv[1:])
    furnish_room()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    # Programs that a line starts cannot inspect this process, nor write where it answers.
    _libc.prctl(4, 0, 0, 0, 0)
    print(json.dumps("ready"), flush=True)
    for request in sys.stdin.buffer:
        print(json.dumps(run(*json.loads(request))), flush=True)


if __name__ == "__main__":
    main()
