"""Show one event that was fired: every hook in config order, run or not, and the outcome; as JSON and as
text.

The names in the JSON are a contract: `schemas/cli-fire.schema.json` is generated from the documents here.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from hookline.cli.agents_asking import AskingAgent, asking_lines
from hookline.cli.describe import (
    DiagnosticDocument,
    TranslatedDocument,
    diagnostic_documents,
    json_text,
    translated_text,
)
from hookline.cli.output import Colour, paint
from hookline.cli.shown_hooks import USUAL
from hookline.cli.text import (
    columns,
    json_lines,
    paragraph,
    with_tilde,
    with_tildes,
    wrapped,
)
from hookline.dialects.labels import INSTALLED_HERE
from hookline.engine.background import LateMessage
from hookline.engine.explain import ASKED_INSTEAD
from hookline.journal.journal import Journal
from hookline.journal.run_text import LONGEST_REASON, NO_ANSWER, effects_of, result_words
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import Capability, EventSpec
from hookline.model.outcome import ContextItem, Outcome, Permission, PermissionUpdate
from hookline.model.run import Run, RunResult
from hookline.model.safe_text import one_line, printable
from hookline.trust.trust import TrustStatus

#: How the reason of a hook begins that a dry run would have run.
WOULD_RUN = "dry run: would run"
#: The same for one that is not trusted.
NOT_TRUSTED = "not trusted; "
_LONGEST_NAME = 50
#: Shown characters of a hook's input.
_LONGEST_TRANSLATED = 300
#: Lines of stderr that are shown of a hook that failed: how it began, and how it ended.
_FIRST_LINES, _LAST_LINES = 2, 4
_INDENT = " " * 6
_COLOURS: dict[str, Colour] = {"deny": "red", "ask": "yellow", "allow": "green"}


class FiredHook(Struct, frozen=True):
    """One hook of the event, run or not; a hook that ran several times has several."""

    run: Run
    #: The call translated to its format, if that differs.
    translated: TranslatedDocument | None = None
    #: An entry of the same hook came before: for another action of the call, or before a recheck.
    again: bool = False


class FireReport(Struct, frozen=True):
    """One event that was fired, or (dry) would be."""

    event: EventSpec[Any]
    #: The dialect's own name for the event and the dialect, if it was fired under that name, or the agent that calls.
    under: str
    outcome: Outcome
    entries: Sequence[FiredHook]
    late: Sequence[LateMessage]
    #: The effect of a block at the event.
    block_means: str
    #: Takes secrets out of the names of hooks.
    redact: Callable[[str], str]
    #: By name and source of an entry.
    trust: Mapping[tuple[str, str], TrustStatus] = {}
    diagnostics: Sequence[Diagnostic] = ()
    dry: bool = False
    #: The tool that was called, by the caller's name for it.
    tool: str = ""
    #: The agents here, and the hooks that they would not ask.
    agents: Sequence[AskingAgent] = ()

    def as_json(self) -> str:
        document = FireDocument(
            event=self.event.name,
            outcome=outcome_document(self.outcome, self.redact),
            runs=tuple(
                FiredRun(
                    **asdict(run_result(entry.run)),
                    translated=entry.translated,
                    trust=self.trust[entry.run.hook, entry.run.source],
                )
                for entry in self.entries
            ),
            late=tuple(replace(item, hook=self.redact(item.hook)) for item in self.late),
            diagnostics=diagnostic_documents(self.diagnostics, self.redact),
            agents=tuple(self.agents),
        )
        return json_lines(document, convert=str)

    def as_text(self, width: int) -> str:
        return "\n".join(_lines(self, width))


class OutcomeDocument(Struct, frozen=True, kw_only=True):
    """Outcome of the hooks."""

    blocked: bool
    reason: str | None
    permission: Permission | None
    stop: bool
    stop_reason: str | None
    context: tuple[str, ...]
    context_items: tuple[ContextItem, ...]
    updated_input: Any
    updated_prompt: Any
    updated_output: Any
    updated_messages: Any
    permission_updates: tuple[PermissionUpdate, ...]
    watch_paths: tuple[str, ...]
    initial_user_message: str | None
    retry: bool
    env: Mapping[str, str]
    answer: Any
    limit_reached: bool
    messages: tuple[str, ...]


class FiredRun(RunResult, frozen=True, kw_only=True):
    """One hook of the event that was fired, run or not."""

    #: The tool call translated to the hook's format, if that differs. It is the call as it was
    #: made, before hooks rewrote it.
    translated: TranslatedDocument | None
    trust: TrustStatus


class FireDocument(Struct, frozen=True, kw_only=True):
    """One event fired by hand: each hook's decision, and the outcome."""

    event: str
    outcome: OutcomeDocument
    runs: tuple[FiredRun, ...]
    late: tuple[LateMessage, ...]
    diagnostics: tuple[DiagnosticDocument, ...]
    #: The agents that are used here, and the hooks of this event that each would not ask.
    agents: tuple[AskingAgent, ...]


