"""Run cases: compare results with what the harness declared, and report them for people without pytest."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal, TypeAlias

from msgspec import Struct

from hookline.testing.conformance.harness import Harness, KnownLimit, UnplayableError
from hookline.testing.conformance.trial import CaseObservation, Entry, Trial

Level: TypeAlias = Literal["full", "part", "none"]

#: Seconds after which a case counts as hung; one that takes long may.
_HUNG, _HUNG_SLOW = 60.0, 600.0


class Case(Struct, frozen=True, eq=False):
    """One row of the suite.

    ::

        case = next(case for case in cases() if case.name == "deny: not run")
    """

    #: `group: what`.
    name: str
    #: The behaviour of an agent that passes it.
    shows: str
    play: Callable[[Trial], Awaitable[None]]
    entry: Entry = "async"
    #: Only for runs that may take long.
    slow: bool = False
    #: False: no hook logs the events.
    watched: bool = True

    @property
    def group(self) -> str:
        """The beginning of its name."""
        return self.name.partition(":")[0]

    def __str__(self) -> str:
        return self.name


class CaseResult(Struct, frozen=True, eq=False):
    """Result of a case, and what was declared.

    ::

        result = run_case(MyHarness(), case)
        assert result.ok, result.problem
    """

    case: Case
    level: Level
    limit: KnownLimit | None
    #: Failed expectations.
    missing: tuple[str, ...] = ()
    #: All observations.
    account: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """True if the result is as declared."""
        return self.level == (self.limit.level if self.limit is not None else "full")

    @property
    def problem(self) -> str | None:
        """The difference between the result and the declaration."""
        if self.ok:
            return None
        found = "".join(f"\n  not so: {each}" for each in self.missing)
        declared = self.limit
        if declared is None:
            return f"{self.case.name}: {self.case.shows}{found}\n{self.account}"
        if self.level == "full":
            return f"{self.case.name} works, but is declared as {declared.level} ({declared.reason}): remove the limit"
        said = f"{self.case.name} is declared as {declared.level}, but its result is {self.level}{found}"
        return f"{said}\n{self.account}"

    def check(self) -> None:
        """Raise AssertionError unless the result is as declared."""
        if self.problem is not None:
            raise AssertionError(self.problem)


def run_case(harness: Harness, case: Case) -> CaseResult:
    """Play one case, also one with a declared limit: its result must be exactly as declared.

    ::

        run_case(MyHarness(), case).check()
    """
    started = perf_counter()
    with tempfile.TemporaryDirectory(prefix="conformance-") as directory:
        trial = asyncio.run(_played(harness, case, Path(directory).resolve()))
    missing = [finding for finding in trial.findings if not finding.holds]
    return CaseResult(
        case,
        _level(trial.findings),
        harness.cannot.get(case.name, harness.cannot.get(case.group)),
        tuple(finding.what for finding in missing),
        trial.account(),
        perf_counter() - started,
    )


async def _played(harness: Harness, case: Case, directory: Path) -> Trial:
    trial = Trial(harness, directory, case.entry)
    limit = _HUNG_SLOW if case.slow else _HUNG
    if case.watched:
        trial.watch()
    try:
        async with asyncio.timeout(limit):
            await case.play(trial)
    except UnplayableError as unplayable:
        trial.must(False, f"it can be played: {unplayable}")
    except TimeoutError:
        trial.must(False, f"it ends within {limit:.0f} seconds")
    finally:
        await trial.engine.close(0)
    return trial


def _level(findings: Sequence[CaseObservation]) -> Level:
    if not findings:
        raise RuntimeError("a case without findings shows nothing")
    lost = [finding for finding in findings if not finding.holds]
    if not lost:
        return "full"
    return "none" if any(finding.essential for finding in lost) else "part"


def run_all(harness: Harness, chosen: Iterable[Case]) -> list[CaseResult]:
    """Play all of these. A limit for a case or a group that does not exist is an error.

    ::

        wrong = [result for result in run_all(MyHarness(), cases()) if not result.ok]
    """
    played = list(chosen)
    check_limits(harness, played)
    return [run_case(harness, case) for case in played]


def check_limits(harness: Harness, chosen: Iterable[Case]) -> None:
    """Raise ValueError for a limit of a case or a group that does not exist."""
    unknown = set(harness.cannot) - {name for case in chosen for name in (case.name, case.group)}
    if unknown:
        raise ValueError(f"{harness.name} declares limits of unknown cases: {', '.join(sorted(unknown))}")


class SuiteReport(Struct, frozen=True, eq=False):
    """Results of the whole suite.

    ::

        result = report(MyHarness())
        print(result)
        sys.exit(not result.ok)
    """

    name: str
    results: tuple[CaseResult, ...]

    @property
    def ok(self) -> bool:
        """True if all results are as declared."""
        return all(result.ok for result in self.results)

    def __str__(self) -> str:
        """Format one line per case, errors and counts."""
        lines = [f"{self.name}:"]
        for result in self.results:
            why = f"  ({result.limit.reason})" if result.limit is not None else ""
            lines.append(f"  {result.level if result.ok else 'WRONG':5}  {result.case.name}{why}")
        lines += [f"\n{result.problem}" for result in self.results if not result.ok]
        counts = Counter(result.level for result in self.results)
        wrong = sum(not result.ok for result in self.results)
        lines.append(
            f"\n{self.name}: {counts['full']} full, {counts['part']} part, {counts['none']} none, "
            f"{wrong} not as declared, in {sum(result.seconds for result in self.results):.1f} s"
        )
        return "\n".join(lines)
