"""Write docs/reference/events.md: every event, from its row and its native policy."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hookline.dialects.native.answers import read_answer
from hookline.dialects.native.events import NativePolicies
from hookline.dialects.native.wire import environment
from hookline.dialects.truncation import SHORTENED
from hookline.model.events import EventSpec
from hookline.schemas.event_facts import (
    MAY_WORDS,
    EventFacts,
    block_words,
    context_words,
    event_facts,
    failure_words,
    json_text,
    limit_words,
    sent_words,
)
from hookline.schemas.examples import INFO
from hookline.schemas.payload import COMMON, WHEN_KNOWN
from tools.markdown import GENERATED, code, json_block, page, sentence, table, words

_INTRO = """\
An *event* is a point in an agent's work where hooks run. The agent passes its hooks a *payload*, and they may answer.
This page lists every event with its payload, what hooks may do there, and how native hooks behave; `hookline events`
shows the same in a terminal.

A command hook gets the payload as JSON on stdin. It exits with 0 and prints its answer as JSON, or prints nothing if
it has no opinion. Exit 2 blocks, whatever was printed, with stderr as the reason. Any other exit code is a failure;
*failures* below says what happens then. An http hook gets the same payload as the body of a POST and answers with the
same JSON.

If a hook answers with something that the event does not allow, Hookline drops that part, and the record of the run
lists it. The JSON Schemas of all payloads and answers are in [schemas/events](../../schemas/events)."""

_ALL = """\
Hooks on a **guard** event exist to stop an action, so they fail closed. Events marked † are declared for hooks and
hosts to use; nothing in Hookline fires them yet."""


_VARIABLES: Mapping[str, str] = {
    "HOOKLINE_EVENT": "the event",
    "HOOKLINE_SESSION_ID": "the session",
    "HOOKLINE_CWD": "the working directory of the agent",
    "HOOKLINE_PROJECT_DIR": "the project's directory",
    "CLAUDE_PROJECT_DIR": "the same, for hooks written for Claude Code",
}


class ExampleError(Exception):
    """An example on the page would not do what the page says."""


def events_page(events: Mapping[str, EventSpec[Any]]) -> str:
    policies = NativePolicies()
    all_facts = [event_facts(event, policies.of(event)) for event in events.values()]
    for facts in all_facts:
        prove_examples(facts, events[facts.event], policies)
    return page(
        "# Events",
        GENERATED,
        _INTRO,
        "## What hooks may do",
        table(("Word", "A hook may"), [(code(word), text) for word, text in MAY_WORDS.items()]),
        "`message` is possible everywhere, so the lists below leave it out.",
        "## Fields of every payload",
        table(("Field", "Present", "Meaning"), _common()),
        "## Environment of a command",
        table(("Variable", "Value"), [(code(name), _VARIABLES[name]) for name in environment("", INFO)]),
        "## All events",
        _ALL,
        table(("Event", "Fires", "Hooks may", "Matcher", "Since"), (_overview(facts) for facts in all_facts)),
        *(section(facts) for facts in all_facts),
    )


def prove_examples(facts: EventFacts, event: EventSpec[Any], policies: NativePolicies) -> None:
    """The real reader reads every example answer, and nothing of it is dropped."""
    if facts.payload is None:
        raise ExampleError(f"{event.name} has no example payload")
    for example in facts.answers:
        outcome, ignored = read_answer(example.answer, event, policies.of(event), "the example")
        dropped = outcome.clipped(event.may)[1]
        if ignored or dropped:
            raise ExampleError(
                f"{event.name}: to {example.does}: {', '.join((*ignored, *dropped))} would have no effect"
            )


def _common() -> Iterator[tuple[str, str, str]]:
    yield from ((code(name), "always", text) for name, text in COMMON.items())
    yield from ((code(name), "when known", text) for name, text in WHEN_KNOWN.items())
    yield (
        code(SHORTENED),
        "if shortened",
        "The fields whose text was shortened in the middle because the payload was too large.",
    )


def _overview(facts: EventFacts) -> tuple[str, ...]:
    mark = " †" if facts.declared_only else ""
    guard = " **guard**" if facts.guard else ""
    name = f"[{facts.event}](#{facts.event.lower()}){mark}{guard}"
    return (
        name,
        sentence(facts.fires),
        ", ".join(facts.may) or "observe",
        code(facts.matcher or ""),
        facts.since,
    )


def section(facts: EventFacts) -> str:
    return page(
        f"## {facts.event}",
        f"Fires {facts.fires}"
        + (" Declared: nothing in Hookline fires it yet." if facts.declared_only else ""),
        table(("Fact", "Value"), _behaviour(facts)),
        table(("Field", "Type", "Present", "Meaning"), _fields(facts)),
        "An example payload:",
        json_block(facts.payload),
        "Answers, one for each thing hooks may do here:",
        table(("To", "Answer"), ((each.does, code(json_text(each.answer))) for each in facts.answers)),
    ).rstrip()


def _fields(facts: EventFacts) -> Iterable[tuple[str, ...]]:
    for field in facts.fields:
        yield code(field.name), field.type, sent_words(field), field.description


def _behaviour(facts: EventFacts) -> Iterator[tuple[str, str]]:
    yield "Hooks may", ", ".join(facts.may) or "observe"
    yield "Matcher", _matcher(facts)
    if facts.rewritten_by:
        yield "A rewrite", f"{code(facts.rewritten_by)} replaces {code(facts.rewrites or '')}"
    if facts.answer:
        yield "An answer", facts.answer
    effects = {
        "A block": block_words(facts),
        "Block limit": limit_words(facts.native.limit),
        "Added text lands": context_words(facts),
        "Failures": failure_words(facts),
    }
    yield from ((name, text) for name, text in effects.items() if text)
    if facts.native.plain_text_is_context:
        yield "Plain stdout", "goes to the model"
    if facts.native.budget is not None:
        yield "Budget", f"{facts.native.budget:g} seconds for all hooks together"
    yield "Since", facts.since


def _matcher(facts: EventFacts) -> str:
    if facts.matcher is None:
        return "none: every hook of this event runs"
    return f"{code(facts.matcher)}: {words(facts.values)}" if facts.values else code(facts.matcher)
