"""Render what every page has: the frame, the filter, and formats of times, numbers and decisions."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from hookline.model.safe_text import one_line
from hookline.team.console.filter import RANGES, PageFilter
from hookline.team.console.html import DOCTYPE, Child, Html, h, icon, join
from hookline.team.console.index import DECISIONS, FAILED, FAILED_OPEN, SLOW_MS, TIMED_OUT
from hookline.team.console.queries import Choices, RunRow

PAGES: Final[Mapping[str, str]] = {
    "/": "Start",
    "/runs": "Runs",
    "/sessions": "Sessions",
    "/guards": "Guards",
    "/time": "Time",
    "/jobs": "Jobs",
    "/approvals": "Approvals",
    "/fleet": "Fleet",
    "/backtests": "Backtests",
}
_RANGE_WORDS: Final = {
    "1h": "last hour",
    "24h": "last 24 hours",
    "7d": "last 7 days",
    "30d": "last 30 days",
    "all": "all time",
}
STATUS_WORDS: Final = {
    "notable": "blocked, asked, failed or slow",
    "all": "all",
    "blocked": "blocked",
    "would_have_blocked": "would have blocked",
    "failed_open": "failed open",
    "asked": "asked",
    "allowed": "allowed",
    "passed": "no objection",
    "failed": "failed",
    "timed_out": "timed out",
    "slow": "slow (over 1 s)",
    "untrusted": "untrusted",
    "cancelled": "cancelled",
}
_HOOK: Final = "M10.5 2.5v6a3.75 3.75 0 1 1-7.5 0V7M1.5 8.5 3 7l1.5 1.5M9 2.5h3"
_KEYS: Final = (
    ("/", "focus the filter"),
    ("j  k", "next and previous row"),
    ("Enter", "open the row"),
    ("g h", "start page"),
    ("g r", "runs"),
    ("g s", "sessions"),
    ("g g", "guards"),
    ("g t", "time"),
    ("g j", "jobs"),
    ("g b", "backtests"),
    ("n", "show new runs"),
    ("?", "these keys"),
)


class Frame(Struct, frozen=True, kw_only=True):
    """Facts about the console that all pages show."""

    version: str
    machine: str
    #: The newest run when the page was made: the script asks for those after it.
    last: str
    #: There is a page about the fleet.
    fleet: bool = False
    #: Problems of the index or a journal, or the progress of reading it.
    notes: Sequence[str] = ()
    #: The index is not complete: the page is loaded again until it is.
    reading: bool = False


def page(frame: Frame, path: str, title: str, *body: Child) -> Html:
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("title", f"{title} · Hookline"),
        h("link", rel="stylesheet", href="/static/console.css"),
        h("script", src="/static/console.js", defer=True),
    )
    links = [
        h("a", word, href=target, aria_current="page" if target == path else None)
        for target, word in PAGES.items()
        if target != "/fleet" or frame.fleet
    ]
    live = h(
        "button",
        h("span", class_="dot"),
        h("span", "connecting", id="live-text"),
        id="live",
        type="button",
        class_="live",
        title="Runs appear here as they happen",
        data_state="off",
    )
    top = h(
        "header",
        h("a", icon(_HOOK), "Hookline", href="/", class_="brand"),
        h("nav", links, aria_label="Pages"),
        live,
        class_="top",
    )
    notes = [h("p", note, class_="note", role="status") for note in frame.notes]
    keys = h(
        "dialog",
        h("h2", "Keys"),
        h(
            "dl",
            [(h("dt", [h("kbd", key) for key in keys.split("  ")]), h("dd", what)) for keys, what in _KEYS],
        ),
        h("form", h("button", "Close", type="submit"), method="dialog"),
        id="keys",
        aria_label="Keys",
    )
    foot = h(
        "footer",
        h("span", f"Hookline {frame.version} on {frame.machine}"),
        h("span", "press ", h("kbd", "?"), " for keys"),
    )
    content = h("main", notes, body, id="main", tabindex=-1)
    skip = h("a", "Skip to content", href="#main", class_="skip")
    shown = h("body", skip, top, content, foot, keys, data_last=frame.last, data_again_soon=frame.reading)
    return join(DOCTYPE, h("html", head, shown, lang="en"))


def section(title: str, *body: Child, aside: Child = None, id_: str | None = None) -> Html:
    head = h("div", h("h2", title), h("div", aside, class_="aside") if aside else None, class_="section-head")
    return h("section", head, body, class_="card", id=id_)


def empty(*what: Child) -> Html:
    return h("p", what, class_="empty")


# The filter


def filter_bar(
    wanted: PageFilter,
    choices: Choices,
    path: str,
    fields: Sequence[str],
    placeholder: str = "Search: git push, hook:audit, reason:secret, session:5f2a",
) -> Html:
    """Render a form without a button: the script sends it on changes; without the script, Enter does."""
    offered: dict[str, Iterable[tuple[str, str]]] = {
        "hook": [(each, each) for each in choices.hooks],
        "status": STATUS_WORDS.items(),
        "agent": [(each, each) for each in choices.agents],
        "event": [(each, each) for each in choices.events],
        "machine": [(each, each) for each in choices.machines],
    }
    shown = [name for name in fields if name in offered and (name != "machine" or len(choices.machines) > 1)]
    search = (
        h(
            "label",
            h("span", "Filter", class_="hidden"),
            h(
                "input",
                type="search",
                name="q",
                value=wanted.q,
                id="q",
                placeholder=placeholder,
                autocomplete="off",
                spellcheck="false",
            ),
            h("kbd", "/", aria_hidden="true"),
            class_="search",
        )
        if "q" in fields
        else None
    )
    kept = [
        h("input", type="hidden", name=name, value=value)
        for name in ("session", "project")
        if (value := getattr(wanted, name)) and name not in fields
    ]
    chosen = wanted.start or wanted.end
    since = None if chosen else h("input", type="hidden", name="since", value=wanted.since)
    form = h(
        "form",
        search,
        [_select(name, offered[name], getattr(wanted, name)) for name in shown],
        kept,
        since,
        _own_range(wanted),
        h("button", "Apply", type="submit", class_="apply"),
        action=path,
        method="get",
        class_="filter",
        role="search",
        id="filter",
        data_filter=msgspec.json.encode({**wanted.named, "status": wanted.shown_status}).decode(),
    )
    return h("div", form, _ranges(wanted, path), _chips(wanted, path), class_="bar")


def _select(name: str, offered: Iterable[tuple[str, str]], chosen: str) -> Html:
    pairs = list(offered)
    if chosen and chosen not in dict(pairs):
        pairs.append((chosen, chosen))
    options = [
        h("option", one_line(word, 60), value=value, selected=value == chosen) for value, word in pairs
    ]
    first = h("option", f"all {name}{'es' if name == 'status' else 's'}", value="")
    return h(
        "select", first, options, name=name, aria_label=name.capitalize(), class_="set" if chosen else None
    )


def _own_range(wanted: PageFilter) -> Html:
    """Render two times; dragging over a chart fills them in."""
    times = [
        h(
            "label",
            word,
            h("input", type="datetime-local", name=name, value=value),
        )
        for word, name, value in (("from ", "from", wanted.start), ("to ", "to", wanted.end))
    ]
    inside = h("div", times, h("button", "Show", type="submit"), class_="own-range")
    chosen = bool(wanted.start or wanted.end)
    return h("details", h("summary", "Dates"), inside, open=chosen, class_="dates")


def _ranges(wanted: PageFilter, path: str) -> Html:
    links = [
        h(
            "a",
            word,
            href=wanted.address(path, since=word),
            title=_RANGE_WORDS[word],
            aria_current="true" if word == wanted.since and not (wanted.start or wanted.end) else None,
        )
        for word in RANGES
    ]
    return h("div", links, class_="ranges", role="group", aria_label="Range of time")


def _chips(wanted: PageFilter, path: str) -> Html | None:
    """Render the active filters, each with a link that removes it."""
    chips = [
        h(
            "a",
            f"{name}: {one_line(shown, 40)} ",
            h("span", "×", aria_hidden="true"),
            h("span", ", remove this filter", class_="hidden"),
            href=wanted.address(path, **{name: ""}),
            class_="chip",
        )
        for name in ("hook", "status", "agent", "event", "session", "project", "machine", "q")
        if (shown := STATUS_WORDS.get(getattr(wanted, name), getattr(wanted, name)))
    ]
    return h("div", chips, class_="chips") if chips else None


def range_words(wanted: PageFilter) -> str:
    """Name the range so that it can follow "in the"."""
    if wanted.start or wanted.end:
        first, last = wanted.start.replace("T", " "), wanted.end.replace("T", " ")
        return f"time from {first or 'the first run'} to {last or 'now'}"
    return _RANGE_WORDS[wanted.since]


# Numbers, times, decisions


def number(value: int) -> str:
    return f"{value:,}"


def many(value: int, word: str) -> str:
    """Return the number with its word, in the plural where that is right."""
    return f"{number(value)} {word}{'' if value == 1 else 's'}"


def duration(ms: float) -> str:
    if ms >= 100_000:
        return f"{ms / 60_000:.1f} min"
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"


def recorded(at: float, now: float | None = None) -> Html:
    """Render today's times without the day, others with it; the tooltip has all of it."""
    try:
        local = time.localtime(at)
        current = time.localtime(now if now is not None else time.time())
    except (ValueError, OverflowError, OSError):
        return h("span", "-")
    if at <= 0:
        return h("span", "-")
    same_day = local[:3] == current[:3]
    shown = time.strftime("%H:%M:%S" if same_day else "%d %b %H:%M", local)
    return h(
        "time",
        shown,
        datetime=time.strftime("%Y-%m-%dT%H:%M:%S%z", local),
        title=time.strftime("%Y-%m-%d %H:%M:%S", local),
    )


