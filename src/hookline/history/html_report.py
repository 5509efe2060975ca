"""Render a backtest as one HTML file: charts and tables, light or dark, without network or scripts."""

import time
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

#: The bars of each day, from the bottom, with their labels.
_SERIES = {"block": "blocked", "ask": "asked", "rewrite": "rewritten"}
_HEIGHT, _WIDTH, _LEFT, _BELOW = 160, 720, 44, 22
_MOST_HOOKS = 15
_MOST_EXAMPLES = 12

_STYLE = """
:root { --ground: #ffffff; --text: #1c2024; --soft: #5f6b76; --line: #d7dce1; --card: #f6f8fa;
  --block: #c8372d; --ask: #b7791f; --rewrite: #2f6fb5; --quiet: #9aa5b1; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --text: #e4e8ec; --soft: #97a3af; --line: #2f3841;
  --card: #1c2228; --block: #ef6a5f; --ask: #e0a94a; --rewrite: #6aa7e8; --quiet: #5f6b76; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .7rem 1rem;
  min-width: 9rem; }
.card b { display: block; font-size: 1.5rem; line-height: 1.2; }
.block { color: var(--block); } .ask { color: var(--ask); } .rewrite { color: var(--rewrite); }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--soft); font-size: 11px; }
.bar-block { fill: var(--block); } .bar-ask { fill: var(--ask); } .bar-rewrite { fill: var(--rewrite); }
.axis { stroke: var(--line); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .35rem .6rem .35rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.track { background: var(--card); border-radius: 3px; height: .7rem; display: flex; overflow: hidden; min-width: 8rem; }
td > .track { margin-top: .4rem; }
.track i { display: block; height: 100%; } .track .deny { background: var(--block); }
.track .ask { background: var(--ask); } .track .rewrite { background: var(--rewrite); }
.track .allow { background: var(--quiet); }
code { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } .key { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px;
  margin: 0 .3rem 0 1rem; }
.key.block { background: var(--block); } .key.ask { background: var(--ask); }
.key.rewrite { background: var(--rewrite); }
"""
#: How long bars are, as classes: a page under a strict policy has no styles in its elements.
_LENGTHS = "".join(f".w{share}{{width:{share}%}}" for share in range(101))

#: The file loads nothing, and says so to the browser.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(facts: Mapping[str, Any], now: float) -> str:
    """Render the document of `hookline backtest --json` as a page."""
    body = report_body(facts, now)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>Hookline backtest</title>
