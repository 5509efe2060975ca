"""Show how long hooks take, and their decisions."""

import math
from collections.abc import Sequence

from hookline.model.safe_text import one_line
from hookline.team.console.filter import PageFilter
from hookline.team.console.html import Html, h, join
from hookline.team.console.queries import Choices, HookTimes
from hookline.team.console.views.chart import Chart, Series, draw
from hookline.team.console.views.layout import (
    ago,
    duration,
    empty,
    filter_bar,
    number,
    range_words,
    section,
    share,
)

_FIELDS = ("hook", "agent", "machine")
#: The range of a bar: from one millisecond to ten seconds, ten times as long each quarter.
_DECADES = 4
_MOST_COLUMNS = 400
_DECISIONS = (
    ("passed", "pass", "no objection"),
    ("allowed", "allow", "allow"),
    ("asked", "ask", "ask"),
    ("blocked", "block", "blocked"),
    ("failed", "failed", "failed"),
    ("would_have_blocked", "would", "would have blocked"),
    ("others", "other", "not run"),
)


def body(
    wanted: PageFilter,
    choices: Choices,
    hooks: Sequence[HookTimes],
    times: Sequence[tuple[int, float, float]],
    now: float,
) -> Html:
    bar = filter_bar(wanted, choices, "/time", _FIELDS)
    if not hooks:
        return join(h("h1", "Time"), bar, section("Time by hook", empty("No hook ran in this time.")))
    slowest = sorted(hooks, key=lambda hook: -hook.p95)
    return join(
        h("h1", "Time", class_="hidden"),
        bar,
        _chart(wanted, times),
        section(
            "Time by hook",
            h(
                "div",
                [h("span", word) for word in ("1 ms", "10 ms", "100 ms", "1 s", "10 s")],
                class_="scale",
                aria_hidden="true",
            ),
            h("ol", [_times(wanted, hook) for hook in slowest], class_="bars"),
            aside=h(
                "span",
                h("i", class_="key key-p50"),
                "p50 ",
                h("i", class_="key key-p95"),
                "p95, within 5 %",
                class_="soft",
            ),
        ),
        section(
            "Decisions by hook",
            h("ol", [_decisions(wanted, hook, now) for hook in hooks], class_="bars decisions"),
            aside=h(
                "span",
                [(h("i", class_=f"key key-{kind}"), f"{word} ") for _, kind, word in _DECISIONS],
                class_="soft legend",
            ),
        ),
    )


def _chart(wanted: PageFilter, times: Sequence[tuple[int, float, float]]) -> Html | None:
    if not times:
        return None
    begin, step = times[0][0], 3600
    columns = (times[-1][0] - begin) // step + 1
    while columns > _MOST_COLUMNS:
        step, columns = 2 * step, (columns + 1) // 2
    p50: list[float | None] = [None] * columns
    p95: list[float | None] = [None] * columns
    for at, middle, high in times:
        column = (at - begin) // step
        p50[column], p95[column] = (
            max(round(middle, 2), p50[column] or 0.0),
            max(round(high, 2), p95[column] or 0.0),
        )
    who = wanted.hook or "all hooks"
    chart = Chart(
        label=f"p50 and p95 of {who} in the {range_words(wanted)}",
        begin=begin,
        step=step,
        log=True,
        unit="ms",
        zoom=wanted.address("/time", since="all"),
        series=[Series("p95", "p95", p95), Series("p50", "p50", p50)],
    )
    return section(f"p50 and p95 of {who}", draw(chart))


def _on_scale(ms: float) -> float:
    return min(max(math.log10(max(ms, 1.0)), 0.02), _DECADES)


def _name(wanted: PageFilter, hook: HookTimes) -> Html:
    return h(
        "span",
        h("a", one_line(hook.name, 60), href=wanted.address("/time", hook=hook.name)),
        h("small", one_line(hook.source, 70), title=hook.source),
        class_="name",
    )


def _times(wanted: PageFilter, hook: HookTimes) -> Html:
    bar = h(
        "span",
        h("i", class_=f"bar-p95 {share(_on_scale(hook.p95), _DECADES)}"),
        h("i", class_=f"bar-p50 {share(_on_scale(hook.p50), _DECADES)}"),
        class_="track tall",
        aria_hidden="true",
    )
    return h(
        "li",
        _name(wanted, hook),
        bar,
        h("span", f"{duration(hook.p50)} / {duration(hook.p95)}", class_="value"),
    )


def _decisions(wanted: PageFilter, hook: HookTimes, now: float) -> Html:
    counts = [(getattr(hook, field), kind, word) for field, kind, word in _DECISIONS]
    bar = h(
        "span",
        [
            h("i", class_=f"bar-{kind} {share(max(count, hook.runs / 100), hook.runs)}")
            for count, kind, _ in counts
            if count
        ],
        class_="track tall stack",
        aria_hidden="true",
    )
    words = ", ".join(f"{number(count)} {word}" for count, _, word in counts if count)
    opened = (
        h(
            "a",
            f"{number(hook.failed_open)} failed open",
            class_="badge open",
            href=wanted.address(hook=hook.name, status="failed_open"),
        )
        if hook.failed_open
        else None
    )
    runs = h("a", f"{number(hook.runs)} runs", href=wanted.address(hook=hook.name))
    value = h("span", runs, class_="value")
    last = h("small", f"{words}; last {ago(hook.last, now)} ", opened)
    return h("li", _name(wanted, hook), bar, value, last)