def name_redactor(journal: Journal) -> Callable[[str], str]:
    """Return a function that gives the name of a hook as the journal has it: a hook without a name is called
    by its command.
    """
    return lambda name: journal.cleaned(Run(hook=name)).hook


def outcome_document(outcome: Outcome, redact: Callable[[str], str]) -> OutcomeDocument:
    found: dict[str, Any] = {name: getattr(outcome, name) for name in OutcomeDocument.__struct_fields__}
    found["context_items"] = tuple(replace(item, hook=redact(item.hook)) for item in outcome.context_items)
    found["messages"] = tuple(message.text for message in outcome.messages)
    return OutcomeDocument(**found)


def run_result(run: Run) -> RunResult:
    """Convert a run, without the fields that only the journal has."""
    return RunResult(**{name: getattr(run, name) for name in RunResult.__struct_fields__})


def _lines(firing: FireReport, width: int) -> list[str]:
    lines = [printable(firing.under)]
    if not firing.entries:
        lines.append(f"  no hook is configured for {firing.event.name}")
    effects = _effects(firing)
    for number, entry in enumerate(firing.entries, 1):
        trust = firing.trust.get((entry.run.hook, entry.run.source))
        lines += _entry_lines(number, entry, effects.get(entry.run.hook, ""), trust, width)
    lines += ["", *(_plan_lines(firing) if firing.dry else _outcome_lines(firing))]
    lines += [paragraph(printable(line), width, "  ") for line in asking_lines(firing.agents)]
    return [*lines, *(_late_line(item, firing.redact) for item in firing.late)]


def _effects(firing: FireReport) -> dict[str, str]:
    """Return what each hook did besides voting, by its name; nothing for hooks that share a name."""
    count = Counter(entry.run.hook for entry in firing.entries if not entry.run.recheck)
    named = {firing.redact(by): ", ".join(effects) for by, effects in effects_of(firing.outcome).items()}
    return {name: effects for name, effects in named.items() if count[name] == 1}


def _entry_lines(
    number: int, entry: FiredHook, effects: str, trust: TrustStatus | None, width: int
) -> list[str]:
    run = entry.run
    if _is_own_entry(run):
        return [
            f"{number:3} {one_line(f'{run.hook}: {run.why}', width - 4)}  {printable(with_tilde(run.source))}"
        ]
    word, rest = result_words(run, effects, would_run=run.why.startswith(WOULD_RUN))
    name = one_line(run.hook, _LONGEST_NAME)
    head = one_line(f"{name}: {word}{rest}", width - 4)
    source = printable(with_tilde(run.source))
    fits = columns(head) + 2 + columns(source) <= width - 4
    lines = [f"{number:3} {_painted(head, name, word)}" + (f"  {source}" if source and fits else "")]
    if source and not fits:
        lines.append(f"{_INDENT}{one_line(source, width - len(_INDENT))}")
    translated = (
        ()
        if entry.translated is None
        else (one_line(f"gets {translated_text(entry.translated)}", _LONGEST_TRANSLATED),)
    )
    for text in (*translated, *_details(run), *_trust_line(run, trust)):
        lines += [f"{_INDENT}{line}" for line in wrapped(with_tildes(text), width - len(_INDENT))]
    lines += [f"{_INDENT}{line}" for line in _stderr(run, width - len(_INDENT))]
    return lines


