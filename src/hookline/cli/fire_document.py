"""The JSON of `fire`: a contract, so every name is written here once. `schemas/cli-fire.schema.json` is made of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from hookline.background.inbox import Late
from hookline.cli.diagnosing import DiagnosticDocument, diagnostic_documents
from hookline.cli.fire_report import Firing
from hookline.cli.text import json_lines
from hookline.model.diagnostics import Diagnostic
from hookline.model.outcome import ContextItem, Outcome, Permission
from hookline.model.policy import Cause
from hookline.model.run import Decision, Mode, Run, Status


class OutcomeDocument(Struct, frozen=True, kw_only=True):
    """What the hooks together said."""

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
    permission_updates: tuple[Mapping[str, Any], ...]
    watch_paths: tuple[str, ...]
    initial_user_message: str | None
    retry: bool
    env: Mapping[str, str]
    answer: Any
    limit_reached: bool
    messages: tuple[str, ...]


class RunDocument(Struct, frozen=True, kw_only=True):
    """One hook of the event, run or not."""

    hook: str
    source: str
    dialect: str
    type: str
    status: Status
    cause: Cause | None
    why: str
    detail: str
    decision: Decision | None
    reason: str | None
    dropped: tuple[str, ...]
    passed_without_answer: bool
    mode: Mode
    recheck: bool
    exit_code: int | None
    signal: int | None
    queue_ms: float
    duration_ms: float
    stdout: str
    stderr: str
    truncated: bool


class FireDocument(Struct, frozen=True, kw_only=True):
    """One event fired by hand: what each hook did, and what they said together."""

    event: str
    outcome: OutcomeDocument
    runs: tuple[RunDocument, ...]
    late: tuple[Late, ...]
    diagnostics: tuple[DiagnosticDocument, ...]


def as_json(firing: Firing, diagnostics: Sequence[Diagnostic]) -> str:
    named = firing.named
    document = FireDocument(
        event=firing.event.name,
        outcome=outcome_document(firing.outcome, named),
        runs=tuple(run_document(entry) for entry in firing.entries),
        late=tuple(replace(item, hook=named(item.hook)) for item in firing.late),
        diagnostics=diagnostic_documents(diagnostics, named),
    )
    return json_lines(document, odd=str)


def outcome_document(outcome: Outcome, named: Callable[[str], str]) -> OutcomeDocument:
    items = tuple(replace(item, hook=named(item.hook)) for item in outcome.context_items)
    return OutcomeDocument(
        blocked=outcome.blocked,
        reason=outcome.reason,
        permission=outcome.permission,
        stop=outcome.stop,
        stop_reason=outcome.stop_reason,
        context=outcome.context,
        context_items=items,
        updated_input=outcome.updated_input,
        updated_prompt=outcome.updated_prompt,
        updated_output=outcome.updated_output,
        updated_messages=outcome.updated_messages,
        permission_updates=tuple(msgspec.to_builtins(update) for update in outcome.permission_updates),
        watch_paths=outcome.watch_paths,
        initial_user_message=outcome.initial_user_message,
        retry=outcome.retry,
        env=outcome.env,
        answer=outcome.answer,
        limit_reached=outcome.limit_reached,
        messages=tuple(message.text for message in outcome.messages),
    )


def run_document(run: Run) -> RunDocument:
    said = asdict(run)
    return RunDocument(**{name: said[name] for name in RunDocument.__struct_fields__})
