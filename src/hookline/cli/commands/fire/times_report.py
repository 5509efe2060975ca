"""Rate how long each hook takes, and print and encode the figures of `hookline fire --times`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from hookline.cli.describe import short_source
from hookline.cli.text import count_of, indented, json_lines, paragraph, table
from hookline.cli.times import Times, milliseconds, times
from hookline.model.hook import Hook
from hookline.model.run import Run
from hookline.model.safe_text import one_line
from hookline.trust.trust import TrustStatus

Rating = Literal["fine", "slow", "too slow", "failing", "untrusted", "would run", "not run"]


class WarmTimes(Struct, frozen=True, forbid_unknown_fields=True):
    """Times of a warm Python script, as the agent and the daemon run it."""

    times: Times
    #: Its p50 as part of the p50 of the same hook started anew, measured in turns.
    ratio: float
    #: How often none was ready, so that it was started anew after all.
    misses: int


class HookTiming(Struct, frozen=True, forbid_unknown_fields=True):
    """One hook on one payload."""

    hook: str
    source: str
    dialect: str
    type: str
    timeout_s: float
    trust: TrustStatus
    #: How its runs ended, by status; `skipped` when it was not run.
    statuses: dict[str, int]
    times: Times | None = None
    #: Which part of its time the start of a shell alone takes; None for hooks that start no process.
    spawn_share: float | None = None
    #: Its p95 as part of its timeout.
    timeout_share: float | None = None
    rating: Rating = "not run"
    why: str = ""
    warm: WarmTimes | None = None
    #: Why a Python script cannot run warm.
    why_cold: str | None = None


class EventTimes(Struct, frozen=True, forbid_unknown_fields=True):
    """Times of one event; `times` are those of the whole dispatch."""

    event: str
    #: The payload that was used, as a tool or other subject.
    subject: str | None
    hooks: tuple[HookTiming, ...]
    times: Times | None = None


class TimesDocument(Struct, frozen=True, forbid_unknown_fields=True):
    rounds: int
    #: Nothing was run: this shows what would run.
    dry_run: bool
    #: Milliseconds that `sh -c :` takes here; None when nothing was run.
    spawn_ms: float | None
    events: tuple[EventTimes, ...]
    diagnostics: tuple[str, ...] = ()

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        return "\n".join(_lines(self, width))


#: A wait that a user notices.
_NOTICED_MS = 1000.0
_FAILED = ("failed", "not_started", "cancelled")
#: Statuses of runs that took no time.
_NOT_MEASURED = frozenset({"skipped", "background", "untrusted"})


def hook_figures(
    hook: Hook,
    name: str,
    source: str,
    runs: Sequence[Run],
    spawn_ms: float | None,
    trust: TrustStatus,
    warm_runs: Sequence[Run] = (),
    why_cold: str | None = None,
) -> HookTiming:
    took = times([run.duration_ms for run in runs if run.status not in _NOT_MEASURED])
    share = None
    if took is not None and spawn_ms is not None and hook.kind == "command" and took.p50_ms > 0:
        share = round(min(spawn_ms / took.p50_ms, 1.0), 3)
    rating, why = _rating(hook, runs, took)
    return HookTiming(
        hook=name,
        source=source,
        dialect=hook.dialect,
        type=hook.kind,
        timeout_s=hook.timeout,
        trust=trust,
        statuses=dict(Counter(run.status for run in runs)),
        times=took,
        spawn_share=share,
        timeout_share=None if took is None else round(took.p95_ms / 1e3 / hook.timeout, 4),
        rating=rating,
        why=why,
        warm=_warm(warm_runs, took),
        why_cold=why_cold,
    )


def _warm(runs: Sequence[Run], cold: Times | None) -> WarmTimes | None:
    took = times([run.duration_ms for run in runs if run.warm is True])
    if took is None or cold is None or not cold.p50_ms:
        return None
    misses = sum(run.warm is False for run in runs)
    return WarmTimes(took, round(took.p50_ms / cold.p50_ms, 3), misses)


def _rating(hook: Hook, runs: Sequence[Run], took: Times | None) -> tuple[Rating, str]:
    refused = next((run for run in runs if run.status == "untrusted"), None)
    if refused is not None:
        return "untrusted", refused.detail
    if took is None:
        return "not run", "an earlier hook ended the event"
    late = [run for run in runs if run.status == "timed_out"]
    if late:
        return "too slow", f"{len(late)} of {took.count} exceeded its timeout of {seconds(hook.timeout)}"
    failed = [run for run in runs if run.status in _FAILED]
    if failed:
        return (
            "failing",
            f"{len(failed)} of {took.count} gave no answer: {failed[-1].detail or failed[-1].status}",
        )
    return _speed(hook, took)


def _speed(hook: Hook, took: Times) -> tuple[Rating, str]:
    share = took.p95_ms / 1e3 / hook.timeout
    if share > 0.5:
        return "slow", f"p95 is over half its timeout of {seconds(hook.timeout)}"
    if took.p95_ms > _NOTICED_MS and hook.waiting == "wait" and hook.policy.waits:
        return "slow", f"every {hook.policy.event_name} waits {took.p95_ms / 1e3:.1f} s for it"
    return "fine", f"p95 is {percent(share)} of its {seconds(hook.timeout)}"


def percent(share: float) -> str:
    return "under 1 %" if 0 < share < 0.01 else f"{share * 100:.0f} %"


def seconds(value: float) -> str:
    return f"{value:g} s" if value >= 1 else f"{value * 1e3:g} ms"


_NAME = 40


def _lines(document: TimesDocument, width: int) -> Iterator[str]:
    for event in document.events:
        if all(hook.rating == "not run" for hook in event.hooks) and event.times is None:
            continue
        yield _head(event, width)
        rows = list(_listed(event) if document.dry_run else _measured(event))
        yield indented(table(rows, width - 2), 2)
        yield from (
            f"  {one_line(f'{_name(hook)} cannot run warm: {hook.why_cold}', width - 2)}"
            for hook in event.hooks
            if hook.why_cold is not None
        )
        yield ""
    yield from _left_out(document, width)
    yield paragraph(_closing(document), width)


def _head(event: EventTimes, width: int) -> str:
    payload = f"  (payload: {event.subject})" if event.subject else ""
    return one_line(f"{event.event}{payload}", width)


def _measured(event: EventTimes) -> Iterator[list[str]]:
    any_warm = any(hook.warm is not None for hook in event.hooks)
    yield ["HOOK", "P50", "P95", "SPAWN", *(("WARM", "RATIO", "MISSES") if any_warm else ()), "RATING"]
    for hook in event.hooks:
        share = "-" if hook.spawn_share is None else percent(hook.spawn_share)
        warm = _warm_columns(hook.warm) if any_warm else ()
        yield [_name(hook), *_took(hook.times), share, *warm, f"{hook.rating}: {one_line(hook.why, 200)}"]
    if event.times is not None:
        yield ["the whole event", *_took(event.times), *[""] * (5 if any_warm else 2)]


def _warm_columns(warm: WarmTimes | None) -> tuple[str, str, str]:
    return (
        ("-", "-", "-")
        if warm is None
        else (milliseconds(warm.times.p50_ms), f"{warm.ratio:.2f}", str(warm.misses))
    )


def _listed(event: EventTimes) -> Iterator[list[str]]:
    yield ["HOOK", "TYPE", "DIALECT", "SOURCE"]
    for hook in event.hooks:
        held = f"  ({hook.trust.state})" if hook.rating == "untrusted" else ""
        yield [_name(hook), hook.type, hook.dialect, (short_source(hook.source) or "-") + held]


def _left_out(document: TimesDocument, width: int) -> Iterator[str]:
    left = [
        hook
        for event in document.events
        if event.times is None
        for hook in event.hooks
        if hook.rating == "not run"
    ]
    if left:
        yield "not run, because no payload matches them:"
        yield from (f"  {one_line(f'{_name(hook)}: {hook.why}', width - 2)}" for hook in left)
        yield ""


def _closing(document: TimesDocument) -> str:
    if document.dry_run:
        return "nothing was run"
    rounds, spawn = count_of(document.rounds, "round"), milliseconds(document.spawn_ms or 0)
    warm = any(hook.warm is not None for event in document.events for hook in event.hooks)
    more = (
        " WARM: the P50 of a Python script that the agent or the daemon runs in an interpreter started ahead; MISSES:"
        " how often none was ready."
    )
    return f"{rounds} after 2 to warm up. SPAWN: starting a shell ({spawn} here), as part of P50.{more if warm else ''}"


def _name(hook: HookTiming) -> str:
    return one_line(hook.hook, _NAME)


def _took(took: Times | None) -> tuple[str, str]:
    return ("-", "-") if took is None else (milliseconds(took.p50_ms), milliseconds(took.p95_ms))
