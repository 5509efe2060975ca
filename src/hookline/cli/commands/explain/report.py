"""Explain why each hook of an event would run or would not: the record, as text and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from hookline.cli.agents_asking import AskingAgent, asking_lines
from hookline.cli.commands.explain.describe import ConditionFacts, MatcherFacts, failure_words
from hookline.cli.describe import (
    DiagnosticDocument,
    TranslatedDocument,
    translated_text,
)
from hookline.cli.shown_hooks import ShownHook
from hookline.cli.text import indented, json_lines, paragraph, relative_to, table, with_tilde
from hookline.config.install.self_calls import INSTALLED_HERE
from hookline.config.load import Found
from hookline.dialects.registry import OWN_FORMAT
from hookline.engine.explain import FOLLOWS
from hookline.model.events import event_label
from hookline.model.hook import Output
from hookline.model.policy import BlockLimit, Cause, Reaction
from hookline.model.safe_text import one_line, printable

#: Values of `failures_said_by`.
BY_POLICY, BY_HOOK = "its policy", "on_failure of the hook"
_LONGEST_NAME = 50
_NEVER_BY_US = "by it, the agent asks Hookline; run here, it would call Hookline again"
#: Shown characters of a hook's input, and shown actions of one call.
_LONGEST_TRANSLATED, _MOST_ACTS = 300, 10
#: Kinds of matchers that their reason names as well.
_KINDS_IN_REASON = frozenset({"list of exact names", "name with *", "regular expression"})
#: Reasons that the rows about the matcher and the condition give in full.
_REASONS_BELOW = ("matched:", "not matched:")


class LayerFacts(Found, frozen=True, kw_only=True):
    """One configuration file."""

    #: Hooks at this event that count, and how many the file has.
    hooks: int
    stands: int
    state: Literal["active", "nothing here", "inactive", "unreadable"]
    why: str | None


class HookFacts(ShownHook, frozen=True, kw_only=True):
    """One hook: its decision to run or not, and everything behind it."""

    would_run: bool
    why: str
    #: The tool call translated to its format, if that differs: an item for each action that it runs on; for a hook
    #: that would not run, what it would get.
    translated: tuple[TranslatedDocument, ...]
    matcher: MatcherFacts | None
    condition: ConditionFacts | None
    #: The hook of the same lane that it repeats; equal ones run once.
    duplicate_of: str | None
    #: True if its output is its answer.
    output: Output
    #: The parts of its answer that count here.
    may: tuple[str, ...]
    #: The reaction to each cause of failure, if a user can be asked.
    failures: Mapping[Cause, Reaction]
    #: Set by the hook itself, or by its policy.
    failures_said_by: str
    admitted: bool
    admission_reason: str
    #: The user has not trusted everything in its file.
    needs_trust: bool


class LaneFacts(Struct, frozen=True, kw_only=True):
    """Neighbouring hooks under one policy."""

    lane: int
    dialect: str
    dialect_event: str
    #: Only hooks that rewrite: they run before the hooks that judge.
    rewriters: bool
    run: str
    sees: str
    stop_on: str
    keep: str
    settle: str
    reasons: str
    waits: bool
    block_means: str | None
    limit: BlockLimit | None
    budget: float | None
    placement: str
    lifetime: str
    on_clipped: str
    late: str
    #: The same in words, by topic.
    words: Mapping[str, str]
    hooks: tuple[HookFacts, ...]


class ExplainDocument(Struct, frozen=True, kw_only=True):
    """The reasoning about one event: the files, the groups of hooks, and each hook."""

    event: str
    #: How a dialect calls it, where it was asked for under that name.
    dialect_event: str | None
    #: The field of the payload that matchers are compared with, and its value here.
    subject: str | None
    subject_value: str | None
    layers: tuple[LayerFacts, ...]
    lanes: tuple[LaneFacts, ...]
    diagnostics: tuple[DiagnosticDocument, ...]
    #: The agents that are used here, and the hooks of this event that each would not ask.
    agents: tuple[AskingAgent, ...] = ()

    def as_json(self) -> str:
        return json_lines(self)


def as_text(document: ExplainDocument, *, dialect: str | None, fires: str, cwd: str, width: int) -> str:
    """Format the document. `dialect` is that of `dialect_event`, or the caller; `fires` says when the event fires."""
    return "\n".join(_lines(document, dialect, fires, cwd, width))


def _lines(document: ExplainDocument, dialect: str | None, fires: str, cwd: str, width: int) -> Iterator[str]:
    if document.dialect_event:
        yield printable(f"{event_label(document.dialect_event, document.event)} of {dialect}")
    else:
        yield printable(document.event + (f" (as {dialect})" if dialect else ""))
    yield paragraph(f"fires {fires}", width, "  ")
    if document.subject is not None:
        yield paragraph(
            f'matchers are compared with {document.subject}: "{document.subject_value or ""}"', width, "  "
        )
    else:
        yield "  matchers have nothing to compare with at this event"
    if document.layers:
        yield "\nFiles, in the order they are read"
        rows = [_layer_row(layer, document.event, cwd) for layer in document.layers]
        yield indented(table(rows, width - 2), 2)
    for lane in document.lanes:
        yield ""
        yield from _lane_lines(lane, width)
    if not document.lanes:
        yield f"\nNo hook is configured for {document.event}."
    if document.agents:
        yield ""
        yield from (paragraph(printable(line), width) for line in asking_lines(document.agents))


def _layer_row(layer: LayerFacts, event: str, cwd: str) -> list[str]:
    file = with_tilde(relative_to(cwd, layer.file))
    why = (layer.why or "").replace(cwd.rstrip("/") + "/", "")
    state = {
        "active": f"{layer.hooks} at {event}",
        "nothing here": f"none at {event}",
        "inactive": f"{layer.hooks} of {layer.stands} at {event}; {why}",
        "unreadable": layer.why or "",
    }[layer.state]
    trust = "; not everything in it is trusted" if layer.needs_trust and layer.stands else ""
    return [layer.dialect, layer.scope, file, state + trust]


def _lane_lines(lane: LaneFacts, width: int) -> Iterator[str]:
    whose = "Native" if lane.dialect == OWN_FORMAT else lane.dialect
    event_name = f" at {lane.dialect_event}" if lane.dialect_event else ""
    which = ", those that rewrite" if lane.rewriters else ""
    yield printable(f"{whose} hooks{event_name}{which}")
    yield indented(table([[name, words] for name, words in lane.words.items()], width - 2), 2)
    for hook in lane.hooks:
        ours = hook.hook == INSTALLED_HERE
        decision = "would run" if hook.would_run else "the agent runs it" if ours else "would not run"
        name = one_line(hook.hook, _LONGEST_NAME)
        yield printable(f"\n{hook.order:3} {name}: {decision}  {with_tilde(hook.source)}")
        rows = [("why", _NEVER_BY_US)] if ours else _hook_rows(hook)
        yield indented(table([list(row) for row in rows], width - 6), 6)


def _hook_rows(hook: HookFacts) -> Iterator[tuple[str, str]]:
    if hook.why.startswith(FOLLOWS):
        yield "why", hook.why.removeprefix("matched: ")
    elif not hook.why.startswith(_REASONS_BELOW):
        yield "why", hook.why
    yield "runs", one_line(f"{hook.type}: {hook.runs}", 200)
    if hook.broken:
        yield "cannot run", hook.broken
    yield from (
        ("gets", one_line(translated_text(translated), _LONGEST_TRANSLATED))
        for translated in hook.translated[:_MOST_ACTS]
    )
    if len(hook.translated) > _MOST_ACTS:
        yield "gets", f"{len(hook.translated) - _MOST_ACTS} more actions"
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
        yield "mode", "shadow: it runs, and its decision is only recorded" if hook.mode == "shadow" else "off"
    if hook.waits != "sync":
        wakes = "; if it blocks, the agent is woken" if hook.waits == "rewake" else ""
        yield "waits", f"the agent does not wait for it{wakes}"
    if hook.once:
        yield "once", "at most once in a session; this is about a new session"
    if hook.output == "ignore":
        yield "output", "not read: only its exit code or status counts"
    if hook.environment is not None and hook.environment.passed_on == "needed":
        from hookline.handlers.command import NEEDED

        yield "variables", f"of yours only {NEEDED}, without secrets; --json names those left out"
    if hook.in_doubt != "match":
        instead = "the user is asked instead" if hook.in_doubt == "ask" else "it does not run"
        yield "in doubt", f"{instead} where it is uncertain if the call matches"
    if hook.required:
        yield "required", "if it may not run, the event is blocked"
    yield "timeout", f"{hook.timeout:.10g} {hook.timeout_unit}"