<style>{_STYLE}{_LENGTHS}</style>
</head>
<body>
{body}
</body>
</html>
"""


def report_body(facts: Mapping[str, Any], now: float) -> str:
    """Render the body of the page, for another page that has styles for it."""
    return "\n".join(_body(facts, now))


def _body(facts: Mapping[str, Any], now: float) -> Iterator[str]:
    yield "<h1>What your hooks would have done</h1>"
    days = " – ".join(_day(facts[name]) for name in ("first", "last") if facts[name])
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    yield (
        f'<p class="soft">{_number(facts["sessions"])} sessions, {_number(facts["recorded_events"])} events'
        f"{f', {days}' if days else ''}. Made on {made} by <code>hookline backtest</code>.</p>"
    )
    yield from _cards(facts)
    yield from _chart(facts["days"])
    yield from _changes(facts.get("changes"))
    yield from _hooks(facts["hooks"])
    yield from _examples(facts["effects"])
    yield from _agents(facts)
    yield from _cost(facts["hooks"])
    yield from _left_out(facts)


def _cards(facts: Mapping[str, Any]) -> Iterator[str]:
    yield '<div class="cards">'
    for name, word in _SERIES.items():
        each = facts["effects"].get(name, {"recorded_events": 0, "sessions": 0})
        yield (
            f'<div class="card"><b class="{name}">{_number(each["recorded_events"])}</b>would be {word}'
            f'<br><span class="soft">in {_number(each["sessions"])} sessions</span></div>'
        )
    share = facts["concerned"]
    yield f'<div class="card"><b>{_number(share)}</b>events that<br>concern a hook</div>'
    yield f'<div class="card"><b>{_number(facts["judgements"])}</b>different questions<br>that hooks were asked</div>'
    yield "</div>"


# Decisions over time


def _chart(days: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    known = [(day, numbers) for day, numbers in sorted(days.items()) if day != "?"]
    yield "<h2>Decisions over time</h2>"
    highest = max((sum(numbers.get(name, 0) for name in _SERIES) for _, numbers in known), default=0)
    if not highest:
        yield '<p class="soft">On no day would anything have been blocked, asked or rewritten.</p>'
        return
    yield (
        "<p>"
        + "".join(f'<span class="key {name}"></span>{word}' for name, word in _SERIES.items())
        + ' <span class="soft">a day</span></p>'
    )
    label = f"Decisions on {len(known)} days, at most {highest} a day"
    whole = f"0 0 {_WIDTH} {_HEIGHT + _BELOW + 8}"
    yield f'<svg viewBox="{whole}" role="img" aria-label="{escape(label)}">'
    for number in sorted({0, highest // 2, highest}):
        y = 8 + _HEIGHT * (1 - number / highest)
        yield f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(number)}</text>'
    yield from _bars(known, highest)
    yield "</svg>"


def _bars(days: Sequence[tuple[str, Mapping[str, int]]], highest: int) -> Iterator[str]:
    step = (_WIDTH - _LEFT) / len(days)
    wide = max(min(step * 0.8, 40), 0.5)
    every = max(len(days) // 8, 1)
    for at, (day, numbers) in enumerate(days):
        x, y = _LEFT + step * at + (step - wide) / 2, 8.0 + _HEIGHT
        shown = ", ".join(f"{numbers[name]:,} {word}" for name, word in _SERIES.items() if numbers.get(name))
        of = f"{numbers.get('recorded_events', 0):,} events"
        yield f"<g><title>{escape(day)}: {escape(shown or 'nothing')}, of {of}</title>"
        for name in _SERIES:
            high = _HEIGHT * numbers.get(name, 0) / highest
            if high:
                y -= high
                yield f'<rect class="bar-{name}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"/>'
        yield "</g>"
        if at % every == 0:
            middle = x + wide / 2
            yield f'<text x="{middle:.1f}" y="{_HEIGHT + _BELOW}" text-anchor="middle">{escape(day[5:])}</text>'


# Changes, hooks, examples


def _changes(changes: Mapping[str, Any] | None) -> Iterator[str]:
    if changes is None:
        return
    yield "<h2>What changes</h2>"
    if not changes:
        yield "<p>Nothing: every event is decided as before.</p>"
    for name, each in changes.items():
        before, _, after = name.partition(">")
        words = f"{escape(_plain(before))} → {escape(_plain(after))}"
        yield f"<p><b>{_number(each['recorded_events'])}</b> {words}, in {_number(each['sessions'])} sessions</p>"
        yield from _table(each["examples"])


def _plain(effect: str) -> str:
    return {"none": "proceeds", **_SERIES, "block": "blocked"}.get(effect, effect)


def _hooks(hooks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    speaking = [hook for hook in hooks if hook["said"]][:_MOST_HOOKS]
    yield "<h2>Hooks that would have decided most often</h2>"
    if not speaking:
        yield '<p class="soft">None would have decided anything.</p>'
        return
    most = max(sum(each["recorded_events"] for each in hook["said"].values()) for hook in speaking)
    yield '<div class="scroll" tabindex="0"><table><tr><th>hook</th><td></td>'
    yield '<th class="n">deny</th><th class="n">ask</th>'
    yield '<th class="n">rewrite</th><th class="n">allow</th><th class="n">asked</th></tr>'
    for hook in speaking:
        said = {word: each["recorded_events"] for word, each in hook["said"].items()}
        parts = "".join(
            f'<i class="{word} w{_share(said[word], most)}"></i>'
            for word in ("deny", "ask", "rewrite", "allow")
            if word in said
        )
        shadow = ' <span class="soft">shadow</span>' if hook["mode"] == "shadow" else ""
        cells = "".join(
            f'<td class="n">{_number(said.get(w, 0))}</td>' for w in ("deny", "ask", "rewrite", "allow")
        )
        yield (
            f'<tr><td title="{escape(hook["source"])}">{escape(hook["hook"])}{shadow}</td>'
            f'<td><div class="track">{parts}</div></td>{cells}<td class="n">{_number(hook["asked"])}</td></tr>'
        )
    yield "</table></div>"


def _examples(effects: Mapping[str, Any]) -> Iterator[str]:
    for name, word in _SERIES.items():
        if name in effects:
            yield f'<h2>Most often <span class="{name}">{word}</span></h2>'
            yield from _table(effects[name]["examples"])


def _table(examples: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield '<div class="scroll" tabindex="0"><table>'
    yield '<tr><th class="n">times</th><th>call</th><th>first</th><th>why</th></tr>'
    for each in examples[:_MOST_EXAMPLES]:
        who = f"{_day(each['at'])} {each['agent']} {each['session'][:8]}"
        yield (
            f'<tr><td class="n">{_number(each["count"])}</td>'
            f"<td><code>{escape(each['tool'])} {escape(each['text'])}</code></td>"
            f'<td class="soft">{escape(who)}</td><td>{escape(each["reason"])}</td></tr>'
        )
    yield "</table></div>"


# Sources, costs, omissions


def _agents(facts: Mapping[str, Any]) -> Iterator[str]:
    yield '<h2>Moments by agent</h2><div class="scroll" tabindex="0"><table>'
    kinds = list(dict.fromkeys(kind for of_agent in facts["agents"].values() for kind in of_agent))
    yield (
        "<tr><th>agent</th>"
        + "".join(f'<th class="n">{escape(kind.replace("_", " "))}</th>' for kind in kinds)
        + "</tr>"
    )
    for agent, numbers in sorted(facts["agents"].items()):
        cells = "".join(f'<td class="n">{_number(numbers.get(kind, 0))}</td>' for kind in kinds)
        yield f"<tr><td>{escape(agent)}</td>{cells}</tr>"
    yield "</table></div>"


def _cost(hooks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    timed = sorted((hook for hook in hooks if hook["milliseconds"]), key=lambda hook: -hook["milliseconds"])
    if not timed:
        return
    most = timed[0]["milliseconds"]
    yield "<h2>What an answer costs</h2>"
    yield '<p class="soft">Milliseconds of one judgement, as measured while this report was made.</p>'
    yield '<div class="scroll" tabindex="0"><table>'
    for hook in timed[:_MOST_HOOKS]:
        bar = f'<div class="track"><i class="allow w{_share(hook["milliseconds"], most)}"></i></div>'
        yield (
            f"<tr><td>{escape(hook['hook'])}</td><td>{bar}</td>"
            f'<td class="n">{hook["milliseconds"]:,.2f} ms</td><td class="soft">{escape(hook["type"])}</td></tr>'
        )
    yield "</table></div>"


def _left_out(facts: Mapping[str, Any]) -> Iterator[str]:
    unjudged = [hook for hook in facts["hooks"] if hook["not_judged"]]
    if unjudged:
        yield "<h2>Not judged</h2><ul>"
        for hook in unjudged:
            why = f"{hook['hook']}: {hook['not_judged']:,} events; {hook['why_not_judged']}"
            yield f"<li>{escape(why)}</li>"
        yield "</ul>"
    unread = {
        name.replace("_", " "): value if isinstance(value, int) else len(value)
        for name, value in facts["unread"].items()
    }
    shown = ", ".join(f"{number:,} {name}" for name, number in unread.items() if number)
    if shown:
        yield f'<p class="soft">Passed over in transcripts: {escape(shown)}.</p>'


def _share(part: float, whole: float) -> int:
    """Return the share in percent: at least 1 unless the part is zero, so that it stays visible."""
    return max(round(100 * part / whole), 1) if part else 0


def _number(value: Any) -> str:
    return f"{value:,}"


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
