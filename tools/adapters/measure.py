"""Runs the conformance suite with the harness of a module, and prints what came out as JSON.

It runs where the framework is installed: `python -m tools.adapters.measure tests.adapters.langchain.harness`.
"""

import asyncio
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.testing.conformance import Harness, cases, run_all
from hookline.testing.conformance.suite.trouble import CASES as TROUBLE
from hookline.testing.conformance.suite.trouble import Cancelled, cancel
from hookline.testing.conformance.trial import Trial, use

#: How often a run is cancelled to see how long its hooks live; the best time counts, because others use the machine.
_TIMES = 3


class Declared(Struct, frozen=True):
    """A limit that was confirmed."""

    level: str
    reason: str
    source: str


class Measured(Struct, frozen=True, kw_only=True):
    """What came out."""

    name: str
    #: full, part or none by the name of the case.
    levels: dict[str, str]
    limits: dict[str, Declared]
    #: What was not as declared.
    problems: tuple[str, ...] = ()
    #: Seconds until the hooks of a cancelled run were told to end, and until the last was gone.
    cancelled: Cancelled | None = None
    seconds: float = 0.0


def harness_of(module: str) -> Harness:
    """The harness that a module defines."""
    found = importlib.import_module(module)
    kinds = [
        cast("Any", value)
        for value in vars(found).values()
        if isinstance(value, type) and value.__module__ == module and hasattr(value, "cannot")
    ]
    if len(kinds) != 1:
        raise SystemExit(
            f"{module} must have one class with `name`, `cannot` and `play`; it has {len(kinds)}"
        )
    return kinds[0]()


def measured(harness: Harness) -> Measured:
    results = run_all(harness, cases(slow=True))
    return Measured(
        name=harness.name,
        levels={result.case.name: result.level for result in results},
        limits={
            result.case.name: Declared(result.limit.level, result.limit.reason, result.limit.source)
            for result in results
            if result.limit is not None
        },
        problems=tuple(result.problem for result in results if result.problem is not None),
        cancelled=_best(harness),
        seconds=sum(result.seconds for result in results),
    )


def _best(harness: Harness) -> Cancelled | None:
    if any(name in harness.cannot for name in ("cancel", TROUBLE[-1].name)):
        return None
    seen = [_cancelled(harness) for _ in range(_TIMES)]
    return Cancelled(
        min((each.signalled for each in seen if each.signalled is not None), default=None),
        min((each.dead for each in seen if each.dead is not None), default=None),
    )


def _cancelled(harness: Harness) -> Cancelled:
    async def once(trial: Trial) -> Cancelled:
        async with trial.engine:
            return (await cancel(trial, use("look"), "done"))[0]

    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        return asyncio.run(once(Trial(harness, Path(folder).resolve())))


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(measured(harness_of(sys.argv[1]))).decode() + "\n")
