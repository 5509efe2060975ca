"""Compare the figures of this checkout with those of another one, in turns on the same machine.

`python -m bench --against DIR` runs each checkout's own bench with its own interpreter (`DIR/.venv`), one figure at a
time. A figure may be a tenth worse; one whose goal was raised must keep its goal. What the other one lacks is listed.
"""

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

_ROUNDS = 3
#: Rounds after which a figure that looks worse is believed to be.
_TO_BE_SURE = 9
_MAY_BE_WORSE = 1.1

#: Runs in a checkout: it prints the figures of one function as JSON, or null if it has no such function.
_CHILD = """
import importlib, json, sys
from bench.figures import FIGURES
from bench.ratios import run

def measured(module, name):
    for title, figure, goal in FIGURES:
        if (figure.__module__, figure.__name__) == (module, name):
            return [[title, f"{run(figure):.6f}x", f"<= {goal}x"]]
    try:
        findings = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None
    return [[found.name, found.measured, found.goal] for found in findings()]

print(json.dumps(measured(*sys.argv[1:])))
"""


class _Measured(NamedTuple):
    value: float
    goal: float


#: What one checkout measured, by figure, round after round.
_Figures = dict[str, list[_Measured]]


def compare(other: str, functions: Sequence[Callable[..., Any]]) -> bool:
    """Print every figure of both checkouts, and whether none became worse."""
    fine = True
    for checkout in (os.curdir, other):  # installed packages are compiled
        subprocess.run([_python(checkout), "-m", "compileall", "-q", "src"], cwd=checkout, check=False)
    for function in functions:
        for line, ok in _compared(other, function):
            print(line, flush=True)
            fine &= ok
    return fine


def _compared(other: str, function: Callable[..., Any]) -> Iterator[tuple[str, bool]]:
    here: _Figures = {}
    there: _Figures = {}
    turns = ((os.curdir, here), (other, there))
    for played in range(1, _TO_BE_SURE + 1):
        for checkout, figures in turns if played % 2 else reversed(turns):
            if problem := _measure(checkout, function, figures):
                yield (
                    f"{function.__module__}.{function.__name__}: FAILED in {os.path.abspath(checkout)}: {problem}",
                    False,
                )
                return
        both = here.keys() & there.keys()
        if not both or (played >= _ROUNDS and not any(_is_worse(here[name], there[name]) for name in both)):
            break
    for name, own in here.items():
        if before := there.get(name):
            worse = _is_worse(own, before)
            both_sides = f"{_median(own):.4g} here, {_median(before):.4g} there, {_times(own, before):.2f}x"
            yield f"{name}: {both_sides} ({len(own)} turns) {'WORSE' if worse else 'ok'}", not worse
        else:
            yield f"{name}: {_median(own):.4g} here, not measured there", True
    for name in there.keys() - here.keys():
        yield f"{name}: measured only there", True


def _median(rounds: list[_Measured]) -> float:
    return statistics.median(one.value for one in rounds)


def _times(own: list[_Measured], before: list[_Measured]) -> float:
    """Divide the medians; a difference of two times (as of telemetry) may be nothing or less."""
    mine, other = _median(own), _median(before)
    return mine / other if other > 0 else 1.0 if mine <= 0 else float("inf")


def _is_worse(own: list[_Measured], before: list[_Measured]) -> bool:
    """Judge the medians; a goal that was raised is what its figure has to keep."""
    if own[0].goal > before[0].goal:
        return _median(own) > own[0].goal
    return _times(own, before) > _MAY_BE_WORSE


def _measure(checkout: str, function: Callable[..., Any], figures: _Figures) -> str | None:
    """Add one round of a function's figures; return why it failed, if it did."""
    words = [_python(checkout), "-c", _CHILD, function.__module__, function.__name__]
    ended = subprocess.run(words, cwd=checkout, capture_output=True, text=True, check=False)
    if ended.returncode:
        return (ended.stderr.strip().splitlines() or [f"exit {ended.returncode}"])[-1]
    for name, measured, goal in json.loads(ended.stdout.splitlines()[-1]) or ():
        # Only what has an upper bound can be worse, and it is the number with the unit of the bound.
        bound = re.fullmatch(r"<= ([\d.,]+) ?(.*)", goal)
        value = bound and re.search(rf"([-+]?[\d.,]*\d) ?{re.escape(bound[2])}", measured)
        if bound and value:
            steady = re.sub(r"\([^)]*\d[^)]*\)", "(…)", name)  # a name may say what else was measured
            figures.setdefault(steady, []).append(_Measured(_number(value[1]), _number(bound[1])))
    return None


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _python(checkout: str) -> str:
    if checkout == os.curdir:
        return sys.executable
    return os.path.join(os.path.abspath(checkout), ".venv", "bin", "python")
