"""Show reports of `hookline backtest`."""

from collections.abc import Sequence

from hookline.history.html_report import report_body
from hookline.team.console.html import Html, h, join
from hookline.team.console.ports import Document
from hookline.team.console.views.layout import ago, command, empty, number, recorded, section


def list_body(reports: Sequence[Document], now: float) -> Html:
    head = h("h1", "Backtests", class_="hidden")
    if not reports:
        nothing = empty(
            "No report yet. A backtest shows what your hooks, or a rule on trial, would have done in past sessions:"
        )
        tries = [
            command("hookline backtest --since 30d"),
            command("hookline backtest --since 30d --rule 'deny force-push' --diff"),
        ]
        return join(head, section("Backtests", nothing, tries))
    return join(head, section("Backtests", h("ol", [_report(each, now) for each in reports], class_="jobs")))


def _report(report: Document, now: float) -> Html:
    effects = [
        h("span", f"{number(report[name])} {word}", class_=f"badge {kind}")
        for name, word, kind in (
            ("block", "blocked", "block"),
            ("ask", "asked", "ask"),
            ("rewrite", "rewritten", "allow"),
        )
        if report[name]
    ]
    inside = (
        h("span", recorded(report["at"], now), class_="hook"),
        h(
            "span",
            f"{number(report['sessions'])} sessions, {number(report['recorded_events'])} events",
            class_="soft",
        ),
        h("span", effects or "would change nothing", class_="marks"),
        h("span", ago(report["at"], now), class_="ms"),
    )
    return h("li", h("a", inside, href=f"/backtest/{report['name']}", class_="job"))


def report(document: Document, at: float) -> Html:
    """Draw a report as in the file that `--html` writes."""
    return h("article", Html(report_body(document, at)), class_="report card")
