"""Name spans, attributes and metrics, and say what they mean. The reference page is made from these tables.

Names that OpenTelemetry's conventions have already are theirs (`gen_ai.*`, `code.*`, `error.type`); the
others begin with `hookline.`. Events, decisions and kinds of tools have Hookline's own names, whichever agent
calls.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from hookline.model.run import Run

Value = str | bool | int | float | list[str] | None


class Attribute(Struct, frozen=True):
    """One attribute of a span; a value of None, or an empty one, is left out."""

    name: str
    meaning: str
    value: Callable[[Any], Value]
    #: It may hold text of the user, the model or a hook: only sent if requested, with secrets redacted.
    content: bool = False


class Metric(Struct, frozen=True):
    name: str
    kind: Literal["counter", "histogram", "gauge"]
    unit: str
    meaning: str
    #: The attributes that distinguish its series.
    by: tuple[str, ...] = ()


#: The span of a dispatch is called after its event, that of a hook after the hook.
DISPATCH_SPAN = "hookline.dispatch {event}"
HOOK_SPAN = "hookline.hook {hook}"

EVENT, TOOL, KINDS = "hookline.event", "gen_ai.tool.name", "hookline.tool.kinds"
DECISION, STATUS, HOOK = "hookline.decision", "hookline.hook.status", "hookline.hook.name"
ERROR = "error.type"
FAILED_OPEN, QUEUE_TIME = "hookline.failed_open", "hookline.queue_time"


class Begun(Struct, frozen=True):
    """Facts known when a dispatch begins."""

    event: str
    payload: Any
    info: Any
    caller: str
    kinds: list[str]
    #: The tool's arguments as JSON, with secrets redacted; empty unless requested.
    arguments: str = ""


AT_BEGINNING: tuple[Attribute, ...] = (
    Attribute(EVENT, "The event, by Hookline's name for it: `PreToolUse`.", lambda d: d.event),
    Attribute(
        "gen_ai.conversation.id", "The session of the agent.", lambda d: d.info.session_id
    ),
    Attribute("gen_ai.agent.name", "The agent that called: its dialect, `hookline agent`, or what a host calls itself.",
              lambda d: d.caller),
    Attribute("gen_ai.agent.id", "The subagent.", lambda d: d.info.agent_id),
    Attribute("gen_ai.request.model", "The model of the session, if the agent says it.", lambda d: d.info.model),
    Attribute(TOOL, "The tool, by its agent's name for it.", lambda d: getattr(d.payload, "tool_name", None)),
    Attribute("gen_ai.tool.call.id", "The agent's id of the call.", lambda d: getattr(d.payload, "tool_use_id", None)),
    Attribute(KINDS, "The kinds of action of the call, the same for all agents: `shell`, `write` and others.",
              lambda d: d.kinds),
    Attribute("hookline.permission_mode", "How much the agent may do unasked.", lambda d: d.info.permission_mode),
    Attribute("hookline.decision_id", "Of a decision by `hookline serve`: the id that its caller receives.",
              lambda d: d.info.decision_id),
    Attribute("gen_ai.tool.call.arguments", "The arguments of the call as JSON.", lambda d: d.arguments, content=True),
)  # fmt: skip

AT_END: tuple[Attribute, ...] = (
    Attribute(DECISION, "The merged decision: `deny`, `defer`, `ask` or `allow`; left out if no hook decided.",
              lambda outcome: outcome.permission),
    Attribute("hookline.stop", "True if a hook stopped the whole run.", lambda outcome: outcome.stop or None),
    Attribute("hookline.rewritten", "True if a hook rewrote the event's subject, such as a tool's input.",
              lambda outcome: bool(outcome.edits) or None),
    Attribute("hookline.reason", "Why it was denied or asked about.", lambda outcome: outcome.reason, content=True),
)  # fmt: skip

OF_HOOK: tuple[Attribute, ...] = (
    Attribute(HOOK, "The name of the hook.", lambda run: run.hook),
    Attribute("hookline.hook.type", "How it is run: `command`, `http`, `function` and others.", lambda run: run.type),
    Attribute("hookline.hook.dialect", "The format that it is written in.", lambda run: run.dialect),
    Attribute("code.file.path", "The file that it is configured in.", lambda run: _place(run)[0]),
    Attribute("code.line.number", "Its line there.", lambda run: _place(run)[1]),
    Attribute(EVENT, "The event.", lambda run: run.event),
    Attribute("hookline.event.spelled", "The event, by the name that the hook is configured under, if that is another.",
              lambda run: run.dialect_event if run.dialect_event != run.event else None),
    Attribute(STATUS, "How it ended: `ok`, `blocked`, `failed`, `timed_out` and others.", lambda run: run.status),
    Attribute(ERROR, "Why the hook failed: `timed_out`, `crashed`, `transport` and others.", lambda run: run.cause),
    Attribute(DECISION, "Its decision.", lambda run: run.decision),
    Attribute(FAILED_OPEN, "True if the hook failed and the action proceeded.",
              lambda run: run.failed_open or None),
    Attribute("hookline.hook.mode", "`shadow` if its decision is recorded and not applied.",
              lambda run: run.mode if run.mode != "enforce" else None),
    Attribute("hookline.recheck", "True if it ran again, on what another hook rewrote.",
              lambda run: run.recheck or None),
    Attribute("gen_ai.tool.name", "The tool, by its agent's name for it.", lambda run: run.call.tool),
    Attribute("hookline.tool.translated_name", "The tool's name in the hook's format, if it differs.",
              lambda run: run.translated_tool),
    Attribute("gen_ai.tool.call.id", "The agent's id of the call.", lambda run: run.call.id),
    Attribute("gen_ai.conversation.id", "The session of the agent.", lambda run: run.session),
    Attribute("hookline.run_id", "The id of the run, by which `hookline log --id` finds it.", lambda run: run.run_id),
    Attribute("hookline.decision_id", "The decision of a server that it was answered with, or is part of.",
              lambda run: run.decision_id),
    Attribute(QUEUE_TIME, "Seconds that it waited for a slot, before its time began.",
              lambda run: run.queue_ms / 1e3 or None),
    Attribute("process.exit.code", "The exit code of its process.", lambda run: run.exit_code),
    Attribute("hookline.reason", "The reason it gave.", lambda run: run.reason, content=True),
    Attribute("hookline.detail", "The failure.", lambda run: run.detail, content=True),
)  # fmt: skip

#: The attributes that distinguish metrics of hooks: few enough values for a metric.
_BY_HOOK = (HOOK, "hookline.hook.type", "hookline.hook.dialect", EVENT)

RUNS = Metric(
    "hookline.hook.runs", "counter", "{run}", "Hooks that ran, or could not.", (*_BY_HOOK, STATUS, ERROR)
)
DURATION = Metric(
    "hookline.hook.duration", "histogram", "s", "How long they took, without waiting.", _BY_HOOK
)
QUEUE = Metric("hookline.hook.queue_time", "histogram", "s", "How long they waited for a slot.", _BY_HOOK)
DECISIONS = Metric(
    "hookline.hook.decisions", "counter", "{decision}", "Their decision.", (*_BY_HOOK, DECISION)
)
OPEN = Metric(
    "hookline.hook.open_passes", "counter", "{pass}",
    "Actions that went ahead although the hook that should judge them gave no answer. Anything but 0 is an incident.",
    (*_BY_HOOK, ERROR),
)  # fmt: skip
DISPATCHES = Metric(
    "hookline.dispatch.duration", "histogram", "s", "Events with hooks, from call to outcome.", (EVENT, DECISION)
)  # fmt: skip
SERVE_WAITING = Metric("hookline.serve.waiting", "gauge", "{decision}", "Decisions that wait for their turn.")
SERVE_UNDER_WAY = Metric("hookline.serve.under_way", "gauge", "{decision}", "Decisions that are being made.")
SERVE_REFUSED = Metric(
    "hookline.serve.refused", "counter", "{request}", "Requests that no hook was asked about.", ("hookline.refused",)
)  # fmt: skip

#: The state of a machine in a fleet, which its worker sends and also shows at /metrics.
CONNECTED = Metric(
    "hookline.fleet.connected", "gauge", "{connection}", "1 while the server of the fleet answers."
)
PROBLEM = Metric("hookline.fleet.problem", "gauge", "{problem}", "1 while the worker has a problem.")
PROBLEMS = Metric("hookline.fleet.problems", "counter", "{problem}", "Problems since the start.")
BUNDLE_AGE = Metric(
    "hookline.fleet.bundle_age", "gauge", "s", "Age of the oldest active bundle, since it was published or renewed."
)  # fmt: skip
JOBS_WAITING = Metric(
    "hookline.fleet.jobs_waiting", "gauge", "{job}", "Own jobs that the fleet has not settled."
)
JOBS_RUNNING = Metric(
    "hookline.fleet.jobs_running", "gauge", "{job}", "Jobs of other machines that this one has."
)
JOBS_LOST = Metric("hookline.fleet.jobs_lost", "counter", "{job}", "Jobs that others took over.")
DEAD_LETTERS = Metric(
    "hookline.fleet.dead_letters", "gauge", "{job}", "Own jobs that failed for good, until they are retried or dropped."
)  # fmt: skip
UNSENT = Metric("hookline.fleet.unsent", "gauge", "By", "Bytes of runs that are not in the audit yet.")
WAKES_WAITING = Metric(
    "hookline.fleet.wakes_waiting", "gauge", "{wake}", "Wakes on their way to other machines."
)
RUNS_MISSING = Metric("hookline.fleet.runs_missing", "gauge", "{run}", "Runs that are missing in the audit.")
FLEET = (
    CONNECTED, PROBLEM, PROBLEMS, BUNDLE_AGE, JOBS_WAITING, JOBS_RUNNING, JOBS_LOST, DEAD_LETTERS, UNSENT,
    WAKES_WAITING, RUNS_MISSING,
)  # fmt: skip
METRICS = (
    RUNS, DURATION, QUEUE, DECISIONS, OPEN, DISPATCHES, SERVE_WAITING, SERVE_UNDER_WAY, SERVE_REFUSED, *FLEET,
)  # fmt: skip

#: The name of the machine in its fleet, in the resource of all spans and metrics.
MACHINE = "hookline.machine"


def attributes(table: tuple[Attribute, ...], thing: Any, *, content: bool) -> dict[str, Any]:
    """Return the attributes that have a value, by name."""
    found: dict[str, Any] = {}
    for each in table:
        if not each.content or content:
            value = each.value(thing)
            if value not in (None, "", []):
                found[each.name] = value
    return found


def narrowed(found: Mapping[str, Any], metric: Metric) -> dict[str, Any]:
    """Return the attributes by which a metric distinguishes its series."""
    return {name: found[name] for name in metric.by if name in found}


def _place(run: Run) -> tuple[str | None, int | None]:
    file, _, line = run.source.rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (run.source or None, None)
