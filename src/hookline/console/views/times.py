"""How long hooks take, and what they say."""

import math
from collections.abc import Sequence

from hookline.console.filter import Filter
from hookline.console.html import Html, h, join
from hookline.console.queries import Choices, HookTimes
from hookline.console.views.layout import (
    ago,
    duration,
    empty,
    filter_bar,
    number,
    plot,
    range_words,
    section,
    share,
)
from hookline.model.safe_text import one_line

_FIELDS = ("hook", "agent", "machine")
#: What a bar shows: from one millisecond to ten seconds, ten times as long each quarter.
_DECADES = 4
_VERDICTS = (
    ("passed", "pass", "no objection"),
    ("allowed", "allow", "allow"),
    ("asked", "ask", "ask"),
    ("blocked", "block", "blocked"),
    ("failed", "failed", "failed"),
    ("others", "other", "not run"),
)


def body(
    wanted: Filter,
    choices: Choices,
    hooks: Sequence[HookTimes],
    times: Sequence[tuple[int, float, float]],
    now: float,
) -> Html:
    bar = filter_bar(wanted, choices, "/time", _FIELDS)
    if not hooks:
        return join(h("h1", "Time"), bar, section("Time by hook", empty("No hook ran in this time.")))
    slowest = sorted(hooks, key=lambda hook: -hook.p95)
    return join(
        h("h1", "Time", class_="hidden"),
        bar,
        _chart(wanted, times),
        section(
            "Time by hook",
            h(
                "div",
                [h("span", word) for word in ("1 ms", "10 ms", "100 ms", "1 s", "10 s")],
                class_="scale",
                aria_hidden="true",
            ),
            h("ol", [_times(wanted, hook) for hook in slowest], class_="bars"),
            aside=h(
                "span",
                h("i", class_="key key-p50"),
                "p50 ",
                h("i", class_="key key-p95"),
                "p95, within 5 %",
                class_="soft",
            ),
        ),
        section(
            "Verdicts by hook",
            h("ol", [_verdicts(wanted, hook, now) for hook in hooks], class_="bars verdicts"),
            aside=h(
                "span",
                [(h("i", class_=f"key key-{kind}"), f"{word} ") for _, kind, word in _VERDICTS],
                class_="soft legend",
            ),
        ),
    )


def _chart(wanted: Filter, times: Sequence[tuple[int, float, float]]) -> Html | None:
    if len(times) < 2:
        return None
    data = {
        "times": [each[0] for each in times],
        "step": 3600,
        "log": True,
        "unit": "ms",
        "series": [
            {"label": "p95", "colour": "p95", "values": [round(each[2], 2) for each in times]},
            {"label": "p50", "colour": "p50", "values": [round(each[1], 2) for each in times]},
        ],
    }
    who = wanted.hook or "all hooks"
    return section(f"p50 and p95 of {who}", plot(f"p50 and p95 of {who} in the {range_words(wanted)}", data))


def _on_scale(ms: float) -> float:
    return min(max(math.log10(max(ms, 1.0)), 0.02), _DECADES)


def _name(wanted: Filter, hook: HookTimes) -> Html:
    return h(
        "span",
        h("a", one_line(hook.name, 60), href=wanted.address("/time", hook=hook.name)),
        h("small", one_line(hook.source, 70), title=hook.source),
        class_="name",
    )


def _times(wanted: Filter, hook: HookTimes) -> Html:
    bar = h(
        "span",
        h("i", class_=f"bar-p95 {share(_on_scale(hook.p95), _DECADES)}"),
        h("i", class_=f"bar-p50 {share(_on_scale(hook.p50), _DECADES)}"),
        class_="track tall",
        aria_hidden="true",
    )
    return h(
        "li",
        _name(wanted, hook),
        bar,
        h("span", f"{duration(hook.p50)} / {duration(hook.p95)}", class_="value"),
    )


def _verdicts(wanted: Filter, hook: HookTimes, now: float) -> Html:
    counts = [(getattr(hook, field), kind, word) for field, kind, word in _VERDICTS]
    bar = h(
        "span",
        [
            h("i", class_=f"bar-{kind} {share(max(count, hook.runs / 100), hook.runs)}")
            for count, kind, _ in counts
            if count
        ],
        class_="track tall stack",
        aria_hidden="true",
    )
    words = ", ".join(f"{number(count)} {word}" for count, _, word in counts if count)
    opened = (
        h(
            "a",
            f"{number(hook.unanswered)} unanswered",
            class_="badge open",
            href=wanted.address("/", hook=hook.name, status="unanswered"),
        )
        if hook.unanswered
        else None
    )
    runs = h("a", f"{number(hook.runs)} runs", href=wanted.address("/", hook=hook.name))
    value = h("span", runs, class_="value")
    last = h("small", f"{words}; last {ago(hook.last, now)} ", opened)
    return h("li", _name(wanted, hook), bar, value, last)
