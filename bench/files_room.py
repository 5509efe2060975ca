"""Inside the namespace: runs commands, and says which files of the room each of them read and wrote.

`bench.soak_files` starts this as a program, in the sandbox of `bench.shell_room`. A file that was read has a newer
time of access, one that was written is new, gone or changed; nothing needs to watch the command itself.

It reads one request a line (JSON: the words of a command) and answers each with one line: what was read, what was
written, and whether the command could be started and ended in time.
"""

import json
import os
import signal
import sys
import time

from bench import shell_room as room

SECONDS = 5.0
_TEXT = "KEY=1\nx: y\n"
#: What the room holds: names that the commands use, some of them with content.
_FILES = {
    **dict.fromkeys(
        (
            ".env", ".env.example", ".ssh/id_rsa", "a", "a.out", "a.png", "a.ts", "a.txt", "b", "b.txt", "base/src/z",
            "big.txt", "cookies.txt", "curlrc", "d/a.txt", "data.txt", "deploy.sh", "docs/x", "dump.hex", "dump.sql",
            "f", "fix.diff", "fix.patch", "g", "headers.txt", "key.pem", "list", "list.txt", "log.txt", "msg.txt",
            "notes.md", "old/x", "patterns.txt", "requirements.txt", "run.sh", "src/a.py", "target", "tests/test_a.py",
            "tool", "urls.txt", "words.txt", "x.yaml", "y",
        ),
        _TEXT,
    ),
    **dict.fromkeys(("a.json", "x.json", "secrets.json"), '{"a": {"token": 1}}\n'),
    **dict.fromkeys(("a.py", "tool.py"), "print(1)\n"),
    "app.js": "console.log(1)\n",
    "a.c": "int main(void) { return 0; }\n",
    "b.c": "int x;\n",
    "prog.jq": ".a\n",
    "prog.awk": "{ print }\n",
    "script.sed": "p\n",
    "other.mk": "all:\n\ttrue\n",
}  # fmt: skip
_MADE = "tar cf a.tar src d; tar czf a.tgz src; gzip -k log.txt; mv log.txt.gz log.gz; zip -qr a.zip src"


def _furnish(files: dict[str, bytes]) -> None:
    """A room with these files. They are older than their content, so that reading one makes it newer: that is when file
    systems note the time of access today.
    """
    room.mount("tmpfs", "/room", "tmpfs", room.NOSUID, "size=32m,mode=755")
    os.chdir("/room")
    os.mkdir("tmp", 0o1777)
    os.mkdir("home")
    for name, content in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(content)
        os.utime(name, (1, 2))


def _files() -> dict[str, bytes]:
    """With the archives, which are packed once."""
    _furnish({name: text.encode() for name, text in _FILES.items()})
    _start(["/bin/sh", "-c", _MADE])
    found: dict[str, bytes] = {}
    for path in _walk():
        with open(path, "rb") as file:
            found[path] = file.read()
    return found


def _start(words: list[str]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            room.limits(SECONDS)
            nothing = os.open("/dev/null", os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nothing, descriptor)
            os.closerange(3, 64)
            os.execvpe(words[0], words, {**room.ENVIRONMENT, "PWD": "/room"})
        finally:
            os._exit(127)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) != 127
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _walk() -> list[str]:
    found: list[str] = []
    for directory, directories, files in os.walk("."):
        directories[:] = [
            name
            for name in directories
            if (directory, name) not in {(".", ".git"), (".", "tmp"), (".", "home")}
        ]
        found += [os.path.normpath(os.path.join(directory, name)) for name in files]
    return found


def _observed(words: list[str]) -> tuple[list[str], list[str], bool]:
    before = {path: os.lstat(path) for path in _walk()}
    started = _start(words)
    after = {path: os.lstat(path) for path in _walk()}
    reads = [path for path, was in before.items() if path in after and after[path].st_atime != was.st_atime]
    changed = [
        path
        for path, now in after.items()
        if path not in before or (now.st_mtime, now.st_mode) != (before[path].st_mtime, before[path].st_mode)
    ]
    return reads, [*changed, *(path for path in before if path not in after)], started


def _answer(words: list[str], files: dict[str, bytes]) -> str:
    """Run in a separate process: the room ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            room.unshare(room.NEWNS)
            _furnish(files)
            with os.fdopen(writing, "w") as file:
                file.write(json.dumps(_observed(words)))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        answer = file.read()
    room.end_all()
    return answer or json.dumps([[], [], False])


def main() -> None:
    room.enter()
    room.furnish([])
    files = _files()
    print(json.dumps("ready"), flush=True)
    for request in sys.stdin:
        print(_answer(json.loads(request), files), flush=True)


if __name__ == "__main__":
    main()
