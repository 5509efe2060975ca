"""Run part daemon of the soak: compare every answer, make a hundred thousand calls, kill everything once."""

import itertools
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from bench.findings import Finding
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons, command, hook_file
from tests.hook.daemon.same_answers import (
    Http,
    differences,
    failing_cases,
    other_recorded_cases,
    recorded_cases,
    speaking_hooks,
)
from tests.hook.daemon.same_plays import AgentCallStep, play_differences, plays
from tests.hook.relay.programs import real_relay, relay_of

CALLS = 100_000
KILLS = 200
_AT_ONCE = 4
_MEMORY = 5 << 20
_PARTS = 20
#: Which process to kill, and how often: a daemon must live for some calls until scripts are run warm.
_SHARES = {"daemon": 1, "relay": 2, "hook": 4, "zygote": 3}
_CALL = ("hook", "--dialect", "claude-code", "PreToolUse")

Say = Callable[[str], None]


def daemon(say: Say, calls: int = CALLS, kills: int = KILLS) -> Iterator[Finding]:
    """All of it; half an hour on two cores."""
    yield from _same(say)
    yield from _many(say, calls)
    yield from _kills(say, kills)


def _same(say: Say) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="hookline-soak-") as scratch:
        daemons = Daemons(Path(scratch))
        daemons.start("--http", "0")
        try:
            status = daemons.status()
            if status is None or status.http is None:
                raise RuntimeError("the daemon does not listen")
            token = (daemons.home / ".local/state/hookline/daemon-token").read_text()
            http = Http(status.http, token)
            daemons.write(".hookline/hooks.toml", speaking_hooks())
            for name, cases in (
                ("recorded payloads", recorded_cases(daemons.project)),
                ("payloads of recorded cases and sessions", other_recorded_cases(daemons.project)),
                ("hooks that fail", failing_cases(daemons)),
            ):
                count, found = 0, 0
                for case in cases:
                    for one in differences(daemons, case, http):
                        say(f"DIFFERENT: {one}")
                        found += 1
                    count += 1
                    if count % 50 == 0:
                        say(f"{count} {name}")
                yield Finding(
                    f"daemon: {count} {name}, by both relays and http", f"{found} differ", "0", not found
                )
            count, found = 0, 0
            for play in plays(daemons):
                for one in play_differences(daemons, play, http):
                    say(f"DIFFERENT: {one}")
                    found += 1
                count += sum(isinstance(step, AgentCallStep) for step in play.steps)
                say(f"{count} calls: {play.name}")
            yield Finding(
                f"daemon: {count} calls about place, trust and reach, by both relays and http",
                f"{found} differ",
                "0",
                not found,
            )
        finally:
            daemons.stop()


