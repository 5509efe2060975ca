"""Show the first page: am I guarded, what was stopped today, what is wrong, and what do I do?"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

from msgspec import Struct

from hookline.model.safe_text import one_line
from hookline.team.console.filter import PageFilter
from hookline.team.console.html import Child, Html, h, join
from hookline.team.console.ports import Document
from hookline.team.console.queries import ConsoleTotals, HookTimes, OpenPass, ProblemRow
from hookline.team.console.views.layout import ago, command, duration, empty, many, number, runs_list, section

#: More would not be read.
_MOST_TASKS = 5
_WEIGHTS = {"error": 0, "warning": 1, "note": 2}
_MANY_RUNS = 10
_SLOW_P95_MS = 1000.0


class TodoItem(Struct, frozen=True):
    """One thing to do, with the command that does it."""

    weight: Literal["error", "warning", "note"]
    text: str
    command: str = ""
    #: The page that shows more.
    address: str = ""


class StartFacts(Struct, frozen=True, kw_only=True):
    """Facts that the first page is made of."""

    #: The document of `hookline doctor`; None: it is not there yet, or could not be made.
    doctor: Document | None
    doctor_problem: str
    #: Runs of all time: none is the first day.
    runs: int
    today: ConsoleTotals
    passes: Sequence[OpenPass]
    hooks: Sequence[HookTimes]
    dead_letters: int
    #: Calls that wait for a person.
    approvals: int = 0
    #: Calls that no guard saw, by the last count of coverage; None: not counted.
    missed_calls: int | None


State = Literal["good", "warn", "bad", "begin"]


class Standing(Struct, frozen=True):
    """The answer to "am I guarded?"."""

    state: State
    sentence: str
    tasks: tuple[TodoItem, ...]


def standing(facts: StartFacts) -> Standing:
    """Judge the facts: the colour, the sentence, and what to do first."""
    agents: Sequence[Mapping[str, Any]] = facts.doctor["agents"] if facts.doctor is not None else ()
    installed = [each for each in agents if any(site["events"] for site in each["sites"])]
    guards = len(facts.doctor["guards"]) if facts.doctor is not None else 0
    found = sorted(_tasks(facts, installed, guards), key=lambda task: _WEIGHTS[task.weight])
    state, sentence = _judged(facts, installed, guards, found[0].weight if found else "")
    return Standing(state, sentence, tuple(found[:_MOST_TASKS]))


def _judged(
    facts: StartFacts, installed: Sequence[Mapping[str, Any]], guards: int, worst: str
) -> tuple[State, str]:
    asked = [each["title"] for each in installed if each["seen"]]
    silent = [each["title"] for each in installed if not each["seen"]]
    if facts.doctor is None:
        return "warn", f"Not known yet: {facts.doctor_problem or 'Hookline is still checking your hooks.'}"
    if not installed and not facts.runs and not facts.approvals:
        return "begin", "Nothing is guarded yet: no agent asks Hookline, and no hook has run."
    if not installed:
        return "bad", "Not guarded: Hookline is not installed in any agent, so no agent asks it."
    if not guards:
        return (
            "bad",
            f"Not guarded: {_joined(silent + asked)} would ask Hookline, and no guard is configured.",
        )
    if not asked:
        return (
            "warn",
            f"Not proven: {_joined(silent)} would ask Hookline, but has not yet. Start a session there.",
        )
    active = f"{many(guards, 'guard')} {'is' if guards == 1 else 'are'} active."
    who = f"{_joined(asked)} {'asks' if len(asked) == 1 else 'ask'} Hookline about tool calls, and {active}"
    if silent:
        who += f" {_joined(silent)} {'has' if len(silent) == 1 else 'have'} not asked yet."
    colours: dict[str, State] = {"error": "bad", "warning": "warn"}
    return colours.get(worst, "good"), f"{'Guarded, with gaps' if worst == 'error' else 'Guarded'}. {who}"


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _tasks(facts: StartFacts, installed: Sequence[Mapping[str, Any]], guards: int) -> Iterator[TodoItem]:
    if facts.doctor is not None and not guards:
        yield TodoItem(
            "error", "No guard is configured: add the recommended ones.", "hookline guard add recommended"
        )
    if facts.doctor is not None and not installed:
        yield TodoItem(
            "error", "No agent asks Hookline: install it in the agents you use.", "hookline install"
        )
    if facts.approvals:
        waits = "waits" if facts.approvals == 1 else "wait"
        text = f"{many(facts.approvals, 'call')} {waits} for your answer."
        yield TodoItem("error", text, "hookline approvals", "/approvals")
    whole = sum(each.failed_open for each in facts.passes)
    if whole:
        worst = facts.passes[0]
        text = f"{many(whole, 'call')} went ahead although a hook failed, most of them at {one_line(worst.hook, 60)}."
        address = PageFilter(status="failed_open").address()
        yield TodoItem("error", text, "hookline log --status failed_open --since 7d", address)
    if facts.missed_calls:
        were = "was" if facts.missed_calls == 1 else "were"
        text = f"{many(facts.missed_calls, 'call')} {were} not guarded in past sessions."
        yield TodoItem("error", text, "hookline coverage", "/guards")
    yield from _found(facts.doctor or {}, {"dead-letters"} | ({"unasked-guard"} if not installed else set()))
    if facts.dead_letters:
        text = f"{many(facts.dead_letters, 'background job')} gave up (dead letters)."
        yield TodoItem("warning", text, "hookline jobs", "/jobs?state=dead")
    slow = [hook for hook in facts.hooks if hook.p95 >= _SLOW_P95_MS and hook.runs >= _MANY_RUNS]
    if slow:
        worst_hook = max(slow, key=lambda hook: hook.p95)
        text = f"{one_line(worst_hook.name, 60)} is slow: one run in twenty takes {duration(worst_hook.p95)} or longer."
        yield TodoItem("warning", text, "hookline log --times --since 7d", "/time")
    if waiting := (facts.doctor or {}).get("waiting_for_trust", 0):
        text = f"{many(waiting, 'item')} of the project here will not run until you trust it."
        yield TodoItem("warning", text, "hookline trust")


def _found(doctor: Document, known: AbstractSet[str]) -> Iterator[TodoItem]:
    """Yield the findings of `doctor`, one per kind, without those that other tasks name already."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for problem in doctor.get("problems", ()):
        if problem["severity"] in ("error", "warning") and problem["code"] not in known:
            kinds.setdefault(problem["code"], []).append(problem)
    for problems in kinds.values():
        first = problems[0]
        where = f"{first['file']}:{first['line']}" if first["line"] else first["file"]
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        text = f"{first['message']} ({where}{more})" if where else first["message"] + more
        yield TodoItem(first["severity"], one_line(text, 300), "hookline doctor")