def ago(at: float, now: float) -> str:
    seconds = max(0.0, now - at)
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def badge(row: RunRow) -> Html:
    """Return a run's status badge."""
    if row.flags & FAILED_OPEN:
        return h(
            "span", "failed open", class_="badge open", title="the action proceeded because the hook failed"
        )
    if row.flags & FAILED and DECISIONS[row.decision] != "block":
        return h(
            "span",
            "timed out" if row.flags & TIMED_OUT else row.status.replace("_", " "),
            class_="badge failed",
        )
    kind = DECISIONS[row.decision]
    words = {"pass": "pass", "allow": "allow", "ask": "ask", "block": "blocked", "would": "would block"}
    return h("span", words.get(kind, row.status), class_=f"badge {kind}")


_RANKS: Final = ("pass", "allow", "other", "slow", "would", "ask", "failed", "block")


def _rank(row: RunRow) -> tuple[int, float]:
    """The more a run matters, the higher; among equals the slower one."""
    rank = len(_RANKS) if row.flags & FAILED_OPEN else _RANKS.index(DECISIONS[row.decision])
    return max(rank, _RANKS.index("slow") if row.ms >= SLOW_MS else 0), row.ms


def _run_inside(row: RunRow, now: float | None, machine: str, more: Child = None) -> Child:
    tool, _, given = row.call.partition(" ")
    return (
        recorded(row.at, now),
        badge(row),
        h("span", one_line(row.hook, 80), more, class_="hook"),
        h("span", h("b", tool), " ", h("code", one_line(given, 200)), class_="call")
        if row.call
        else h("span", row.event, class_="call soft"),
        h("span", row.agent or "-", (" ", h("small", machine)) if machine else None, class_="agent"),
        h("span", duration(row.ms), class_="ms slow" if row.ms >= SLOW_MS else "ms"),
        h("span", one_line(row.reason, 200), class_="why") if row.reason else None,
    )