def _many(say: Say, calls: int) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="hookline-soak-") as scratch:
        daemons = Daemons(Path(scratch))
        daemons.write(
            ".hookline/hooks.toml",
            hook_file('type = "builtin"\ncommand = "force-push"')
            + hook_file(command("cat > /dev/null"), event="PostToolUse"),
        )
        process = daemons.start()
        line = [str(relay_of("compiled", daemons.directory).program), "--daemon", str(daemons.directory)]
        numbers = itertools.count()
        wrong: Counter[str] = Counter()

        def call(_: int) -> None:
            number = next(numbers)
            after, forced = number % 10 == 0, number % 3 == 0
            event = "PostToolUse" if after else "PreToolUse"
            given = daemons.payload(
                event, session_id=f"s{number // 100}", tool_use_id=f"c{number}", tool_response={},
                tool_input={"command": f"git push origin b{number}" + (" --force" if forced else "")},
            )  # fmt: skip
            words = at_home(("hook", "--dialect", "claude-code", event), daemons.env)
            done = subprocess.run(
                [*line, *words], input=given, env=daemons.env, capture_output=True, check=False
            )
            right = (b'"deny"' in done.stdout) == (forced and not after)
            wrong["wrong"] += done.returncode != 0 or not right

        try:
            # Until caches are full, more memory does not mean a leak.
            before = (0, 0, 0)
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for part in range(_PARTS):
                    list(pool.map(call, range(calls // _PARTS)))
                    held = _held(process.pid)
                    before = held if part == _PARTS // 4 else before
                    say(f"{(part + 1) * calls // _PARTS:,} calls; processes, descriptors, bytes: {held}")
            time.sleep(1)
            after_all = _held(process.pid)
            grown = [now - then for now, then in zip(after_all, before, strict=True)]
            name = f"daemon: {calls:,} calls"
            yield Finding(f"{name}, wrong answers", str(wrong["wrong"]), "0", not wrong["wrong"])
            yield Finding(f"{name}, processes left", str(grown[0]), "0", grown[0] <= 0)
            yield Finding(f"{name}, descriptors left", str(grown[1]), "0", grown[1] <= 0)
            yield Finding(f"{name}, memory", f"{grown[2] / 1e6:+.1f} MB", "<= 5 MB", grown[2] <= _MEMORY)
        finally:
            daemons.stop()


def _held(pid: int) -> tuple[int, int, int]:
    """Children, descriptors, and bytes of memory of a process."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return len(children), len(os.listdir(f"/proc/{pid}/fd")), pages * os.sysconf("SC_PAGE_SIZE")


def _kills(say: Say, kills: int) -> Iterator[Finding]:
    chance = random.Random(17)
    with tempfile.TemporaryDirectory(prefix="hookline-soak-") as scratch:
        daemons = Daemons(Path(scratch))
        effects = Path(scratch, "effects")
        script = daemons.write(
            "guard.py",
            "import json, sys, time\ncall = json.load(sys.stdin)['tool_use_id']\n"
            f"open({str(effects)!r}, 'a').write(call + '\\n')\ntime.sleep(0.04)\n"
            "print('never', file=sys.stderr)\nsys.exit(2)\n",
        )
        daemons.write(".hookline/hooks.toml", hook_file(command(f"{sys.executable} {script}")))
        relay = real_relay("compiled", daemons.directory, Path(scratch, "bin"))
        # As `hookline install` writes it.
        entry = " ".join(map(shlex.quote, map(str, relay.words(*at_home(_CALL, daemons.env)))))
        entry += " || { [ $? = 2 ] || echo 'hookline could not be run' >&2; exit 2; }"
        passed: list[str] = []
        killed: Counter[str] = Counter()
        for number in itertools.count():
            if sum(killed.values()) >= kills:
                break
            daemon = _running(daemons)
            given = daemons.payload(tool_use_id=f"kill {number}", session_id=f"k{number}")
            process = subprocess.Popen(
                ["sh", "-c", entry], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=daemons.env, cwd=daemons.project,
            )  # fmt: skip
            whom = chance.choices(list(_SHARES), list(_SHARES.values()))[0]
            if process.stdin is not None:
                process.stdin.write(given)
                process.stdin.close()
            time.sleep(chance.random() * 0.08)
            killed[whom] += _kill(chance, whom, daemon, process.pid)
            out = process.stdout.read() if process.stdout is not None else b""
            if process.wait() != 2 and b'"deny"' not in out:
                passed.append(f"call {number}, kill of the {whom}: {process.returncode} {out!r}")
            if number % 20 == 19:
                say(f"{number + 1} calls, {sum(killed.values())} kills")
        daemons.stop()
        runs = Counter(effects.read_text().splitlines()) if effects.exists() else Counter[str]()
        twice = [call for call, times in runs.items() if times > 1]
        for one in (*passed, *twice):
            say(f"FAILED: {one}")
        said = ", ".join(f"{name} {killed[name]}" for name in _SHARES)
        yield Finding(
            f"daemon: {kills} kills ({said}), guards that passed", str(len(passed)), "0", not passed
        )
        yield Finding(f"daemon: {kills} kills, hooks that ran twice", str(len(twice)), "0", not twice)
        never = [name for name in _SHARES if not killed[name]]
        yield Finding(f"daemon: {kills} kills, kinds never killed", str(len(never)), "0", not never)


def _running(daemons: Daemons) -> int:
    """Return the daemon's process. A relay that has found none may have started the next one."""
    while True:
        status = daemons.status()
        if status is not None:
            return status.pid
        with suppress(AssertionError):  # a relay was faster
            return daemons.start().pid


def _kill(chance: random.Random, whom: str, daemon: int, shell: int) -> int:
    """Return True if there was something to kill."""
    if whom == "daemon":
        found = [daemon]
    elif whom == "relay":
        found = _children(shell)
    else:
        # The first of those that are forked ahead is their zygote; hooks run in the others, or in a shell.
        warm = [pid for pid in _children(daemon) if "zygote" in _words(pid)]
        others = [pid for pid in _children(daemon) if pid not in warm and "trap" not in _words(pid)]
        found = warm[:1] if whom == "zygote" else [*warm[1:], *others]
    if not found:
        return 0
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
