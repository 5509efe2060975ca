"""Kill commands while one of their hooks does everything to leave processes behind.

Each case runs in a separate process that adopts every orphan (`python -m bench.kill_cases COMMAND SIGNAL ROUNDS`),
so the kernel counts survivors, not the marks that Hookline itself uses.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.process_cases import EMPTIED, ESCAPES, ROOT
from hookline.checks.commands.programs import SURVIVORS
from hookline.handlers.process import procfs
from hookline.handlers.process.containment import become_subreaper
from tests.cli.run_cli import clean_env, command_line

COMMANDS = ("fire", "hook", "agent")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
#: Seconds after which nothing may be left.
SETTLED = 1.0
_LONG = 60.0

#: Ways of getting away beside those that a deadline is tried with.
_MORE: Mapping[str, str] = {
    "emptied environment": EMPTIED,
    "emptied, parent alive": "setsid env -i sleep 61 & sleep 61",
    "emptied, nohup and no TERM": (
        "(trap '' TERM HUP; nohup env -i setsid sh -c 'sleep 61; :' >/dev/null 2>&1 &) ; sleep 61"
    ),
    # It ends some time, so that one that gets away does not keep the machine busy for ever.
    "emptied, forks again and again": (
        "export LOOP='N=$((N+1)); [ $N -lt 1000 ] || exit; sleep 0.02; "
        'env -i N=$N LOOP="$LOOP" setsid sh -c "$LOOP" & exit\'; '
        'env -i N=0 LOOP="$LOOP" setsid sh -c "$LOOP" & sleep 61'
    ),
    "double fork in Python": (
        f"{sys.executable} -ISc 'import os\n"
        'if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.chdir("/"); os.closerange(0, 64)\n'
        'os.execve("/bin/sleep", ["sleep", "61"], {})\'; sleep 61'
    ),
}
KINDS: Mapping[str, str] = {**ESCAPES, **_MORE}


class Killed(Struct, frozen=True):
    rounds: int
    #: Processes of hooks when the command was killed, all rounds together.
    before: int
    #: By kind, what was alive after a second.
    left: Mapping[str, int]
    #: Seconds from the kill until nothing was left, the longest.
    longest: float


class _Scene:
    """A home with one hook that runs every kind, and the command that runs the hook."""

    def __init__(self, directory: Path, command: str, kinds: Mapping[str, str]) -> None:
        self._directory = directory
        self._up = directory / "up"
        # Sleepers of different length tell the kinds apart.
        self._names = {str(6100 + number): name for number, name in enumerate(kinds)}
        lines = [
            f"({text.replace('61', str(6100 + number))}) &" for number, text in enumerate(kinds.values())
        ]
        script = directory / "escapes.sh"
        script.write_text("\n".join([*lines, "sleep 0.1", f": > {self._up}", "sleep 61"]))
        hook = {"type": "command", "command": f"sh {script}", "timeout": 60}
        event = "UserPromptSubmit" if command == "agent" else "PreToolUse"
        (directory / "hooks.json").write_text(json.dumps({"hooks": {event: [{"hooks": [hook]}]}}))
        (directory / "model.json").write_text(json.dumps([{"text": "done"}]))
        self._stdin = json.dumps(
            {"session_id": "s", "cwd": str(directory), "hook_event_name": "PreToolUse", "tool_name": "Bash",
             "tool_input": {"command": "ls"}}
        )  # fmt: skip
        self._words: Sequence[str] = {
            "fire": ("fire", "PreToolUse", "Bash", "command=ls", "--config", "hooks.json"),
            "hook": ("hook", "--dialect", "claude-code", "--config", "hooks.json", "PreToolUse"),
            "agent": ("agent", "--print", "hi", "--model", "scripted:model.json", "--config", "hooks.json"),
        }[command]

    def start(self) -> subprocess.Popen[bytes]:
        """Return when every kind is running."""
        self._up.unlink(missing_ok=True)
        process = subprocess.Popen(
            command_line(self._words, self._directory), cwd=self._directory, env=clean_env(self._directory),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if process.stdin is None:
            raise AssertionError
        with process.stdin as stdin:
            stdin.write(self._stdin.encode())
        until = time.monotonic() + _LONG
        while not self._up.exists():
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"{self._words[0]} ran no hook: {process.poll()}")
            time.sleep(0.005)
        return process

    def kind_of(self, pid: int) -> str:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            return "?"
        return next((name for mark, name in self._names.items() if mark in words), words.replace("\0", " "))


def killed(command: str, number: int, rounds: int, kinds: Mapping[str, str] = KINDS) -> Killed:
    become_subreaper()
    left: Counter[str] = Counter()
    before, longest = 0, 0.0
    with tempfile.TemporaryDirectory() as directory:
        info = _Scene(Path(directory), command, kinds)
        for _ in range(rounds):
            process = info.start()
            time.sleep(random.uniform(0, 0.1))
            before += len(_below(process.pid))
            os.kill(process.pid, number)
            began = time.monotonic()
            while (living := _left() - {process.pid}) and time.monotonic() - began < SETTLED:
                time.sleep(0.005)
            longest = max(longest, time.monotonic() - began)
            left.update(info.kind_of(pid) for pid in living)
            _end_all()
            process.wait()
    return Killed(rounds, before, dict(left), longest)


def _below(pid: int) -> set[int]:
    """Return the processes that descend from this one. Orphans do, because one of its ancestors adopts them."""
    parents = {each.pid: each.parent for each in procfs.all_processes() if each.alive}
    found, fresh = {pid}, {pid}
    while fresh:
        fresh = {each for each, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found - {pid}


def _left() -> set[int]:
    """Return what is not dead yet, and reap the dead."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return set()
    return _below(os.getpid())


def _end_all() -> None:
    until = time.monotonic() + _LONG
    while (living := _left()) and time.monotonic() < until:
        for pid in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.005)


def apart(command: str, number: int, rounds: int, *kind: str) -> Killed:
    """Run the scene in a separate process, with every kind, or one of those that may survive."""
    words = [command, str(int(number)), str(rounds), *kind]
    done = subprocess.run(
        [sys.executable, "-m", "bench.kill_cases", *words],
        cwd=ROOT,
        capture_output=True,
        timeout=1800,
        check=False,
    )
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return msgspec.json.decode(done.stdout, type=Killed)


def main(command: str, number: str, rounds: str, kind: str = "") -> None:
    chosen = {row.kind: row.example for row in SURVIVORS if row.kind == kind}
    print(msgspec.json.encode(killed(command, int(number), int(rounds), chosen or KINDS)).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