def call_row(
    runs: Sequence[RunRow], now: float | None = None, machine: str = "", head: RunRow | None = None
) -> Html:
    """Render one tool call: the run that matters most, or `head`, and the others folded in.

    `machine`: where it ran, if that is to be shown.
    """
    first = head or max(runs, key=_rank)
    if len(runs) == 1:
        inside = h("a", _run_inside(first, now, machine), href=first.address, class_="run")
    else:
        others = h("small", f" +{many(len(runs) - 1, 'hook')}")
        folded = [
            h("li", h("a", _run_inside(each, now, ""), href=each.address, class_="run")) for each in runs
        ]
        summary = h("summary", _run_inside(first, now, machine, others), class_="run")
        inside = h("details", summary, h("ol", folded, class_="folded"))
    return h("li", inside, data_call=min(each.n for each in runs))


def runs_list(rows: Sequence[Html], id_: str | None = None) -> Html:
    heads = ("time", "decision", "hook", "call", "agent", "took")
    head = h("div", [h("span", word) for word in heads], class_="run run-head", aria_hidden="true")
    return join(head, h("ol", rows, class_="runs", id=id_))


def share(part: float, whole: float) -> str:
    """Return the class of a bar of this length: the page has no inline styles."""
    return f"w{round(100 * part / whole) if whole else 0}"


def facts(pairs: Iterable[tuple[str, Child]], *, wide: bool = False) -> Html:
    shown = [(h("dt", name), h("dd", value)) for name, value in pairs if value]
    return h("dl", shown, class_="facts wide" if wide else "facts")


def command(line: str) -> Html:
    """Render a command with a copy button."""
    copy = h(
        "button",
        "Copy",
        type="button",
        class_="copy",
        data_copy=line,
        aria_label=f"Copy {one_line(line, 60)}",
    )
    return h("div", h("code", line), copy, class_="command")


def session_address(session: str, machine: str) -> str:
    return f"/session/{quote(session, safe='')}?machine={quote(machine, safe='')}"
