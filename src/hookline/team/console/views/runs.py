"""Show runs: counts and charts of outcomes, and the newest tool calls with their hooks."""

from collections.abc import Sequence

from hookline.team.console.filter import PageFilter
from hookline.team.console.html import Html, h, join
from hookline.team.console.queries import Choices, Summary
from hookline.team.console.views.chart import Chart, Series, draw
from hookline.team.console.views.layout import (
    command,
    empty,
    filter_bar,
    number,
    range_words,
    runs_list,
    section,
)

_FIELDS = ("q", "hook", "status", "agent", "event", "machine")


def body(
    wanted: PageFilter, choices: Choices, summary: Summary, rows: Sequence[Html], next_before: int
) -> Html:
    return join(
        h("h1", "Runs", class_="hidden"),
        filter_bar(wanted, choices, "/runs", _FIELDS),
        _cards(wanted, summary),
        _charts(wanted, summary),
        _newest(wanted, rows, next_before),
    )


def _cards(wanted: PageFilter, summary: Summary) -> Html:
    totals = summary.totals
    cards = (
        ("all", "runs", totals.runs, "plain"),
        ("blocked", "blocked", totals.blocked, "block"),
        ("would_have_blocked", "would have blocked", totals.would_have_blocked, "would"),
        ("failed_open", "failed open", totals.failed_open, "open"),
        ("failed", "failed", totals.failed, "failed"),
        ("slow", "slower than 1 s", totals.slow, "plain"),
    )
    return h(
        "div",
        [
            h(
                "a",
                h("b", number(count), data_count=status),
                h("span", words),
                href=wanted.address(status=status),
                class_=f"stat {kind}" + (" zero" if not count else ""),
                aria_current="true" if wanted.status == status else None,
            )
            for status, words, count, kind in cards
        ],
        class_="stats",
    )


def _charts(wanted: PageFilter, summary: Summary) -> Html | None:
    if not summary.points:
        return None
    begin, step, totals = summary.points[0][0], summary.step, summary.totals
    per = {60: "minute", 3600: "hour", 86400: "day"}.get(step, f"{step // 3600} hours")
    zoom = wanted.address(since="all")
    runs = Chart(
        label=f"{number(totals.runs)} runs in the {range_words(wanted)}",
        begin=begin,
        step=step,
        bars=True,
        zoom=zoom,
        series=[Series("runs", "runs", [point[1] for point in summary.points])],
    )
    trouble = Chart(
        label=f"{number(totals.blocked)} blocked, {number(totals.failed_open)} failed open, "
        f"{number(totals.failed)} failed",
        begin=begin,
        step=step,
        zoom=zoom,
        series=[
            Series("blocked", "block", [point[2] for point in summary.points]),
            Series("failed open", "open", [point[3] for point in summary.points]),
            Series("failed", "failed", [point[4] for point in summary.points]),
        ],
    )
    return h(
        "div",
        section(f"Runs per {per}", draw(runs)),
        section("Blocked, failed open and failed", draw(trouble)),
        class_="pair",
    )


def _newest(wanted: PageFilter, rows: Sequence[Html], next_before: int) -> Html:
    title = "Calls" if wanted.before else "Newest calls"
    everything = h("a", "Show all calls", href=wanted.address(status="all"))
    aside = everything if wanted.shown_status == "notable" else None
    if not rows and wanted == PageFilter(since=wanted.since) and wanted.since == "all":
        waiting = "No hook has run yet. Runs appear here as soon as an agent asks Hookline."
        return section(title, empty(waiting), command("hookline install"), runs_list([], "newest"))
    if not rows:
        wider = h("a", "Search all time", href=wanted.address(since="all"))
        clear = h("a", "remove the filters", href="/runs")
        if wanted.shown_status == "notable":
            nothing = empty(
                "Nothing was blocked, asked about, failed or slow. ", everything, ", or ", wider, "."
            )
        else:
            nothing = empty("No run matches. ", wider, ", or ", clear, ".")
        return section(title, nothing, runs_list([], "newest"))
    older = h("a", "Older calls", href=wanted.address(before=next_before), class_="more", rel="next")
    first = h("a", "Newest calls", href=wanted.address(), class_="more") if wanted.before else None
    new = h("button", id="new", type="button", class_="new", hidden=True)
    return section(
        title,
        new,
        runs_list(rows, None if wanted.before else "newest"),
        h("p", first, " ", older if next_before else None, class_="pages"),
        aside=aside,
    )