def body(
    answer: Standing, facts: StartFacts, stopped: Sequence[Html], problems: Sequence[ProblemRow], now: float
) -> Html:
    return join(
        h("h1", "Am I guarded?", class_="hidden"),
        h("p", answer.sentence, class_=f"standing standing-{answer.state}", role="status"),
        _first_steps() if answer.state == "begin" else None,
        _things_to_do(answer),
        _today(facts, stopped),
        failures(problems, now, "What failed in the last 7 days") if problems else None,
    )


def _first_steps() -> Html:
    steps = (
        ("See which hooks you have, and what is wrong with them", "hookline doctor"),
        ("See what guards would have stopped in your past sessions", "hookline guard add"),
        ("Add the recommended guards", "hookline guard add recommended"),
        ("Let your agents ask Hookline", "hookline install"),
    )
    return section(
        "Begin here", h("ol", [h("li", text, command(line)) for text, line in steps], class_="tasks")
    )


def _things_to_do(answer: Standing) -> Html | None:
    if not answer.tasks or answer.state == "begin":
        return None
    rows = [
        h(
            "li",
            h("span", _WORDS[task.weight], class_=f"badge {_KINDS[task.weight]}"),
            h("span", task.text, " ", h("a", "Show", href=task.address) if task.address else None),
            command(task.command) if task.command else None,
        )
        for task in answer.tasks
    ]
    return section("What to do", h("ol", rows, class_="tasks"))


_WORDS = {"error": "now", "warning": "soon", "note": "later"}
_KINDS = {"error": "block", "warning": "ask", "note": "plain"}


def _today(facts: StartFacts, stopped: Sequence[Html]) -> Html:
    today = facts.today
    if not facts.runs:
        return section(
            "Today", empty("No hook has run yet, so there is nothing to show. The first run appears here.")
        )
    parts = [f"{many(today.runs, 'run')} of hooks", f"{number(today.blocked)} blocked"]
    if today.would_have_blocked:
        parts.append(f"{number(today.would_have_blocked)} would have been blocked (shadow)")
    if today.failed_open:
        parts.append(f"{number(today.failed_open)} failed open")
    lead: Child = h("p", ", ".join(parts) + " in the last 24 hours.", class_="lead")
    more = h("a", "All runs", href=PageFilter().address())
    if not stopped:
        return section("Stopped in the last 24 hours", lead, empty("Nothing was stopped."), aside=more)
    return section("Stopped in the last 24 hours", lead, runs_list(stopped), aside=more)


def failures(problems: Sequence[ProblemRow], now: float, title: str) -> Html:
    """Show failures, one row per hook and message."""
    return section(title, h("ol", [_failure(each, now) for each in problems], class_="failures"))


def _failure(each: ProblemRow, now: float) -> Html:
    address = PageFilter(hook=each.hook, status="failed").address()
    message = h("span", one_line(each.message, 200) or "no message", class_="soft")
    counts = f"{number(each.count)} ×"
    counts += f", {number(each.failed_open)} failed open" if each.failed_open else ""
    counts += f", on {many(each.machines, 'machine')}" if each.machines > 1 else ""
    return h(
        "li",
        h("span", each.status.replace("_", " "), class_="badge failed"),
        h("span", h("a", one_line(each.hook, 60), href=address), " ", message, class_="call"),
        h("span", counts, class_="agent"),
        h("span", f"first {ago(each.first, now)}, last {ago(each.last, now)}", class_="why"),
    )
