"""What a tool call takes in the real client: without hooks, with one in `sh`, and with Hookline by its relay.

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
    residents: list[_Resident] = []
    figures: list[str] = []

    def script(scene: Scene) -> Scripts:
        residents.append(_Resident(scene))
        try:
            figures[:] = [_measured(scene, residents[-1])]
        except BaseException:
            residents.pop().stop()
            raise
        # The last session shows that it was a guard that was measured.
        return {MAIN: [scene.client.shell("git push --force")]}

    def verdict(_scene: Scene, model: Model) -> str:
        residents.pop().stop()
        last = model.last_result
        return f"{figures[0]}, {'denied' if last is not None and last.is_error else 'NOT denied'}"

    yield Case(
        name="speed: a tool call by the relay, beside one with sh", expected=_EXPECTED,
        script=script, verdict=verdict, hooked="", guarded=False,
    )  # fmt: skip


class _Resident:
    """One of the scene's user, in a folder of its own: that of the real user is not to be touched."""

    def __init__(self, scene: Scene) -> None:
        self.folder = scene.marks.parent / "run"
        self.folder.mkdir(mode=0o700)
        self._scene = scene
        scene.write(".hookline/hooks.toml", _GUARD)
        self._process = subprocess.Popen(
            ["hookline", "resident", "run", "--folder", self.folder, "--home", scene.home],
            cwd="/", env=scene.environment(""), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    @property
    def calls(self) -> int:
        said = self._scene.hookline("resident", "status", "--folder", str(self.folder), "--json")
        return json.loads(said)["calls"] if said.strip() not in {"", "null"} else -1

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def _measured(scene: Scene, resident: _Resident) -> str:
    settings: Mapping[str, Callable[[], str]] = {
        "no hook": lambda: "{}",
        "sh": lambda: _entry(str(_script(scene))),
        "relay": lambda: _installed(scene, resident.folder),
    }
    taken: dict[str, list[float]] = {name: [] for name in settings}
    for number in range(_ROUNDS):
        for name, text in settings.items():
            scene.write(str(scene.settings), text())
            taken[name] += _session(scene)
        medians = ", ".join(f"{name} {1000 * statistics.median(each):.1f} ms" for name, each in taken.items())
        sys.stdout.write(f"    round {number + 1} of {_ROUNDS}: {medians}\n")
        sys.stdout.flush()
    made = _ROUNDS * _CALLS
    if resident.calls < made:
        return f"only {resident.calls} of {made} calls reached the resident"
    ratio = statistics.median(taken["relay"]) / statistics.median(taken["sh"])
    sys.stdout.write(f"    a call by the relay takes {ratio:.2f}x one with sh (at most {BOUND}x)\n")
    return f"at most {BOUND}x" if ratio <= BOUND else f"{ratio:.2f}x"


def _session(scene: Scene) -> list[float]:
    """Seconds of each call."""
    with Model({MAIN: [scene.client.shell("true")] * _CALLS}, scene.client.protocol) as model:
        scene.run(*scene.client.words(MAIN, "default", model.url), model=model.url)
        if len(model.waits) < _CALLS:
            raise RuntimeError(f"only {len(model.waits)} of {_CALLS} calls were made")
        return model.waits[_FIRST:]


def _entry(command: str) -> str:
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


def _script(scene: Scene) -> Path:
    file = scene.write(str(scene.home / "guard.sh"), _SCRIPT)
    file.chmod(0o755)
    return file


def _installed(scene: Scene, folder: Path) -> str:
    """As `hookline install` writes it, but for the resident to ask."""
    scene.install("PreToolUse")
    there = scene.settings.read_text()
    entry = there.replace("hookline-relay hook", f"hookline-relay --resident {shlex.quote(str(folder))} hook")
    if entry == there:
        raise RuntimeError("the relay was not installed")
    return entry
