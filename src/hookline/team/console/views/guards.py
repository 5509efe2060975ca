"""Show how guards do: which failed open, and which missed calls."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.model.safe_text import one_line
from hookline.team.console.filter import PageFilter
from hookline.team.console.html import Child, Html, h, join
from hookline.team.console.ports import Document
from hookline.team.console.queries import Choices, OpenPass
from hookline.team.console.views.layout import (
    ago,
    command,
    empty,
    filter_bar,
    many,
    number,
    range_words,
    recorded,
    section,
    session_address,
    share,
)

_FIELDS = ("agent", "machine")
_MOST_HOLES = 30


class Computed(Struct, frozen=True, kw_only=True):
    """A document that is computed in the background, and the progress of the next one."""

    document: Document | None = None
    at: float = 0.0
    #: From 0 to 1 while one is being computed.
    progress: float | None = None
    problem: str = ""


def body(
    wanted: PageFilter,
    choices: Choices,
    runs: int,
    passes: Sequence[OpenPass],
    elsewhere: Callable[[str], str],
) -> Html:
    """Render all but the coverage. `elsewhere` gives the name of a machine that is not this one."""
    return join(
        h("h1", "Guards", class_="hidden"),
        filter_bar(wanted, choices, "/guards", _FIELDS),
        _open_passes(wanted, runs, passes, elsewhere),
    )


def _open_passes(
    wanted: PageFilter, runs: int, passes: Sequence[OpenPass], elsewhere: Callable[[str], str]
) -> Html:
    if not runs:
        nothing = empty(
            f"No hook ran in the {range_words(wanted)}, so nothing was judged. Is Hookline installed?"
        )
        return section("Failed open", nothing, command("hookline doctor"))
    if not passes:
        text = f"In the {range_words(wanted)}, no hook failed open in {many(runs, 'run')}."
        return section("Failed open", h("p", h("span", "✓ ", class_="good"), text, class_="lead"))
    whole = sum(each.failed_open for each in passes)
    lead = h(
        "p",
        h("b", number(whole), class_="open-text"),
        f" {'action' if whole == 1 else 'actions'} went ahead although the hook that should judge them failed or"
        " timed out. Give these hooks ",
        h("code", 'on_failure = "closed"'),
        ", or find out why they do not answer.",
        class_="lead",
    )
    return section(
        "Failed open",
        lead,
        h("ol", [_pass(wanted, each, elsewhere(each.machine)) for each in passes], class_="bars"),
        aside=h("span", "share of its runs", class_="soft"),
    )


def _pass(wanted: PageFilter, each: OpenPass, machine: str) -> Html:
    of = " · ".join(filter(None, (each.agent or "unknown agent", machine, one_line(each.source, 60))))
    bar = h(
        "span",
        h("i", class_=f"bar-open {share(each.failed_open, each.runs)}"),
        class_="track tall",
        aria_hidden="true",
    )
    name = h(
        "span",
        h(
            "a",
            one_line(each.hook, 60),
            href=wanted.address(
                hook=each.hook, agent=each.agent, machine=machine or wanted.machine, status="failed_open"
            ),
        ),
        h("small", of),
        class_="name",
    )
    late = f", {number(each.timed_out)} timed out" if each.timed_out else ""
    return h(
        "li", name, bar, h("span", f"{number(each.failed_open)} of {number(each.runs)}{late}", class_="value")
    )


# Coverage: guards by agents


def coverage(counted: Computed, passes: Sequence[OpenPass], now: float) -> Html:
    """Render the part of the page that is loaded again during counting."""
    running = counted.progress is not None
    again = h("a", "Count again", href="/guards?again=1", data_again=True)
    if running:
        percent = round(100 * (counted.progress or 0))
        aside: Child = h("span", f"reading past sessions: {percent} %", class_="soft", role="status")
    else:
        aside = (
            (h("span", f"counted {ago(counted.at, now)} · ", class_="soft"), again) if counted.at else again
        )
    parts: list[Html] = []
    if counted.problem:
        parts.append(h("p", counted.problem, class_="lead"))
    elif counted.document is None:
        parts.append(empty("The transcripts of your agents are compared with the journal. Nothing is run."))
    else:
        parts += [_lead(counted.document), _matrix(counted.document, passes)]
    shown = section("Coverage: configured → trusted → expected → seen", parts, aside=aside)
    holes = _holes(counted.document) if counted.document is not None else None
    state = "running" if running else "done"
    return h("div", shown, holes, id="coverage", data_state=state, data_reload="/guards/coverage")


def _lead(document: Document) -> Html:
    sessions, recorded_events = document["sessions"], sum(document["recorded_events"].values())
    missed = document["unguarded"]
    if not recorded_events:
        return h(
            "p", "The transcripts of the last 7 days have no event that a guard could see.", class_="lead"
        )
    decision = (
        h("b", f"{many(missed, 'call')} {'was' if missed == 1 else 'were'} not guarded", class_="block-text")
        if missed
        else h("b", "every guard was asked about every call that concerned it", class_="good")
    )
    return h(
        "p",
        f"In {many(sessions, 'session')} and {many(recorded_events, 'event')}, ",
        decision,
        ".",
        class_="lead",
    )


def _matrix(document: Document, passes: Sequence[OpenPass]) -> Html:
    guards = [hook for hook in document["hooks"] if hook["guard"]]
    others = [hook for hook in document["hooks"] if not hook["guard"]]
    if not guards and not others:
        return empty("No hook concerns an event of these sessions.")
    agents = list(
        dict.fromkeys(
            [*document["recorded_events"], *(each["agent"] for hook in guards for each in hook["agents"])]
        )
    )
    head = h("tr", h("th", "guard", scope="col"), [h("th", agent, scope="col") for agent in agents])
    opened = {(each.hook, each.source, each.agent): each for each in passes}
    rows = [_matrix_row(hook, agents, opened) for hook in guards]
    rest = (
        h(
            "p",
            f"{len(others)} more hooks stop nothing: ",
            ", ".join(one_line(hook["hook"], 40) for hook in others),
            class_="soft",
        )
        if others
        else None
    )
    table = (
        h("table", h("thead", head), h("tbody", rows), class_="matrix")
        if rows
        else empty("No guard is configured.")
    )
    return join(
        h("div", table, class_="scroll", tabindex=0, role="region", aria_label="Guards by agents"), rest
    )


def _matrix_row(
    hook: Mapping[str, Any], agents: Sequence[str], opened: Mapping[tuple[str, str, str], OpenPass]
) -> Html:
    file = hook["source"].rpartition(":")[0] or hook["source"]
    trust = "trusted" if hook["trusted"] else "not trusted"
    state = h(
        "small",
        one_line(f"{hook['event']} · {trust} · {hook['source']}", 110),
        title=hook["why_untrusted"] or None,
    )
    name = h(
        "th",
        h("a", one_line(hook["hook"], 50), href=PageFilter(hook=hook["hook"]).address()),
        state,
        scope="row",
    )
    of_agent = {each["agent"]: each for each in hook["agents"]}
    cells = [
        h(
            "td",
            _cell(
                hook,
                of_agent.get(agent),
                opened.get((hook["hook"], file, of_agent.get(agent, {}).get("caller", ""))),
            ),
            data_agent=agent,
        )
        for agent in agents
    ]
    return h("tr", name, cells)


def _cell(hook: Mapping[str, Any], of_agent: Mapping[str, Any] | None, opened: OpenPass | None) -> Html:
    if of_agent is None or not (of_agent["expected"] or of_agent["own_expected"]):
        return h("span", "– no call concerned it", class_="state none")
    expected, seen = of_agent["expected"], of_agent["seen"]
    if not expected:
        return h("span", f"{number(of_agent['own_expected'])} by the agent itself", class_="state none")
    if seen < expected:
        kind, words = "bad", f"✗ {number(seen)} of {number(expected)} seen"
        if not hook["trusted"]:
            words = f"✗ {number(expected)} expected, not trusted"
        elif not seen:
            words = f"✗ {number(expected)} expected, never seen"
    elif opened is not None:
        kind, words = "warn", f"⚠ {number(opened.failed_open)} open of {number(opened.runs)}"
    else:
        kind, words = "good", f"✓ {number(seen)} seen"
    return h("span", words, class_=f"state {kind}")


def _holes(document: Document) -> Html | None:
    holes = [hole for hole in document["missed"] if hole["guard"]]
    if not holes:
        return None
    causes: dict[str, int] = {}
    for hole in holes:
        causes[hole["cause"]] = causes.get(hole["cause"], 0) + hole["count"]
    marks = [
        h("span", f"{cause} {number(count)}", class_="chip")
        for cause, count in sorted(causes.items(), key=lambda item: -item[1])
    ]
    rows = [_hole(hole) for hole in holes[:_MOST_HOLES]]
    more = f"and {number(len(holes) - _MOST_HOLES)} more; " if len(holes) > _MOST_HOLES else ""
    return section(
        "Calls that were not guarded",
        h("div", marks, class_="chips"),
        h("ol", rows, class_="holes"),
        h("p", f"{more}all of them:", class_="soft"),
        command("hookline coverage --all"),
    )


def _hole(hole: Mapping[str, Any]) -> Html:
    hooks = ", ".join(hole["hooks"])
    return h(
        "li",
        h("span", recorded(hole["first"], time.time()), class_="soft"),
        h("span", hole["cause"], class_="badge failed"),
        h(
            "span",
            h("b", f"{number(hole['count'])} × {hole['tool'] or hole['event']} "),
            h("code", hole["example"]),
            class_="call",
        ),
        h(
            "span",
            f"{hole['agent']} ",
            h("a", hole["session"][:8], href=session_address(hole["session"], "")),
            class_="agent",
        ),
        h("span", f"{hole['why']}; not asked: {one_line(hooks, 200)}", class_="why"),
    )
