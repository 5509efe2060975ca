"""The first page: how many runs there were and what came of them, and the newest ones."""

from collections.abc import Sequence

from hookline.console.filter import Filter
from hookline.console.html import Html, h, join
from hookline.console.queries import PAGE, Choices, Summary
from hookline.console.views.layout import (
    empty,
    filter_bar,
    number,
    plot,
    range_words,
    runs_list,
    section,
)

_FIELDS = ("q", "hook", "status", "agent", "event", "machine")


def body(wanted: Filter, choices: Choices, summary: Summary, rows: Sequence[Html], next_before: int) -> Html:
    return join(
        h("h1", "Runs", class_="hidden"),
        filter_bar(wanted, choices, "/", _FIELDS),
        _cards(wanted, summary),
        _charts(wanted, summary),
        _newest(wanted, rows, next_before),
    )


def _cards(wanted: Filter, summary: Summary) -> Html:
    totals = summary.totals
    cards = (
        ("", "runs", totals.runs, "plain"),
        ("blocked", "blocked", totals.blocked, "block"),
        ("unanswered", "passed unanswered", totals.unanswered, "open"),
        ("timed_out", "timed out", totals.timed_out, "failed"),
        ("failed", "failed in all", totals.failed, "failed"),
    )
    return h(
        "div",
        [
            h(
                "a",
                h("b", number(count), data_count=status or "runs"),
                h("span", words),
                href=wanted.address("/", status=status),
                class_=f"stat {kind}" + (" zero" if not count else ""),
                aria_current="true" if wanted.status == status else None,
            )
            for status, words, count, kind in cards
        ],
        class_="stats",
    )


def _charts(wanted: Filter, summary: Summary) -> Html | None:
    if not summary.points:
        return None
    times = [point[0] for point in summary.points]
    per = {60: "minute", 3600: "hour", 86400: "day"}.get(summary.step, f"{summary.step // 3600} hours")
    words = f"{number(summary.totals.runs)} runs in the {range_words(wanted)}"
    runs = {
        "times": times,
        "step": summary.step,
        "bars": True,
        "series": [{"label": "runs", "colour": "runs", "values": [point[1] for point in summary.points]}],
    }
    trouble = {
        "times": times,
        "step": summary.step,
        "series": [
            {"label": "blocked", "colour": "block", "values": [point[2] for point in summary.points]},
            {"label": "unanswered", "colour": "open", "values": [point[3] for point in summary.points]},
            {"label": "failed", "colour": "failed", "values": [point[4] for point in summary.points]},
        ],
    }
    label = (
        f"{number(summary.totals.blocked)} blocked, {number(summary.totals.unanswered)} passed unanswered, "
        f"{number(summary.totals.failed)} failed"
    )
    return h(
        "div",
        section(f"Runs per {per}", plot(words, runs)),
        section("Blocked, unanswered and failed", plot(label, trouble)),
        class_="pair",
    )


def _newest(wanted: Filter, rows: Sequence[Html], next_before: int) -> Html:
    if not rows and wanted == Filter(since=wanted.since) and wanted.since == "all":
        waiting = "No hook has run yet. Runs appear here as soon as an agent, or hookline fire, runs one."
        return section("Newest runs", empty(waiting), runs_list([], "newest"))
    if not rows:
        wider = h("a", "Look at all time", href=wanted.address("/", since="all"))
        clear = h("a", "remove the filters", href="/")
        return section("Newest runs", empty("No run matches. ", wider, ", or ", clear, "."))
    older = h("a", "Older runs", href=wanted.address("/", before=next_before), class_="more", rel="next")
    first = h("a", "Newest runs", href=wanted.address("/"), class_="more") if wanted.before else None
    new = h("button", id="new", type="button", class_="new", hidden=True)
    return section(
        "Runs" if wanted.before else "Newest runs",
        new,
        runs_list(rows, None if wanted.before else "newest"),
        h("p", first, " ", older if len(rows) >= PAGE else None, class_="pages"),
    )
