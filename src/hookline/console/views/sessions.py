"""Sessions: a list of them, and one from its beginning to its end, call by call."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from hookline.console.filter import Filter
from hookline.console.html import Html, h, join
from hookline.console.index import UNANSWERED, VERDICTS
from hookline.console.queries import Choices, Row, SessionRow
from hookline.console.views.layout import (
    ago,
    badge,
    duration,
    empty,
    facts,
    filter_bar,
    moment,
    number,
    section,
    session_address,
    share,
)
from hookline.model.run import Run
from hookline.model.safe_text import one_line

_FIELDS = ("q", "agent", "status", "machine")
#: Runs of one session that are shown.
MOST = 600
_CALLS_APART = 2.0


def list_body(
    wanted: Filter, choices: Choices, rows: Sequence[SessionRow], now: float, elsewhere: Callable[[str], str]
) -> Html:
    """`elsewhere` gives the name of a machine that is not this one."""
    bar = filter_bar(wanted, choices, "/sessions", _FIELDS, "Filter by session or project")
    if not rows:
        return join(h("h1", "Sessions"), bar, section("Sessions", empty("No session matches.")))
    most = max(row.runs for row in rows)
    return join(
        h("h1", "Sessions", class_="hidden"),
        bar,
        section(
            "Sessions, the newest first",
            h("ol", [_session(row, most, now, elsewhere(row.machine)) for row in rows], class_="sessions"),
        ),
    )


def _session(row: SessionRow, most: int, now: float, machine: str) -> Html:
    bar = h("span", h("i", class_=f"bar-runs {share(row.runs, most)}"), class_="track", aria_hidden="true")
    marks = [
        h("span", f"{number(count)} {word}", class_=f"badge {kind}")
        for count, word, kind in (
            (row.blocked, "blocked", "block"),
            (row.unanswered, "unanswered", "open"),
            (row.failed, "failed", "failed"),
        )
        if count
    ]
    inside = (
        h("span", one_line(row.project.rpartition("/")[2] or row.session, 60), class_="hook"),
        h(
            "span",
            " · ".join(filter(None, (row.agent or "unknown agent", row.session[:13], machine))),
            class_="soft",
        ),
        h("span", bar, f" {number(row.runs)} runs", class_="runs-of"),
        h("span", marks, class_="marks"),
        h("span", f"{ago(row.last, now)}, {_length(row.last - row.first)}", class_="ms"),
    )
    return h("li", h("a", inside, href=session_address(row.session, row.machine), class_="session"))


def _length(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s long"
    return f"{seconds / 60:.0f} min long" if seconds < 5400 else f"{seconds / 3600:.1f} h long"


def timeline_body(session: str, rows: Sequence[Row], details: dict[int, Run], now: float) -> Html:
    if not rows:
        return join(
            h("h1", "Session"),
            section("Timeline", empty("No run of this session is in the journal any more.")),
        )
    first, last = rows[0], rows[-1]
    counted = {
        "blocked": sum(VERDICTS[row.verdict] == "block" for row in rows),
        "passed unanswered": sum(bool(row.flags & UNANSWERED) for row in rows),
    }
    head = facts(
        [
            ("Session", h("code", session)),
            ("Agent", ", ".join(dict.fromkeys(row.agent for row in rows if row.agent))),
            ("Project", h("code", first.project) if first.project else None),
            ("Machine", first.machine),
            ("Began", join(moment(first.at, now), f", {_length(last.at - first.at)}")),
            ("Runs", f"{number(len(rows))}{' or more' if len(rows) == MOST else ''}"),
            *((word.capitalize(), number(count)) for word, count in counted.items() if count),
        ],
        wide=True,
    )
    calls = list(_calls(rows))
    return join(
        h("h1", f"Session {one_line(session, 40)}"),
        section("In short", head, _strip(rows)),
        section(
            "Timeline",
            h("ol", [_call(call, first.at, details) for call in calls], class_="timeline"),
            aside=h("span", f"{number(len(calls))} calls", class_="soft"),
        ),
    )


def _calls(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Runs on the same call: neighbours with the same event and input, close in time."""
    for _, group in groupby(rows, key=lambda row: (row.event, row.call)):
        call: list[Row] = []
        for row in group:
            if call and row.at - call[-1].at > _CALLS_APART:
                yield call
                call = []
            call.append(row)
        yield call


def _strip(rows: Sequence[Row]) -> Html:
    """The whole session in one line: where in it something was stopped or passed unanswered."""
    first, length = rows[0].at, max(rows[-1].at - rows[0].at, 1.0)
    marks = [
        h(
            "rect",
            x=f"{100 * (row.at - first) / length:.2f}%",
            y=0 if kind != "pass" else 8,
            width=2,
            height=24 if kind != "pass" else 8,
            class_=f"mark-{kind}",
        )
        for row in sorted(rows, key=lambda row: _kind(row) != "pass")
        for kind in (_kind(row),)
    ]
    label = "When hooks ran in this session; tall marks were stopped, failed or passed unanswered"
    return h("svg", marks, class_="strip", role="img", aria_label=label, width="100%", height=24)


def _kind(row: Row) -> str:
    if row.flags & UNANSWERED:
        return "open"
    kind = VERDICTS[row.verdict]
    return kind if kind in ("block", "failed", "ask") else "pass"


def _call(call: Sequence[Row], began: float, details: dict[int, Run]) -> Html:
    row = call[0]
    tool, _, given = row.call.partition(" ")
    worst = max(call, key=lambda each: ("pass", "ask", "failed", "open", "block").index(_kind(each)))
    head = h(
        "div",
        h(
            "span",
            f"+{_offset(row.at - began)}",
            class_="offset",
            title=time.strftime("%H:%M:%S", time.localtime(row.at)),
        ),
        h("span", row.event, class_="event"),
        h("span", h("b", tool), " ", h("code", one_line(given, 200)), class_="call") if row.call else None,
        class_="call-head",
    )
    slowest = max(each.ms for each in call)
    return h(
        "li", head, h("ul", [_hook(each, slowest, details) for each in call]), class_=f"kind-{_kind(worst)}"
    )


def _hook(row: Row, slowest: float, details: dict[int, Run]) -> Html:
    run = details.get(row.n)
    why = one_line(run.reason or run.detail, 160) if run is not None else ""
    bar = h("span", h("i", class_=f"bar-time {share(row.ms, slowest)}"), class_="track", aria_hidden="true")
    inside = (
        badge(row),
        h("span", one_line(row.hook, 60), class_="hook"),
        bar,
        h("span", duration(row.ms), class_="ms"),
    )
    return h("li", h("a", inside, h("span", why, class_="why") if why else None, href=row.address))


def _offset(seconds: float) -> str:
    minutes, rest = divmod(max(seconds, 0.0), 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours}:{minutes:02}:{rest:04.1f}" if hours else f"{minutes}:{rest:04.1f}"
