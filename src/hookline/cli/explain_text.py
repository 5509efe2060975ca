"""`hookline explain` for people, or as JSON."""

import argparse
from collections.abc import Iterator

from hookline.cli.diagnosing import any_error, diagnostic_documents, tell_diagnostics
from hookline.cli.explaining import Asked, ExplainDocument, HookFacts, LaneFacts, lanes
from hookline.cli.fire_request import Request, working_directory
from hookline.cli.firing import nothing_configured, prepare
from hookline.cli.hook_words import cleaner, homely
from hookline.cli.layering import LayerFacts, layers
from hookline.cli.looking import looking_engine
from hookline.cli.output import show
from hookline.cli.policy_words import failure_words
from hookline.cli.text import json_lines, paragraph, table, terminal_width
from hookline.config.embedding import Engine
from hookline.config.loaded import Loaded
from hookline.matching.fields import subject_of
from hookline.model.safetext import one_line, printable

FINE, PROBLEM = 0, 1
_LONGEST_NAME = 50
#: Kinds of matchers whose reason names the kind.
_SAID_BY_WHY = frozenset({"list of exact names", "name with *", "regular expression"})
#: Reasons that the lines about its matcher and its condition give, in full.
_TOLD_BELOW = ("matched:", "not matched:")


def explain(args: argparse.Namespace) -> int:
    cwd = working_directory(args.cwd)
    engine = looking_engine()
    request, loaded = prepare(engine, args, cwd)
    tell_diagnostics(loaded.diagnostics)
    document = _document(engine, request, loaded, cwd)
    if args.json:
        shown = show(json_lines(document), as_json=True)
    else:
        shown = show("\n".join(_lines(document, request, cwd, terminal_width())))
    if nothing_configured(engine, loaded, cwd) or any_error(loaded.diagnostics):
        return PROBLEM
    return shown


def _document(engine: Engine, request: Request, loaded: Loaded, cwd: str) -> ExplainDocument:
    session = engine.session(request.scene.session_id)
    session.scene = request.scene
    clean = cleaner(engine.journal)
    untrusted = frozenset(found.file for found in loaded.found if found.needs_trust)
    value = subject_of(request.event, request.payload)
    return ExplainDocument(
        event=request.event.name,
        spelled=request.spelled,
        subject=request.event.subject,
        subject_value=clean(value) if value is not None else None,
        layers=layers(engine, loaded, request.event),
        lanes=tuple(lanes(Asked(session, request, cwd, clean, untrusted))),
        diagnostics=diagnostic_documents(loaded.diagnostics, clean),
    )


def _lines(document: ExplainDocument, request: Request, cwd: str, width: int) -> Iterator[str]:
    under = f" ({request.spelled}, {request.dialect})" if request.spelled else ""
    yield printable(f"{document.event}{under}")
    yield paragraph(f"fires {request.event.fires}", width, "  ")
    if document.subject is not None:
        yield paragraph(
            f'matchers are compared with {document.subject}: "{document.subject_value or ""}"', width, "  "
        )
    else:
        yield "  there is nothing for a matcher to be compared with"
    if document.layers:
        yield "\nFiles, in the order they are read"
        yield _indented(
            table([_layer(layer, document.event, cwd) for layer in document.layers], width - 2), 2
        )
    for lane in document.lanes:
        yield ""
        yield from _lane(lane, width)
    if not document.lanes:
        yield f"\nNo hook is configured for {document.event}."


def _layer(layer: LayerFacts, event: str, cwd: str) -> list[str]:
    below = cwd.rstrip("/") + "/"
    file = homely(layer.file.removeprefix(below))
    told = {
        "in force": f"{layer.hooks} at {event}",
        "nothing here": f"none at {event}",
        "not in force": f"{layer.hooks} of {layer.stands} at {event}; {(layer.why or '').replace(below, '')}",
        "unreadable": layer.why or "",
    }[layer.state]
    trust = "; its agent wants your trust first" if layer.needs_trust and layer.stands else ""
    return [layer.dialect, layer.scope, file, told + trust]


def _lane(lane: LaneFacts, width: int) -> Iterator[str]:
    spelled = f" {lane.spelled}" if lane.spelled else ""
    which = ", the hooks that rewrite" if lane.rewriters else ""
    yield printable(f"Lane {lane.lane}: {lane.dialect}{spelled}{which}")
    yield _indented(table([[name, told] for name, told in lane.words.items()], width - 2), 2)
    for hook in lane.hooks:
        verdict = "would run" if hook.would_run else "would not run"
        yield printable(
            f"\n{hook.order:3} {one_line(hook.hook, _LONGEST_NAME)}: {verdict}  {homely(hook.source)}"
        )
        yield _indented(table([[name, told] for name, told in _facts(hook)], width - 6), 6)


def _facts(hook: HookFacts) -> Iterator[tuple[str, str]]:
    if not hook.why.startswith(_TOLD_BELOW):
        yield "why", hook.why
    yield "runs", one_line(f"{hook.type}: {hook.runs}", 200)
    if hook.broken:
        yield "cannot run", hook.broken
    if hook.matcher is not None:
        said = hook.matcher.kind in _SAID_BY_WHY
        yield "matcher", hook.matcher.why + ("" if said else f" ({hook.matcher.kind})")
    else:
        yield "matcher", "none: it concerns all of them"
    if hook.condition is not None:
        yield "condition", hook.condition.why
    yield from _ways(hook)
    yield "may", ", ".join(hook.may) or "watch only"
    yield "a failure", f"{failure_words(hook.failures)} (says {hook.failures_said_by})"
    if not hook.admitted:
        yield "trust", f"refused: {hook.admission_reason}"
    elif hook.needs_trust:
        yield "trust", "its agent runs it only once you trust its file; Hookline runs it"


def _ways(hook: HookFacts) -> Iterator[tuple[str, str]]:
    if hook.mode != "enforce":
        yield "mode", "shadow: it runs, and what it says does not count" if hook.mode == "shadow" else "off"
    if hook.waits != "sync":
        wakes = "; if it blocks, the agent is woken" if hook.waits == "rewake" else ""
        yield "waits", f"nobody waits for it{wakes}"
    if hook.once:
        yield "once", "at most once in a session; this asks about a new one"
    if hook.required:
        yield "required", "where it may not run, the event is blocked"
    yield "timeout", f"{hook.timeout:.10g} {hook.timeout_unit}"


def _indented(text: str, by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.split("\n"))
