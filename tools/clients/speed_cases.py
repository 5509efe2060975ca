"""Measure a tool call in the real client: without hooks, with one in `sh`, and with Hookline by its relay.

Measured by the model: from its answer with a call to the request with the result. Sessions take turns, so that whatever
else the machine does concerns all of them.
"""

import json
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tools.clients.case import MAIN, Case, Scripts
from tools.clients.model_server import Model
from tools.clients.scene import Scene

#: How much longer a call may take with Hookline than with a hook that is a shell script.
BOUND = 1.2
_ROUNDS, _CALLS = 6, 24
#: The first calls of a session load what the others use.
_FIRST = 4
_GUARD = """[[hooks.PreToolUse]]
hooks = [{ type = "builtin", command = "force-push" }]
"""
_SCRIPT = """#!/bin/sh
case $(cat) in *"push --force"*) echo "not by force" >&2; exit 2 ;; esac
exit 0
"""
_EXPECTED = f"at most {BOUND}x, denied"


def cases() -> Iterator[Case]:
    daemons: list[_Resident] = []
    figures: list[str] = []

    def script(info: Scene) -> Scripts:
        daemons.append(_Resident(info))
        try:
            figures[:] = [_measured(info, daemons[-1])]
        except BaseException:
            daemons.pop().stop()
            raise
        # The last session shows that it was a guard that was measured.
        return {MAIN: [info.client.shell("git push --force")]}

    def decision(_info: Scene, model: Model) -> str:
        daemons.pop().stop()
        last = model.last_result
        return f"{figures[0]}, {'denied' if last is not None and last.is_error else 'NOT denied'}"

    yield Case(
        name="speed: a tool call by the relay, beside one with sh", expected=_EXPECTED,
        script=script, decision=decision, hooked="", guarded=False,
    )  # fmt: skip


class _Resident:
    """Start a daemon of the case's user, in a separate directory: the real user's must stay untouched."""

    def __init__(self, info: Scene) -> None:
        self.directory = info.marks.parent / "run"
        self.directory.mkdir(mode=0o700)
        self._info = info
        info.write(".hookline/hooks.toml", _GUARD)
        self._process = subprocess.Popen(
            ["hookline", "daemon", "run", "--directory", self.directory, "--home", info.home],
            cwd="/", env=info.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    @property
    def calls(self) -> int:
        said = self._info.hookline("daemon", "status", "--directory", str(self.directory), "--json")
        return json.loads(said)["calls"] if said.strip() not in {"", "null"} else -1

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def _measured(info: Scene, daemon: _Resident) -> str:
    settings: Mapping[str, Callable[[], str]] = {
        "no hook": lambda: "{}",
        "sh": lambda: _entry(str(_script(info))),
        "relay": lambda: _installed(info, daemon.directory),
    }
    taken: dict[str, list[float]] = {name: [] for name in settings}
    for number in range(_ROUNDS):
        for name, text in settings.items():
            info.write(str(info.settings), text())
            taken[name] += _session(info)
        medians = ", ".join(f"{name} {1000 * statistics.median(each):.1f} ms" for name, each in taken.items())
        sys.stdout.write(f"    round {number + 1} of {_ROUNDS}: {medians}\n")
        sys.stdout.flush()
    made = _ROUNDS * _CALLS
    if daemon.calls < made:
        return f"only {daemon.calls} of {made} calls reached the resident"
    ratio = statistics.median(taken["relay"]) / statistics.median(taken["sh"])
    sys.stdout.write(f"    a call by the relay takes {ratio:.2f}x one with sh (at most {BOUND}x)\n")
    return f"at most {BOUND}x" if ratio <= BOUND else f"{ratio:.2f}x"


def _session(info: Scene) -> list[float]:
    """Seconds of each call."""
    with Model({MAIN: [info.client.shell("true")] * _CALLS}, info.client.protocol, info.port) as model:
        info.run(*info.client.words(MAIN, "default", model.url))
        if len(model.waits) < _CALLS:
            raise RuntimeError(f"only {len(model.waits)} of {_CALLS} calls were made")
        return model.waits[_FIRST:]


def _entry(command: str) -> str:
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


def _script(info: Scene) -> Path:
    file = info.write(str(info.home / "guard.sh"), _SCRIPT)
    file.chmod(0o755)
    return file


def _installed(info: Scene, directory: Path) -> str:
    """Write the entry as `hookline install` does, except for the daemon's address."""
    info.install("PreToolUse")
    there = info.settings.read_text()
    entry = there.replace(
        "hookline-relay hook", f"hookline-relay --daemon {shlex.quote(str(directory))} hook"
    )
    if entry == there:
        raise RuntimeError("the relay was not installed")
    return entry
