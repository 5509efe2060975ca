"""Show the machines of the fleet: which bundles and versions they have, and which agents ask Hookline there."""

from collections.abc import Mapping, Sequence
from typing import Any

from hookline.model.safe_text import one_line
from hookline.team.console.html import Html, h, join
from hookline.team.console.ports import Document
from hookline.team.console.queries import ProblemRow
from hookline.team.console.views.layout import ago, command, empty, many, number, section, share
from hookline.team.console.views.start import failures
from hookline.team.fleet.status import LEVELS

_LONGEST = 120


def body(document: Document | None, problem: str, failed: Sequence[ProblemRow], now: float) -> Html:
    """Render the page. `problem`: why the fleet cannot be asked."""
    head = h("h1", "Fleet", class_="hidden")
    if document is None:
        waiting = problem or "Asking the server of the fleet. Reload this page in a moment."
        return join(head, section("Fleet", empty(one_line(waiting, 500)), command("hookline fleet status")))
    found: Sequence[Mapping[str, str]] = document["problems"]
    counts = [
        many(count, level) for level in LEVELS if (count := sum(each["level"] == level for each in found))
    ]
    sentence = (
        f"{' and '.join(counts)} on {many(len(document['machines']), 'machine')}."
        if counts
        else f"{many(len(document['machines']), 'machine')}, and nothing is wrong."
    )
    wrong = any(each["level"] == "error" for each in found)
    state = "bad" if wrong else "good" if document["machines"] else "begin"
    return join(
        head,
        h("p", sentence, class_=f"standing standing-{state}", role="status"),
        section("Problems", h("ol", [h("li", _problem(each)) for each in found], class_="lines"))
        if found
        else None,
        _bundles(document, now),
        _machines(document, now),
        failures(failed, now, "Failures by hook and message, last 7 days") if failed else None,
    )


def _problem(problem: Mapping[str, str]) -> str:
    about = f"{problem['about']}: " if problem["about"] else ""
    return one_line(f"{problem['level']}: {about}{problem['text']}", 300)


def _bundles(document: Document, now: float) -> Html:
    bundles: Sequence[Mapping[str, Any]] = document["bundles"]
    if not bundles:
        return section(
            "Bundles", empty("No bundle is published."), command("hookline fleet publish DIRECTORY")
        )
    rows = [
        h(
            "li",
            h(
                "span",
                h("b", one_line(f"{each['name']} {each['revision']}", _LONGEST)),
                h("small", f"stage {each['stage']:g} %, {one_line(each['scope'], _LONGEST) or 'all machines'}"),
                class_="name",
            ),
            h(
                "span",
                h("i", class_=f"bar-allow {share(each['machines'], each['meant'])}"),
                class_="track tall",
                aria_hidden="true",
            ),
            h("span", f"{each['machines']:,} of {each['meant']:,}, {_until(each['expires'], now)}", class_="value"),
        )
        for each in bundles
    ]  # fmt: skip
    return section("Bundles: machines that have the newest revision", h("ol", rows, class_="bars"))


def _until(expires: float, now: float) -> str:
    if expires <= now:
        return "expired"
    days = (expires - now) / 86_400
    return f"ends in {days:.0f} d" if days >= 2 else f"ends in {(expires - now) / 3600:.0f} h"


def _machines(document: Document, now: float) -> Html:
    machines: Sequence[Mapping[str, Any]] = document["machines"]
    if not machines:
        return section("Machines", empty("No machine has reported yet."), command("hookline fleet worker"))
    heads = ("machine", "bundles", "version", "seen", "asked by", "last day")
    rows = [_machine(each, document["problems"], now) for each in machines]
    table = h(
        "table",
        h("thead", h("tr", [h("th", one, scope="col") for one in heads])),
        h("tbody", rows),
        class_="matrix",
    )
    return section(
        "Machines", h("div", table, class_="scroll", tabindex=0, role="region", aria_label="Machines")
    )


def _machine(machine: Mapping[str, Any], problems: Sequence[Mapping[str, str]], now: float) -> Html:
    report = machine["report"]
    own = [each for each in problems if each["about"] == report["machine"]]
    wrong = any(each["level"] == "error" for each in own)
    day = report["last_day"]
    bundles = ", ".join(f"{each['name']} {each['revision'] or '?'}" for each in report["bundles"]) or "none"
    counts = f"{many(day['runs'], 'run')}, {number(day['failed'])} failed, {number(day['open_passes'])} failed open"
    cells = (
        bundles,
        report["hookline"] or "unknown",
        ago(machine["seen"], now),
        ", ".join(day["agents"]) or "no agent in the last day",
        counts,
    )
    small = h("small", one_line("; ".join(each["text"] for each in own), 300)) if own else None
    mark = h("span", "✗ " if wrong else "✓ ", class_=f"state {'bad' if wrong else 'good'}")
    name = h("th", mark, one_line(report["machine"], 80), small, scope="row")
    heads = ("bundles", "version", "seen", "asked by", "last day")
    return h(
        "tr",
        name,
        [h("td", one_line(cell, _LONGEST), data_agent=head) for head, cell in zip(heads, cells, strict=True)],
    )