def _is_own_entry(run: Run) -> bool:
    """Return True for an entry of Hookline in an agent's file, which is not a hook of the user."""
    return run.hook == INSTALLED_HERE and run.status == "skipped"


def _painted(head: str, name: str, word: str) -> str:
    colour = _COLOURS.get(word) or ("yellow" if word.replace(" ", "_") in NO_ANSWER else None)
    start = f"{name}: {word}"
    if colour is None or not head.startswith(start):
        return head
    return f"{name}: {paint(word, colour)}{head[len(start) :]}"


def _details(run: Run) -> Iterator[str]:
    planned = run.why.removeprefix(WOULD_RUN).removeprefix(NOT_TRUSTED)
    yield planned.removeprefix("; ").removeprefix(", and ") if planned != run.why else run.why
    if run.status not in NO_ANSWER and run.reason and len(run.reason) > LONGEST_REASON:
        yield f"reason: {run.reason}"
    if run.detail:
        yield run.detail
    if run.dropped:
        yield f"not counted: {', '.join(run.dropped)}"


def _trust_line(run: Run, trust: TrustStatus | None) -> Iterator[str]:
    """Show the trust of a hook, unless the run shows it itself."""
    if trust is not None and trust.state not in USUAL and run.status != "untrusted":
        yield f"{trust.state}: {trust.why}"


def _stderr(run: Run, width: int) -> Iterator[str]:
    """Show stderr of a hook that failed, unless its detail says the same."""
    lines = [line.rstrip() for line in printable(run.stderr).splitlines() if line.strip()]
    if run.status not in NO_ANSWER or not lines or (len(lines) == 1 and lines[0].strip() in run.detail):
        return
    missing = len(lines) - _FIRST_LINES - _LAST_LINES
    if missing > 1:
        lines = [
            *lines[:_FIRST_LINES],
            f"[... {missing} lines left out; --json has them ...]",
            *lines[-_LAST_LINES:],
        ]
    yield "stderr:"
    yield from (f"  {_indent(line)}{one_line(line, width - 2 - len(_indent(line)))}" for line in lines)


def _indent(line: str) -> str:
    return " " * min(len(line) - len(line.lstrip()), 8)


def _outcome_lines(firing: FireReport) -> list[str]:
    outcome = firing.outcome
    vote = outcome.deciding_vote
    by = f" ({one_line(firing.redact(vote.by), _LONGEST_NAME)})" if vote is not None else ""
    word = outcome.permission or ("stop" if outcome.stop else "go on")
    colour = _COLOURS.get(word)
    lines = [f"outcome  {paint(word, colour) if colour else word}{by}"]
    facts: dict[str, Any] = {
        "reason": outcome.reason or None,
        "means": meaning(firing.event, outcome, firing.block_means),
        "stop": (outcome.stop_reason or "yes") if outcome.stop else None,
        _input_word(firing): _json(outcome.updated_input),
        "prompt": outcome.updated_prompt,
        "output": _json(outcome.updated_output),
        "messages": _json(outcome.updated_messages),
        "watch": ", ".join(outcome.watch_paths) or None,
        "first message": outcome.initial_user_message,
        "env": _json(outcome.env or None),
        "answer": _json(outcome.answer),
        "retry": "yes" if outcome.retry else None,
    }
    lines += [printable(f"  {name}: {value}") for name, value in facts.items() if value is not None]
    lines += [printable(f"  context ({item.placement}): {item.text}") for item in outcome.context_items]
    lines += [
        printable(f"  {'warning' if message.warns else 'note'}: {message.text}")
        for message in outcome.messages
    ]
    return [*lines, *(f"  {line}" for line in _warnings(firing))]


