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
        [_canary(each) for each in document["bundles"] if each.get("gate")],
        _guards(document.get("guards", ())),
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


def _canary(bundle: Mapping[str, Any]) -> Html:
    """Show the machines of a stage beside the rest: whether the new revision fails, denies or delays more."""
    gate: Mapping[str, Any] = bundle["gate"]
    rows = [
        h("tr", h("th", word, scope="row"), [h("td", cell, data_agent=head) for head, cell in _counts(gate[key])])
        for key, word in (("stage", "this stage"), ("rest", "the rest"))
    ]  # fmt: skip
    heads = ("", *(head for head, _ in _counts(gate["stage"])))
    table = h(
        "table",
        h("thead", h("tr", [h("th", head, scope="col") if head else h("td") for head in heads])),
        h("tbody", rows),
        class_="matrix",
    )
    name = one_line(f"{bundle['name']} {bundle['revision']}", _LONGEST)
    halts = [
        h("p", h("span", "✗ ", class_="state bad"), one_line(f"Halted: {each}", 300))
        for each in gate["halts"]
    ]
    region = h("div", table, class_="scroll", tabindex=0, role="region", aria_label=f"Rollout of {name}")
    return section(f"Rollout of {name}: stage {bundle['stage']:g} % beside the rest, last day", halts, region)


def _counts(counts: Mapping[str, Any]) -> list[tuple[str, str]]:
    slow = counts["p95_ms"]
    return [
        ("machines", number(counts["machines"])),
        ("runs", number(counts["runs"])),
        ("failed", _part(counts["failed"], counts["runs"])),
        ("denied", _part(counts["denied"], counts["runs"])),
        ("would have blocked", _part(counts["would_block"], counts["runs"])),
        ("95 of 100 runs within", f"{slow:,} ms" if slow is not None else "unknown"),
    ]


def _part(count: int, whole: int) -> str:
    return f"{count:,} ({count / whole:.1%})" if whole else number(count)


def _guards(guards: Sequence[Mapping[str, Any]]) -> Html | None:
    """Show what guards did on all machines; those in shadow mode first, by what they would have blocked."""
    if not guards:
        return None
    ordered = sorted(guards, key=lambda each: -each["counts"].get("would_block", 0))
    lines = [
        h("li", one_line(f"{_guard(each['counts'])} on {many(each['machines'], 'machine')}", 300))
        for each in ordered
    ]
    return section("Guards on all machines, last day", h("ol", lines, class_="lines"))


def _guard(counts: Mapping[str, Any]) -> str:
    parts = [f"{many(counts.get('runs', 0), 'run')}"]
    if counts.get("denied"):
        parts.append(f"{counts['denied']:,} denied")
    if counts.get("would_block"):
        parts.append(f"would have blocked {many(counts['would_block'], 'call')}")
    if counts.get("failed"):
        parts.append(f"{counts['failed']:,} failed")
    return f"{counts['hook']}: {', '.join(parts)}"


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
