"""What every page has: the frame, the filter, and how times, numbers and verdicts look."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from hookline.console.filter import RANGES, Filter
from hookline.console.html import DOCTYPE, Child, Html, h, icon, join
from hookline.console.index import FAILED, TIMED_OUT, UNANSWERED, VERDICTS
from hookline.console.queries import Choices, Row
from hookline.model.run import Run
from hookline.model.safe_text import one_line

PAGES: Final[Mapping[str, str]] = {
    "/": "Runs",
    "/sessions": "Sessions",
    "/guards": "Guards",
    "/time": "Time",
    "/jobs": "Jobs",
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
    "blocked": "blocked",
    "unanswered": "passed unanswered",
    "asked": "asked",
    "allowed": "allowed",
    "passed": "no objection",
    "failed": "failed",
    "timed_out": "timed out",
    "untrusted": "untrusted",
    "cancelled": "cancelled",
}
_HOOK: Final = "M10.5 2.5v6a3.75 3.75 0 1 1-7.5 0V7M1.5 8.5 3 7l1.5 1.5M9 2.5h3"
_KEYS: Final = (
    ("/", "focus the filter"),
    ("j  k", "next and previous row"),
    ("Enter", "open the row"),
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
    """What all pages know of the console."""

    version: str
    machine: str
    #: The newest run when the page was made: the script asks for those after it.
    last: str
    #: What is wrong with the index or a journal, or how far reading it is.
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
        h("link", rel="stylesheet", href="/static/uplot.css"),
        h("link", rel="stylesheet", href="/static/console.css"),
        h("script", src="/static/uplot.js", defer=True),
        h("script", src="/static/console.js", defer=True),
    )
    links = [
        h("a", word, href=target, aria_current="page" if target == path else None)
        for target, word in PAGES.items()
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
        h("span", "read-only · press ", h("kbd", "?"), " for keys"),
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
    wanted: Filter, choices: Choices, path: str, fields: Sequence[str], placeholder: str = "Filter by command"
) -> Html:
    """A form without a button of its own: the script sends it when something changes, Enter does so without one."""
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
    since = h("input", type="hidden", name="since", value=wanted.since)
    form = h(
        "form",
        search,
        [_select(name, offered[name], getattr(wanted, name)) for name in shown],
        kept,
        since,
        h("button", "Apply", type="submit", class_="apply"),
        action=path,
        method="get",
        class_="filter",
        role="search",
        id="filter",
        data_filter=msgspec.json.encode(wanted.named).decode(),
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


def _ranges(wanted: Filter, path: str) -> Html:
    links = [
        h(
            "a",
            word,
            href=wanted.address(path, since=word),
            title=_RANGE_WORDS[word],
            aria_current="true" if word == wanted.since else None,
        )
        for word in RANGES
    ]
    return h("div", links, class_="ranges", role="group", aria_label="Range of time")


def _chips(wanted: Filter, path: str) -> Html | None:
    """What is asked for, each with a way out."""
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


def range_words(wanted: Filter) -> str:
    return _RANGE_WORDS[wanted.since]


# Numbers, times, verdicts


def number(value: int) -> str:
    return f"{value:,}"


def duration(ms: float) -> str:
    if ms >= 100_000:
        return f"{ms / 60_000:.1f} min"
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"


def moment(at: float, now: float | None = None) -> Html:
    """Today the time, else the day as well; all of it when pointed at."""
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


def badge(row: Row) -> Html:
    """What came of a run, in one word."""
    if row.flags & UNANSWERED:
        return h("span", "unanswered", class_="badge open", title="it passed because the hook gave no answer")
    if row.flags & FAILED and VERDICTS[row.verdict] != "block":
        return h(
            "span",
            "timed out" if row.flags & TIMED_OUT else row.status.replace("_", " "),
            class_="badge failed",
        )
    kind = VERDICTS[row.verdict]
    words = {"pass": "pass", "allow": "allow", "ask": "ask", "block": "blocked"}
    return h("span", words.get(kind, row.status), class_=f"badge {kind}")


def run_row(row: Row, run: Run | None, now: float | None = None, machine: str = "") -> Html:
    """One run in a list: all of it leads to its page. `machine`: where it ran, if that is to be said."""
    why = one_line(run.reason or run.detail, 200) if run is not None else ""
    tool, _, given = row.call.partition(" ")
    inside = (
        moment(row.at, now),
        badge(row),
        h("span", one_line(row.hook, 80), class_="hook"),
        h("span", h("b", tool), " ", h("code", one_line(given, 200)), class_="call")
        if row.call
        else h("span", row.event, class_="call soft"),
        h("span", row.agent or "-", (" ", h("small", machine)) if machine else None, class_="agent"),
        h("span", duration(row.ms), class_="ms"),
        h("span", why, class_="why") if why else None,
    )
    return h("li", h("a", inside, href=row.address, class_="run"))


def runs_list(rows: Sequence[Html], id_: str | None = None) -> Html:
    heads = ("time", "verdict", "hook", "call", "agent", "took")
    head = h("div", [h("span", word) for word in heads], class_="run run-head", aria_hidden="true")
    return join(head, h("ol", rows, class_="runs", id=id_))


def share(part: float, whole: float) -> str:
    """The class of a bar that is this long: the page has no styles of its own."""
    return f"w{round(100 * part / whole) if whole else 0}"


def plot(label: str, data: Mapping[str, Any]) -> Html:
    return h("div", class_="plot", role="img", aria_label=label, data_plot=msgspec.json.encode(data).decode())


def facts(pairs: Iterable[tuple[str, Child]], *, wide: bool = False) -> Html:
    shown = [(h("dt", name), h("dd", value)) for name, value in pairs if value]
    return h("dl", shown, class_="facts wide" if wide else "facts")


def command(line: str) -> Html:
    """A command to copy."""
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