def _input_word(firing: FireReport) -> str:
    """Return the label of the input: where hooks rewrote a translated call, it names the caller's tool."""
    return f"input of {firing.tool}" if any(entry.translated for entry in firing.entries) else "input"


def _json(value: Any) -> str | None:
    """Return text as it is, anything else as JSON."""
    return value if value is None or isinstance(value, str) else json_text(value)


def _warnings(firing: FireReport) -> Iterator[str]:
    """Yield what is easily overlooked: hooks that did not run, failed open, or ran in shadow mode."""
    entries = [entry.run for entry in firing.entries if not entry.again and not _is_own_entry(entry.run)]
    ran = sum(
        entry.status not in ("skipped", "untrusted") and not entry.why.startswith(ASKED_INSTEAD)
        for entry in entries
    )
    if ran < len(entries):
        yield f"hooks: {ran} of {len(entries)} ran"
    asked = [entry.run for entry in firing.entries if not entry.run.recheck]
    passed = dict.fromkeys(entry.hook for entry in asked if entry.failed_open)
    if passed:
        names = ", ".join(one_line(name, _LONGEST_NAME) for name in passed)
        yield f"careful: failed open: {names}"
    shadows = dict.fromkeys(
        entry.hook for entry in asked if entry.mode != "enforce" and entry.decision == "deny"
    )
    if shadows:
        names = ", ".join(one_line(name, _LONGEST_NAME) for name in shadows)
        yield f"only recorded: {names} would have denied it"


def _plan_lines(firing: FireReport) -> list[str]:
    hooks = [entry.run for entry in firing.entries if not entry.again and not _is_own_entry(entry.run)]
    would = sum(run.why.startswith(WOULD_RUN) for run in hooks)
    return [f"dry run  {would} of {len(hooks)} hooks would run; nothing was started"]


def _late_line(item: LateMessage, redact: Callable[[str], str]) -> str:
    return printable(f"later    {item.kind}: {item.text or ', '.join(item.paths)} ({redact(item.hook)})")


#: By the meaning of a block at the event: what happens with a block, and what without one.
_CONSEQUENCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "deny_call": (
            "the call would not run, and the model would get the reason",
            "the hooks would let the call proceed",
        ),
        "reject_prompt": (
            "the prompt would be rejected, and the model would never see it",
            "the prompt would go to the model",
        ),
        "end_turn": ("the turn would end here", "the turn would continue"),
        "retry_call": (
            "the request would not be sent; a new one would be made with the reason in it",
            "the request would be sent",
        ),
        "beside_output": (
            "the model would get the reason with the result, which stays",
            "the model would see the result",
        ),
        "continue_turn": (
            "it would not end: the agent would continue with the reason",
            "it would end here",
        ),
        "cancel": ("it would not happen", "it would happen"),
    }
)
_OTHER_CONSEQUENCES = ("the agent would not continue with this", "the agent would continue")
_PERMISSIONS: Mapping[str, str] = MappingProxyType(
    {
        "ask": "the user would be asked; without a user to ask, the call is denied",
        "allow": "the call would run without asking the user",
        "defer": "the decision would be left open, for something outside the agent to make",
    }
)


def meaning(event: EventSpec[Any], outcome: Outcome, block_means: str) -> str:
    """Return what the outcome means for the agent, in a sentence; `block_means` is the effect of a block at
    the event.
    """
    vote = outcome.deciding_vote
    if vote is not None and vote.kind == "block":
        decided = _CONSEQUENCES.get(vote.means or block_means, _OTHER_CONSEQUENCES)[0]
    elif vote is not None and not outcome.stop:
        decided = _PERMISSIONS[vote.kind]
    elif outcome.stop:
        decided = "the whole run would stop"
    elif not event.may & Capability.BLOCK:
        decided = "the agent would continue; hooks cannot stop anything at this event"
    else:
        decided = _CONSEQUENCES.get(block_means, _OTHER_CONSEQUENCES)[1]
    changed = outcome.edits and not outcome.blocked
    return f"{decided}, as rewritten by the hooks" if changed else decided
