"""Show a list of sessions, and one session from beginning to end, call by call."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise

from hookline.model.safe_text import one_line
from hookline.team.console.filter import PageFilter
from hookline.team.console.html import Html, h, join
from hookline.team.console.index import DECISIONS, FAILED_OPEN, WOULD_BLOCK
from hookline.team.console.queries import CALLS_APART, Choices, RunRow, SessionRow
from hookline.team.console.views.layout import (
    ago,
    badge,
    command,
    duration,
    empty,
    facts,
    filter_bar,
    many,
    number,
    recorded,
    section,
    session_address,
    share,
)

_FIELDS = ("q", "agent", "status", "machine")
#: Runs of one session that are shown.
MOST = 600


def list_body(
    wanted: PageFilter,
    choices: Choices,
    rows: Sequence[SessionRow],
    now: float,
    elsewhere: Callable[[str], str],
) -> Html:
    """Render the list. `elsewhere` gives the name of a machine that is not this one."""
    bar = filter_bar(wanted, choices, "/sessions", _FIELDS, "Filter by session or project")
    if not rows:
        return join(
            h("h1", "Sessions"),
            bar,
            section(
                "Sessions",
                empty("No session matches. Sessions appear here when an agent asks Hookline."),
                command("hookline doctor"),
            ),
        )
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
            (row.failed_open, "failed open", "open"),
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
        h("span", bar, f" {many(row.runs, 'run')}", class_="runs-of"),
        h("span", marks, class_="marks"),
        h("span", ago(row.last, now), h("small", _length(row.last - row.first)), class_="ms"),
    )
    return h("li", h("a", inside, href=session_address(row.session, row.machine), class_="session"))


def _length(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s long"
    return f"{seconds / 60:.0f} min long" if seconds < 5400 else f"{seconds / 3600:.1f} h long"


def timeline_body(session: str, rows: Sequence[RunRow], now: float) -> Html:
    if not rows:
        return join(
            h("h1", "Session"),
            section("Timeline", empty("No run of this session is in the journal any more.")),
        )
    first, last = rows[0], rows[-1]
    counted = {
        "blocked": sum(DECISIONS[row.decision] == "block" for row in rows),
        "would have blocked": sum(bool(row.flags & WOULD_BLOCK) for row in rows),
        "failed open": sum(bool(row.flags & FAILED_OPEN) for row in rows),
    }
    head = facts(
        [
            ("Session", h("code", session)),
            ("Agent", ", ".join(dict.fromkeys(row.agent for row in rows if row.agent))),
            ("Project", h("code", first.project) if first.project else None),
            ("Machine", first.machine),
            ("Began", join(recorded(first.at, now), f", {_length(last.at - first.at)}")),
            ("Runs", f"{number(len(rows))}{' or more' if len(rows) == MOST else ''}"),
            *((word.capitalize(), number(count)) for word, count in counted.items() if count),
        ],
        wide=True,
    )
    calls = list(_calls(rows))
    slowest = max(row.ms for row in rows)
    stopped = [number for number, call in enumerate(calls) if any(_kind(row) in _STOPPED for row in call)]
    following = dict(pairwise(stopped))
    entries = [
        _call(call, first.at, slowest, number, following.get(number)) for number, call in enumerate(calls)
    ]
    jump = (
        h("a", f"Go to the first of {many(len(stopped), 'stop')}", href=f"#call-{stopped[0]}")
        if stopped
        else None
    )
    return join(
        h("h1", f"Session {one_line(session, 40)}"),
        h("div", section("In short", head, _strip(rows), aside=jump), class_="stays"),
        section(
            "Timeline",
            h("ol", entries, class_="timeline"),
            aside=h("span", f"{many(len(calls), 'call')}; bars: up to {duration(slowest)}", class_="soft"),
        ),
    )


_STOPPED = ("block", "open", "failed")


def _calls(rows: Sequence[RunRow]) -> Iterator[list[RunRow]]:
    """Group runs on the same call: neighbours with the same event and input, close in time."""
    for _, group in groupby(rows, key=lambda row: (row.event, row.call)):
        call: list[RunRow] = []
        for row in group:
            if call and row.at - call[-1].at > CALLS_APART:
                yield call
                call = []
            call.append(row)
        yield call


def _strip(rows: Sequence[RunRow]) -> Html:
    """Draw the whole session in one line, with marks where something was stopped or failed open."""
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
    label = "When hooks ran in this session; tall marks were stopped, failed or failed open"
    return h("svg", marks, class_="strip", role="img", aria_label=label, width="100%", height=24)


def _kind(row: RunRow) -> str:
    if row.flags & FAILED_OPEN:
        return "open"
    kind = DECISIONS[row.decision]
    return kind if kind in ("block", "failed", "ask", "would") else "pass"


def _call(call: Sequence[RunRow], began: float, slowest: float, number: int, following: int | None) -> Html:
    """Render one call; a prompt begins a chapter. `following` is the next call that was stopped."""
    row = call[0]
    tool, _, given = row.call.partition(" ")
    worst = max(call, key=lambda each: ("pass", "would", "ask", "failed", "open", "block").index(_kind(each)))
    chapter = row.event in _CHAPTERS
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
        h("a", "next stop", href=f"#call-{following}", class_="next") if following is not None else None,
        class_="call-head",
    )
    kind = f"kind-{_kind(worst)}{' chapter' if chapter else ''}"
    return h("li", head, h("ul", [_hook(each, slowest) for each in call]), class_=kind, id=f"call-{number}")


#: Events that begin a chapter of a session.
_CHAPTERS = ("UserPromptSubmit", "SessionStart", "TurnStart")


def _hook(row: RunRow, slowest: float) -> Html:
    why = one_line(row.reason, 160)
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
