"""Why each hook of an event would run or would not: the record, as text and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from hookline.cli.commands.explain.describe import ConditionFacts, MatcherFacts, failure_words
from hookline.cli.describe import (
    DiagnosticDocument,
    ToldDocument,
    told_text,
)
from hookline.cli.shown_hooks import ShownHook
from hookline.cli.text import indented, json_lines, paragraph, relative_to, table, with_tilde
from hookline.model.events import event_label
from hookline.model.hook import Output, Scope
from hookline.model.policy import Cause, Limit, Reaction
from hookline.model.safe_text import one_line, printable

#: Values of `failures_said_by`.
BY_POLICY, BY_HOOK = "its policy", "on_failure of the hook"
_LONGEST_NAME = 50
#: Characters that are shown of what a hook is told, and acts of one call.
_LONGEST_TOLD, _MOST_ACTS = 300, 10
#: Kinds of matchers that their reason names as well.
_KINDS_IN_REASON = frozenset({"list of exact names", "name with *", "regular expression"})
#: Reasons that the rows about the matcher and the condition give in full.
_REASONS_BELOW = ("matched:", "not matched:")


class LayerFacts(Struct, frozen=True, kw_only=True):
    """One file that is there."""

    file: str
    dialect: str
    scope: Scope
    #: The user has not trusted everything in it.
    needs_trust: bool
    #: Hooks at this event that count, and how many the file has.
    hooks: int
    stands: int
    state: Literal["in force", "nothing here", "not in force", "unreadable"]
    why: str | None


class HookFacts(ShownHook, frozen=True, kw_only=True):
    """One hook: whether it would run, and everything that decides about it."""

    would_run: bool
    why: str
    #: What it is told of a tool call, if its agent would make that call in another way; an item for each act that it
    #: is asked about, and for a hook that would not run, what it would be told.
    told: tuple[ToldDocument, ...]
    matcher: MatcherFacts | None
    condition: ConditionFacts | None
    #: The hook of the same lane that it repeats; equal ones run once.
    duplicate_of: str | None
    #: Whether what it prints is its answer.
    output: Output
    #: What of its answer counts here.
    may: tuple[str, ...]
    #: What a failure of each cause does, if a user can be asked.
    failures: Mapping[Cause, Reaction]
    #: Whether the hook says so itself, or its policy does.
    failures_said_by: str
    admitted: bool
    admission_reason: str
    #: The user has not trusted everything in its file.
    needs_trust: bool


class LaneFacts(Struct, frozen=True, kw_only=True):
    """Neighbouring hooks under one policy."""

    lane: int
    dialect: str
    spelled: str
    #: Only those that rewrite: they come before the hooks that judge.
    rewriters: bool
    run: str
    sees: str
    stop_on: str
    keep: str
    settle: str
    reasons: str
    waits: bool
    block_means: str | None
    limit: Limit | None
    budget: float | None
    placement: str
    lives: str
    on_clipped: str
    late: str
    #: The same in words, by what it is about.
    words: Mapping[str, str]
    hooks: tuple[HookFacts, ...]


class ExplainDocument(Struct, frozen=True, kw_only=True):
    """The reasoning about one event: the files, the lanes, and each hook."""

    event: str
    #: How a dialect calls it, where it was asked for under that name.
    spelled: str | None
    #: What matchers are compared with: the field of the payload, and its value here.
    subject: str | None
    subject_value: str | None
    layers: tuple[LayerFacts, ...]
    lanes: tuple[LaneFacts, ...]
    diagnostics: tuple[DiagnosticDocument, ...]

    def as_json(self) -> str:
        return json_lines(self)


def as_text(document: ExplainDocument, *, dialect: str | None, fires: str, cwd: str, width: int) -> str:
    """`dialect` is the one that `spelled` is of, or that calls; `fires` says when the event fires."""
    return "\n".join(_lines(document, dialect, fires, cwd, width))


def _lines(document: ExplainDocument, dialect: str | None, fires: str, cwd: str, width: int) -> Iterator[str]:
    if document.spelled:
        yield printable(f"{event_label(document.spelled, document.event)} of {dialect}")
    else:
        yield printable(document.event + (f" (as {dialect})" if dialect else ""))
    yield paragraph(f"fires {fires}", width, "  ")
    if document.subject is not None:
        yield paragraph(
            f'matchers are compared with {document.subject}: "{document.subject_value or ""}"', width, "  "
        )
    else:
        yield "  there is nothing for a matcher to be compared with"
    if document.layers:
        yield "\nFiles, in the order they are read"
        rows = [_layer_row(layer, document.event, cwd) for layer in document.layers]
        yield indented(table(rows, width - 2), 2)
    for lane in document.lanes:
        yield ""
        yield from _lane_lines(lane, width)
    if not document.lanes:
        yield f"\nNo hook is configured for {document.event}."


def _layer_row(layer: LayerFacts, event: str, cwd: str) -> list[str]:
    file = with_tilde(relative_to(cwd, layer.file))
    why = (layer.why or "").replace(cwd.rstrip("/") + "/", "")
    state = {
        "in force": f"{layer.hooks} at {event}",
        "nothing here": f"none at {event}",
        "not in force": f"{layer.hooks} of {layer.stands} at {event}; {why}",
        "unreadable": layer.why or "",
    }[layer.state]
    trust = "; not everything in it is trusted" if layer.needs_trust and layer.stands else ""
    return [layer.dialect, layer.scope, file, state + trust]


def _lane_lines(lane: LaneFacts, width: int) -> Iterator[str]:
    event_name = f" {lane.spelled}" if lane.spelled else ""
    which = ", the hooks that rewrite" if lane.rewriters else ""
    yield printable(f"Lane {lane.lane}: {lane.dialect}{event_name}{which}")
    yield indented(table([[name, words] for name, words in lane.words.items()], width - 2), 2)
    for hook in lane.hooks:
        verdict = "would run" if hook.would_run else "would not run"
        name = one_line(hook.hook, _LONGEST_NAME)
        yield printable(f"\n{hook.order:3} {name}: {verdict}  {with_tilde(hook.source)}")
        yield indented(table([list(row) for row in _hook_rows(hook)], width - 6), 6)


def _hook_rows(hook: HookFacts) -> Iterator[tuple[str, str]]:
    if not hook.why.startswith(_REASONS_BELOW):
        yield "why", hook.why
    yield "runs", one_line(f"{hook.type}: {hook.runs}", 200)
    if hook.broken:
        yield "cannot run", hook.broken
    yield from (("told as", one_line(told_text(told), _LONGEST_TOLD)) for told in hook.told[:_MOST_ACTS])
    if len(hook.told) > _MOST_ACTS:
        yield "told as", f"{len(hook.told) - _MOST_ACTS} more acts"
    if hook.matcher is not None:
        kind = "" if hook.matcher.kind in _KINDS_IN_REASON else f" ({hook.matcher.kind})"
        yield "matcher", hook.matcher.why + kind
    else:
        yield "matcher", "none: it matches everything"
    if hook.condition is not None:
        yield "condition", hook.condition.why
    yield from _option_rows(hook)
    yield "may", ", ".join(hook.may) or "watch only"
    own = "" if hook.failures_said_by == BY_POLICY else ", as its on_failure says"
    yield "on failure", f"{failure_words(hook.failures)}{own}"
    if hook.trust.state != "disabled":
        yield "trust", f"{hook.trust.state}: {hook.trust.why}"
    if not hook.admitted and not hook.admission_reason.startswith(hook.trust.why):
        yield "refused", hook.admission_reason


def _option_rows(hook: HookFacts) -> Iterator[tuple[str, str]]:
    if hook.mode != "enforce":
        yield "mode", "shadow: it runs, and what it says does not count" if hook.mode == "shadow" else "off"
    if hook.waits != "sync":
        wakes = "; if it blocks, the agent is woken" if hook.waits == "rewake" else ""
        yield "waits", f"the agent does not wait for it{wakes}"
    if hook.once:
        yield "once", "at most once in a session; this is about a new session"
    if hook.output == "ignore":
        yield "output", "not read: only its exit code or status counts"
    if hook.environment is not None and hook.environment.passed_on == "needed":
        from hookline.handlers.command import NEEDED

        yield "gets", f"of your variables only {NEEDED}, without secrets; --json names those left out"
    if hook.in_doubt != "match":
        instead = "the user is asked in its place" if hook.in_doubt == "ask" else "it does not run"
        yield "in doubt", f"{instead} where it cannot be told whether it is meant"
    if hook.required:
        yield "required", "if it may not run, the event is blocked"
    yield "timeout", f"{hook.timeout:.10g} {hook.timeout_unit}"
