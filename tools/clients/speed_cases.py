"""Measure a tool call in real clients: without hooks, with one that does nothing, and with Hookline.

In Claude Code by its relay and as a mod, in OpenCode as a plugin. Measured by the model: from its answer with a call to
the request with the result. Sessions take turns, so that whatever else the machine does concerns all of them.
"""

import json
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tools.clients.agents.claude_code import CLAUDE_CODE
from tools.clients.agents.opencode import OPENCODE
from tools.clients.case import MAIN, Case, Scripts
from tools.clients.client import Client
from tools.clients.model_server import Model
from tools.clients.scene import Scene

#: How much longer a call may take: by the relay than with a hook that is `sh -c true`; as a mod than with one that does
#: nothing, because already a mod without any event takes longer than that hook: `empty mod` is printed to show it.
BOUNDS = {"relay": ("sh -c true", 1.2), "mod": ("idle mod", 1.2)}
#: Milliseconds that the plugin may add to a call in OpenCode.
PLUGIN_BOUND = 10.0
_ROUNDS, _CALLS = 10, 24
#: The first calls of a session load what the others use.
_FIRST = 4
_GUARD = """[[hooks.PreToolUse]]
hooks = [{ type = "builtin", command = "force-push" }]
"""
#: With the events of Hookline's.
_IDLE_MOD = """export function register(on) {
  on("tool.call", async ($, e, next) => next(e))
  on("tool.check", async ($, e, next) => next(e))
}
"""
_EMPTY_MOD = "export function register(on) {}\n"
_EXPECTED = "within the bounds, denied"
#: An event without tools, so that only the mod asks about calls.
_ALONE = "SessionEnd"


def cases() -> Iterator[Case]:
    yield _case(
        CLAUDE_CODE, "a tool call by the relay and as a mod, beside those that do nothing", _claude_code
    )
    yield _case(OPENCODE, "a tool call with the plugin, beside one without", _opencode)


def _case(client: Client, name: str, measured: "Callable[[Scene, _Resident], str]") -> Case:
    daemons: list[_Resident] = []
    figures: list[str] = []

    def script(info: Scene) -> Scripts:
        daemons.append(_Resident(info))
        try:
            figures[:] = [measured(info, daemons[-1])]
        except BaseException:
            daemons.pop().stop()
            raise
        # The last session shows that it was a guard that was measured.
        return {MAIN: [info.client.shell("git push --force")]}

    def decision(_info: Scene, model: Model) -> str:
        daemons.pop().stop()
        last = model.last_result
        return f"{figures[0]}, {'denied' if last is not None and last.is_error else 'NOT denied'}"

    return Case(
        name=f"speed, {client.name}: {name}", expected=_EXPECTED, client=client, script=script, decision=decision,
        hooked="", guarded=False,
    )  # fmt: skip


class _Resident:
    """Start a daemon of the case's user, in a separate directory: the real user's must stay untouched."""

    def __init__(self, info: Scene) -> None:
        self.directory = info.marks.parent / "run"
        self.directory.mkdir(mode=0o700)
        self._info = info
        info.write(".hookline/hooks.toml", _GUARD)
        self._process = subprocess.Popen(
            ["hookline", "daemon", "run", "--directory", self.directory, "--home", info.home, "--http", "0"],
            cwd="/", env=info.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    @property
    def calls(self) -> int:
        said = self._info.hookline("daemon", "status", "--directory", str(self.directory), "--json")
        return json.loads(said)["calls"] if said.strip() not in {"", "null"} else -1

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def _claude_code(info: Scene, daemon: _Resident) -> str:
    taken = _measured(
        info,
        {
            "no hook": lambda: info.write(str(info.settings), "{}"),
            "sh -c true": lambda: info.write(str(info.settings), _entry("true")),
            "relay": lambda: info.write(str(info.settings), _installed(info, daemon.directory)),
            "empty mod": lambda: _install_mod(info, _EMPTY_MOD),
            "idle mod": lambda: _install_mod(info, _IDLE_MOD),
            "mod": lambda: info.install(_ALONE, options=("--mod",)),
        },
    )
    if daemon.calls < 2 * _ROUNDS * _CALLS:
        return f"only {daemon.calls} of {2 * _ROUNDS * _CALLS} calls reached the daemon"
    over: list[str] = []
    for name, (beside, most) in BOUNDS.items():
        ratio = taken[name] / taken[beside]
        say(f"a call by the {name} takes {ratio:.2f}x one by the {beside} (at most {most}x)")
        over += [f"{name} {ratio:.2f}x"] if ratio > most else []
    for name in ("empty mod", "idle mod", "mod"):
        say(f"a call by the {name} takes {taken[name] / taken['sh -c true']:.2f}x one by the sh -c true")
    return ", ".join(over) or "within the bounds"


def _opencode(info: Scene, daemon: _Resident) -> str:
    taken = _measured(
        info, {"no plugin": lambda: None, "plugin": lambda: info.install("tool.execute.before")}
    )
    if daemon.calls < _ROUNDS * _CALLS:
        return f"only {daemon.calls} of {_ROUNDS * _CALLS} calls reached the daemon"
    more = 1000 * (taken["plugin"] - taken["no plugin"])
    say(f"a call with the plugin takes {more:.1f} ms more (at most {PLUGIN_BOUND:g} ms)")
    return "within the bounds" if more <= PLUGIN_BOUND else f"{more:.1f} ms more"


def _measured(info: Scene, prepare: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of a call, by the way in which the client is prepared."""
    taken: dict[str, list[float]] = {name: [] for name in prepare}
    for number in range(_ROUNDS):
        for name, arrange in prepare.items():
            info.hookline("uninstall", info.client.name, "--yes")
            arrange()
            taken[name] += session(info)
        medians = ", ".join(f"{name} {1000 * statistics.median(each):.1f} ms" for name, each in taken.items())
        say(f"round {number + 1} of {_ROUNDS}: {medians}")
    return {name: statistics.median(each) for name, each in taken.items()}


def say(text: str) -> None:
    """Print a line of a measurement."""
    sys.stdout.write(f"    {text}\n")
    sys.stdout.flush()


def session(info: Scene) -> list[float]:
    """Seconds of each call."""
    with Model({MAIN: [info.client.shell("true")] * _CALLS}, info.client.protocol, info.port) as model:
        info.run(*info.client.words(MAIN, "default", model.url))
        if len(model.waits) < _CALLS:
            raise RuntimeError(f"only {len(model.waits)} of {_CALLS} calls were made")
        return model.waits[_FIRST:]


def _entry(command: str) -> str:
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


def _install_mod(info: Scene, text: str) -> None:
    """Put a mod that does nothing in the place of Hookline's."""
    info.install(_ALONE, options=("--mod",))
    (module,) = (info.home / ".claude/skills").glob("*/hooks/register.js")
    module.write_text(text)


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
