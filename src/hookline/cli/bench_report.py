"""What `hookline bench` shows."""

from collections.abc import Iterator

from hookline.cli.bench_document import BenchDocument, EventBench, HookBench, Times
from hookline.cli.bench_figures import percent
from hookline.cli.naming import seen_from_here
from hookline.cli.text import paragraph, table, terminal_width
from hookline.model.safetext import one_line

_NAME = 40


def as_text(document: BenchDocument) -> str:
    return "\n".join(_lines(document, terminal_width()))


def _lines(document: BenchDocument, width: int) -> Iterator[str]:
    for event in document.events:
        if all(hook.verdict == "not run" for hook in event.hooks) and event.times is None:
            continue
        yield _head(event, width)
        rows = list(_listed(event) if document.dry_run else _measured(event))
        yield "\n".join(f"  {line}" for line in table(rows, width - 2).split("\n"))
        yield ""
    yield from _left_out(document, width)
    yield paragraph(_closing(document), width)


def _head(event: EventBench, width: int) -> str:
    sample = f"  (sample: {event.subject})" if event.subject else ""
    return one_line(f"{event.event}{sample}", width)


def _measured(event: EventBench) -> Iterator[list[str]]:
    yield ["HOOK", "P50", "P95", "SPAWN", "VERDICT"]
    for hook in event.hooks:
        share = "-" if hook.spawn_share is None else percent(hook.spawn_share)
        yield [_name(hook), *_took(hook.times), share, f"{hook.verdict}: {one_line(hook.why, 200)}"]
    if event.times is not None:
        yield ["the whole event", *_took(event.times), "", ""]


def _listed(event: EventBench) -> Iterator[list[str]]:
    yield ["HOOK", "TYPE", "DIALECT", "SOURCE"]
    for hook in event.hooks:
        yield [_name(hook), hook.type, hook.dialect, seen_from_here(hook.source) or "-"]


def _left_out(document: BenchDocument, width: int) -> Iterator[str]:
    left = [
        hook
        for event in document.events
        if event.times is None
        for hook in event.hooks
        if hook.verdict == "not run"
    ]
    if left:
        yield "not run, because no sample payload concerns them:"
        yield from (f"  {one_line(f'{_name(hook)}: {hook.why}', width - 2)}" for hook in left)
        yield ""


def _closing(document: BenchDocument) -> str:
    if document.dry_run:
        return "nothing was run"
    rounds = "1 round" if document.rounds == 1 else f"{document.rounds} rounds"
    spawn = _ms(document.spawn_ms or 0)
    return f"{rounds} after 2 to warm up. SPAWN: starting a shell ({spawn} here), as part of P50."


def _name(hook: HookBench) -> str:
    return one_line(hook.hook, _NAME)


def _took(took: Times | None) -> tuple[str, str]:
    return ("-", "-") if took is None else (_ms(took.p50_ms), _ms(took.p95_ms))


def _ms(value: float) -> str:
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 1 else f"{value:.2f} ms"
