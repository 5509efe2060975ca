"""A project's Python does not run in Hookline, whichever variable leads to it, and the user's guard holds."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from hookline.cli.commands.hook.entries import hookline_command
from tests.cli.commands.agent_calls import DENIES
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons
from tests.hook.relay.programs import KINDS, Kind, real_relay
from tests.waiting import wait_until

_WORDS = ("hook", "--dialect", "claude-code", "PreToolUse")
_PACKAGES = f".local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
#: Modules that Python or Hookline would load, were they found in the project.
_MODULES = (
    "sitecustomize",
    "usercustomize",
    "msgspec",
    "hookline/__init__",
    "json/__init__",
    "os",
    "encodings/__init__",
)


def variables(project: Path) -> dict[str, dict[str, str]]:
    here = str(project)
    return {
        "PYTHONPATH": {"PYTHONPATH": here},
        "the directory": {"PYTHONPATH": "."},
        "PYTHONHOME": {"PYTHONHOME": here},
        "PYTHONUSERBASE": {"PYTHONUSERBASE": f"{here}/.local"},
        "PYTHONEXECUTABLE": {"PYTHONEXECUTABLE": f"{here}/.local/bin/python"},
        "__PYVENV_LAUNCHER__": {"__PYVENV_LAUNCHER__": f"{here}/.local/bin/python"},
        "HOME": {"HOME": here},
        "others": {
            "PYTHONSTARTUP": f"{here}/os.py", "PYTHONINSPECT": "1", "PYTHONPLATLIBDIR": here,
            "PYTHONPYCACHEPREFIX": here, "PYTHONBREAKPOINT": "sitecustomize.x", "PYTHONWARNINGS": "error::msgspec.X",
        },
        "XDG": dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"), here),
    }  # fmt: skip


def hostile(daemons: Daemons) -> Path:
    """A project whose modules leave a mark and let the call pass; returns the mark."""
    mark = daemons.home.parent / "mark"
    evil = f"import posix\nposix.close(posix.open({str(mark)!r}, posix.O_CREAT | posix.O_WRONLY))\nposix._exit(0)\n"
    for name in _MODULES:
        daemons.write(f"{name}.py", evil)
    daemons.write(f"{_PACKAGES}/usercustomize.py", evil)
    daemons.write(f"{_PACKAGES}/evil.pth", f"import posix; exec({evil!r})\n")
    # An environment of Python's as it is found beside the program that a variable names.
    daemons.write(".local/pyvenv.cfg", f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n")
    daemons.write(".local/bin/python", f"#!/bin/sh\n: >{shlex.quote(str(mark))}\n").chmod(0o755)
    daemons.write(".config/hookline/hooks.toml", "")
    daemons.write("~/.config/hookline/hooks.toml", DENIES)
    return mark


def ways(daemons: Daemons, kind: Kind) -> dict[str, Sequence[str]]:
    relay = real_relay(kind, daemons.directory, daemons.home.parent / "bin")
    return {"relay": [*map(str, relay.words())][:3], "entry": shlex.split(hookline_command({}))}


def ask(
    daemons: Daemons, line: Sequence[str], more: Mapping[str, str]
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*line, *at_home(_WORDS, daemons.env)], input=daemons.payload(), cwd=daemons.project,
        env={**daemons.env, "HOOKLINE_DAEMON": "off", **more}, capture_output=True, check=False,
    )  # fmt: skip


def denied(done: "subprocess.CompletedProcess[bytes]") -> bool:
    assert done.stdout, done
    said = json.loads(done.stdout)["hookSpecificOutput"]
    return (said["permissionDecision"], said["permissionDecisionReason"]) == ("deny", "no shell here")


@pytest.mark.parametrize("kind", KINDS)
def test_no_variable_brings_modules_of_the_project_into_a_call(daemons: Daemons, kind: Kind) -> None:
    mark = hostile(daemons)
    for way, line in ways(daemons, kind).items():
        for name, more in variables(daemons.project).items():
            assert denied(ask(daemons, line, more)), (way, name)
            assert not mark.exists(), (way, name)


@pytest.mark.parametrize("kind", KINDS)
def test_nor_into_the_daemon_that_it_starts(daemons: Daemons, kind: Kind) -> None:
    mark = hostile(daemons)
    line, everything = ways(daemons, kind)["relay"], dict[str, str]()
    for more in variables(daemons.project).values():
        everything |= {name: value for name, value in more.items() if name != "HOME"}
    first = ask(daemons, line, {**everything, "HOOKLINE_DAEMON": "on"})
    assert denied(first)
    wait_until(lambda: daemons.status() is not None)
    for name, more in variables(daemons.project).items():
        assert denied(ask(daemons, line, more)), name
    status = daemons.status()
    assert status is not None
    assert status.calls >= len(variables(daemons.project)) - 1, "all but the one with another HOME"
    assert not mark.exists()


def test_started_by_its_name_a_call_loads_no_module_of_the_project_in_place_of_ours(
    daemons: Daemons,
) -> None:
    """Modules that Python itself loads at its start cannot be kept out there: entries start the relay."""
    mark = hostile(daemons)
    for name in (
        "sitecustomize",
        "usercustomize",
        "hookline/__init__",
        "os",
        "encodings/__init__",
        "json/__init__",
    ):
        (daemons.project / f"{name}.py").unlink()
    shutil.rmtree(daemons.project / "hookline")
    line = [str(Path(sys.executable).parent / "hookline")]
    assert denied(ask(daemons, line, {"PYTHONPATH": str(daemons.project)}))
    assert not mark.exists()
