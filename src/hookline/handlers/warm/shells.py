"""Predict what a shell does to the command it runs: known for dash and bash, and tried out on this system.

It changes the environment; and a shell that waits for its command, instead of being replaced by it, makes an
exit code and a message of a signal that ended it.

A script that is started without its shell must not notice: for each shell, the rule is compared once with
what the shell really does. A shell that does anything else is always started.
"""

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Final

from hookline.handlers.warm.commands import Cold

Rule = Callable[[Mapping[str, str], str, str], dict[str, str]]
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECONDS: Final = 5.0
#: A busy machine may have no time, or no process, for a trial: it is repeated so often, after these seconds and twice
#: the last ones. A shell that cannot be tried out is always started.
_MOST_TRIALS: Final = 8
_FIRST_PAUSE: Final = 5.0
#: What a trial raises that says nothing about the shell.
_NOT_TRIED: Final = (OSError, ValueError, subprocess.SubprocessError)
#: Variables by which bash runs or defines things before the command.
_RUNS_CODE: Final = re.compile(r"BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|BASH_.*", re.DOTALL)


def working_directory(env: Mapping[str, str], cwd: str) -> str:
    """Return PWD as shells set it: unchanged, if that is this directory by another name."""
    given = env.get("PWD", "")
    try:
        if given.startswith("/") and os.path.samestat(os.stat(given), os.stat(cwd)):
            return given
    except (OSError, ValueError):
        pass
    return os.path.realpath(cwd)


def _dash(env: Mapping[str, str], cwd: str, program: str) -> dict[str, str]:
    del program
    kept = {name: value for name, value in env.items() if _NAME.fullmatch(name)}
    return {**kept, "PWD": working_directory(env, cwd)}


def _bash(env: Mapping[str, str], cwd: str, program: str) -> dict[str, str]:
    old = env.get("OLDPWD")
    changed = {name: value for name, value in env.items() if name != "OLDPWD" or (old and os.path.isdir(old))}
    # One level deeper, and one less because the command replaces the shell.
    level = env.get("SHLVL", "0")
    level = level if level.isascii() and level.isdigit() and int(level) < 999 else "0"
    return {**changed, "PWD": working_directory(env, cwd), "SHLVL": level, "_": program}


_RULES: Final[tuple[Rule, ...]] = (_dash, _bash)


class Shells:
    """The rules of shells, each tried out when it is first needed."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule | None] = {}
        self._waits: dict[str, bool] = {}
        #: Why a shell has no rule.
        self._why: dict[str, str] = {}
        self._failed_trials: Counter[str] = Counter()
        self._not_before: dict[str, float] = {}

    def waits(self, shell: str) -> bool:
        """Return True if it waits for the only command of its line."""
        return self._waits[shell]

    def environment(
        self, shell: str, env: Mapping[str, str], cwd: str, program: str
    ) -> Mapping[str, str] | Cold:
        """Return the environment that the shell would hand on to the program."""
        rule = self._rules.get(shell)
        if rule is None:
            return Cold(self._why.get(shell, "not tried yet"))
        if rule is _bash and any(_RUNS_CODE.fullmatch(name) for name in env):
            return Cold("variables make bash do more than run the line")
        return rule(env, cwd, program)

    def try_out(self, shell: str, path: str) -> None:
        """Find the rule of a shell by running it some times. If it cannot be run now, a later call tries again."""
        if shell in self._rules or monotonic() < self._not_before.get(shell, 0.0):
            return
        try:
            waits = _reports_signals(shell, path)
            rule = next((rule for rule in _RULES if _holds(rule, shell, path)), None)
        except _NOT_TRIED as problem:
            self._why[shell] = f"{shell} could not be tried out: {problem}"
            failed = self._failed_trials[shell]
            self._failed_trials[shell] += 1
            self._not_before[shell] = monotonic() + _FIRST_PAUSE * 2**failed
            if failed + 1 >= _MOST_TRIALS:
                self._rules[shell] = None
            return
        self._why[shell] = f"{shell} changes the environment in an unknown way"
        self._rules[shell] = None if waits is None else rule
        self._waits[shell] = bool(waits)


def signal_message(number: int) -> bytes:
    """Return what a waiting shell prints about a command that a signal ended."""
    quiet = number in (signal.SIGINT, signal.SIGPIPE)
    return b"" if quiet else f"{signal.strsignal(number) or f'Signal {number}'}\n".encode()


def _reports_signals(shell: str, path: str) -> bool | None:
    """Return True if it waits, as a command that kills itself shows; None if it prints anything unknown."""
    seen: set[bool] = set()
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGABRT):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue  # as in the background of a script: no command that is started here is ended by it
        ran = subprocess.run(
            [shell, "-c", f"/bin/sh -c 'ulimit -c 0; kill -{number} $$'"],
            env={"PATH": path}, cwd="/", check=False, capture_output=True, timeout=_SECONDS,
        )  # fmt: skip
        if (ran.returncode, ran.stderr) == (-number, b""):
            seen.add(False)
        elif (ran.returncode, ran.stderr) == (128 + number, signal_message(number)):
            seen.add(True)
        else:
            return None
    return seen.pop() if len(seen) == 1 else None


def _holds(rule: Rule, shell: str, path: str) -> bool:
    printer = "/usr/bin/env"
    common = {"PATH": path, "HOOKLINE_PROBE": "a  b\nc=d", "hookline.probe": "1"}
    for env, cwd in (
        (common, "/"),
        ({**common, "PWD": "/nowhere", "OLDPWD": "/nowhere", "SHLVL": "5", "_": "x"}, "/usr"),
        ({**common, "PWD": "/usr/../usr", "OLDPWD": "/"}, "/usr"),
    ):
        ran = subprocess.run(
            [shell, "-c", f"{printer} -0"],
            env=env,
            cwd=cwd,
            check=False,
            capture_output=True,
            timeout=_SECONDS,
        )
        if ran.returncode:
            return False
        entries = ran.stdout.decode("utf-8", "surrogateescape").split("\0")
        seen = {entry.partition("=")[0]: entry.partition("=")[2] for entry in entries if entry}
        if seen != rule(env, cwd, printer):
            return False
    return True
