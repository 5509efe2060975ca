"""Runs the conformance suite with the harness of a module, and prints what came out as JSON.

It runs where the framework is installed: `python -m tools.adapters.measure tests.adapters.langchain.harness langchain`.
"""

import asyncio
import importlib
import re
import sys
import tempfile
from contextlib import suppress
from functools import partial
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.model.events import EVENTS
from hookline.testing.conformance import Case, CaseResult, Harness, UnplayableError, cases, run_case
from hookline.testing.conformance.run import check_limits
from hookline.testing.conformance.suite.trouble import CASES as TROUBLE
from hookline.testing.conformance.suite.trouble import Cancelled, cancel
from hookline.testing.conformance.trial import Trial, use

#: How often a run is cancelled to see how long its hooks live; the best time counts, because others use the machine.
_TIMES = 3
#: Cases between two lines of progress.
_SHOWN = 20


class Declared(Struct, frozen=True):
    """A limit that was confirmed."""

    level: str
    reason: str
    source: str


class Measured(Struct, frozen=True, kw_only=True):
    """The results of one measurement."""

    name: str
    #: full, part or none by the name of the case.
    levels: dict[str, str]
    limits: dict[str, Declared]
    #: What was not as declared.
    problems: tuple[str, ...] = ()
    #: Seconds until the hooks of a cancelled run got the signal to end, and until the last was gone.
    cancelled: Cancelled | None = None
    seconds: float = 0.0
    #: Of the framework, as it is installed here.
    releases: str = ""
    #: The events that fired in conversations that have them all.
    events: tuple[str, ...] = ()


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


def measured(harness: Harness, extra: str) -> Measured:
    chosen = cases(slow=True)
    check_limits(harness, chosen)
    results: list[CaseResult] = []
    for case in chosen:
        results.append(run_case(harness, case))
        if len(results) % _SHOWN == 0:
            sys.stderr.write(f"... {len(results)} of {len(chosen)} cases\n")
            sys.stderr.flush()
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
        releases=releases(extra),
        events=fired_events(harness),
    )


#: Cases that have, together, every event that a host can fire.
_EVENTFUL = (
    "deny: not run", "context: after", "failure: one event", "ask: no", "end: every turn", "failure: model",
    "subagent: distinguished",
)  # fmt: skip


def fired_events(harness: Harness) -> tuple[str, ...]:
    """Return the events that fire in the eventful cases, in the order of the table."""
    fired: set[str] = set()
    known = {case.name: case for case in cases()}
    for case in (known[name] for name in _EVENTFUL):
        with tempfile.TemporaryDirectory() as directory:
            fired |= asyncio.run(_fired(harness, case, Path(directory)))
    return tuple(name for name in EVENTS if name in fired)


async def _fired(harness: Harness, case: Case, folder: Path) -> set[str]:
    trial, fired = Trial(harness, folder), set[str]()
    for event in trial.engine.events.values():
        if not event.needs_matcher:
            trial.engine.add(event, partial(_note, fired, event.name), quick=True)
    with suppress(UnplayableError):
        await case.play(trial)
    await trial.engine.close(0)
    return fired


def _note(fired: set[str], name: str, _payload: Any) -> None:
    fired.add(name)


def releases(extra: str) -> str:
    """The packages of an extra as they are installed."""
    wanted = (each.partition(";") for each in requires("hookline") or ())
    names = [re.split(r"[^\w.-]", each, maxsplit=1)[0] for each, _, why in wanted if f"'{extra}'" in why]
    return ", ".join(f"{name} {version(name)}" for name in names)


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

    with tempfile.TemporaryDirectory(prefix="conformance-") as directory:
        return asyncio.run(once(Trial(harness, Path(directory).resolve())))


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(measured(harness_of(sys.argv[1]), sys.argv[2])).decode() + "\n")
