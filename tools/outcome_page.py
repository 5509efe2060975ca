"""Write docs/reference/outcome.md: the outcome of an event and the record of a run, from their Structs."""

from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct

from hookline.model.outcome import (
    Answer,
    ContextItem,
    Halt,
    Message,
    Outcome,
    PermissionUpdate,
    Rewrite,
    Vote,
)
from hookline.model.policy import CAUSES
from hookline.model.run import Called, Run
from hookline.schemas.event_facts import json_text, type_words
from hookline.schemas.payload import Schema, without_null
from tools.markdown import GENERATED, code, page, table

_INTRO = """\
`await session.dispatch(event, payload)` returns an `Outcome`: the answers of all hooks of the event together.
Hookline changes nothing itself; the agent reads the outcome and carries it out. `hookline fire --json` prints the
properties below under the same names, and one run per hook."""

_MEANING = """\
Hookline derives these properties from all answers. They follow the order of the configuration; the order in which
hooks finish does not matter."""

_SAID = """\
The outcome keeps every answer, as tuples in the order of the configuration."""

_RUNS = """\
A *run* is the record of one hook that ran, or of why it did not. Runs go to the journal. `hookline fire --json` leaves
out `warm` and the fields after it: they are for the journal alone."""

_MEANINGS: Mapping[str, str] = {
    "blocked": "A hook blocked: the action must not proceed.",
    "deciding_vote": "The vote that decides: the strongest (block, defer, ask, allow), then the higher rank, "
    "then the first.",
    "reason": "Why, from the deciding vote; none for an allow.",
    "permission": "What the hooks decided about the permission; none if they did not decide.",
    "stop": "A hook wants the whole run to stop.",
    "stop_reason": "The first reason given for stopping.",
    "context": "The texts for the model. `context_items` says where each one lands.",
    "initial_user_message": "The first message of the session, as if the user had typed it.",
    "env": "Variables to add to the environment of the command.",
    "answer": "The value the first hook supplied, at an event that takes one.",
    "updated_input": "The arguments of the call after all rewrites; none if no hook changed them.",
    "updated_prompt": "The prompt after all rewrites.",
    "updated_output": "The tool result, or the model's answer, after all rewrites.",
    "updated_messages": "The messages of the request after all rewrites.",
}

_FIELDS: Mapping[str, str] = {
    "Outcome.votes": "The decisions: allow, deny, ask or defer, each with its hook.",
    "Outcome.edits": "Rewrites.",
    "Outcome.context_items": "Texts for the model.",
    "Outcome.messages": "Texts for the user.",
    "Outcome.halts": "Who wants the whole run to stop.",
    "Outcome.permission_updates": "Changes of permission rules.",
    "Outcome.watch_paths": "Files to watch.",
    "Outcome.seeds": "First user messages; the last one counts.",
    "Outcome.env_items": "Environment variables as name and value; a later one wins.",
    "Outcome.answers": "Supplied values; the first one counts.",
    "Outcome.retry": "Let the model try again.",
    "Outcome.limit_reached": "Hooks blocked so often in a row that this block was ignored, or ended the turn.",
    "Vote.kind": "What it says.",
    "Vote.reason": "Why.",
    "Vote.rank": "Breaks ties between votes of one kind: the higher one gives the reason.",
    "Vote.by": "The hook.",
    "Vote.means": "What a block does at this event, in the dialect of the hook.",
    "Rewrite.value": "The new value, or the keys to merge into the old one.",
    "Rewrite.patch": "True if `value` has keys to merge.",
    "Rewrite.field": "The payload field it replaces.",
    "Rewrite.by": "The hook.",
    "Rewrite.whole": "The whole value after this edit.",
    "ContextItem.text": "The text.",
    "ContextItem.placement": "Where it lands.",
    "ContextItem.lifetime": "How long it stays.",
    "ContextItem.hook": "The hook.",
    "Message.text": "The text.",
    "Message.hook": "The hook.",
    "Message.warns": "It is shown as a warning, not as a notice.",
    "Halt.reason": "Why.",
    "Halt.by": "The hook.",
    "PermissionUpdate.type": "What to change, such as addRules, setMode or addDirectories.",
    "PermissionUpdate.mode": "The mode to set.",
    "PermissionUpdate.rules": "The rules to add, replace or remove.",
    "PermissionUpdate.behavior": "What the rules do: allow, deny or ask.",
    "PermissionUpdate.directories": "The directories to add or remove.",
    "PermissionUpdate.destination": "Where the change is kept, such as session.",
    "PermissionUpdate.by": "The hook.",
    "Answer.value": "The value.",
    "Answer.by": "The hook.",
    "Run.hook": "The name of the hook.",
    "Run.source": "The file and line that configure it.",
    "Run.dialect": "The format that it is configured in.",
    "Run.type": "The kind of handler.",
    "Run.status": "How it went.",
    "Run.cause": "Why there was no answer, if there was none.",
    "Run.why": "Why it ran or did not run; filled in by `fire` and `explain`.",
    "Run.detail": "What went wrong, as a message.",
    "Run.decision": "What it decided.",
    "Run.reason": "The reason it gave.",
    "Run.dropped": "Parts of its answer that are not allowed or not read at this event.",
    "Run.failed_open": "It failed open: the action proceeded.",
    "Run.mode": "Whether its answer is applied.",
    "Run.recheck": "It ran again because another hook changed the input.",
    "Run.rewrote": "True if it rewrote the call, the prompt or the result.",
    "Run.translated_tool": "The tool's name in the hook's format, if it differs.",
    "Run.doubt": "Why the match is uncertain, if it is.",
    "Run.exit_code": "The exit code of the process.",
    "Run.signal": "The signal that ended the process.",
    "Run.queue_ms": "How long it waited for a slot, in milliseconds; not part of its timeout.",
    "Run.duration_ms": "How long it took, in milliseconds.",
    "Run.warm": "True if a warm interpreter ran the script; false: none was ready; null: the hook cannot run warm.",
    "Run.stdout": "What it printed; secrets redacted, terminal escapes removed, long texts shortened in the middle.",
    "Run.stderr": "What it printed to stderr, treated the same.",
    "Run.truncated": "It printed more than is kept.",
    "Run.event": "The event.",
    "Run.dialect_event": "The event's name in the hook's format.",
    "Run.session": "The session.",
    "Run.agent": "The subagent it ran for.",
    "Run.run_id": "The id of this run, unlike that of any other; http hooks get it as `Idempotency-Key`.",
    "Run.decision_id": "The id of the `hookline serve` decision that it belongs to, or that answered it.",
    "Run.repeated": "True if the decision came from the cache: the server made it for an earlier call.",
    "Run.at": "When it was recorded, in seconds since 1970.",
    "Run.call": "The tool call, its caller and its project.",
    "Called.tool": "The tool that was called, by its caller's name.",
    "Called.input": "The call in one line of at most 200 columns: its command, path or address, or its arguments; "
    "secrets redacted.",
    "Called.id": "The id of the call, if its caller has one: by it the record is found in the caller's transcript.",
    "Called.project": "The directory of the project.",
    "Called.caller": "The agent that called: the name of its dialect, `hookline agent`, or what a host calls itself "
    "(`Journal(caller=...)`).",
    "Called.origin": "`fire`, if that command only tried the hooks.",
    "Called.payload": "The id of its payload in `payloads.jsonl`, if the user keeps payloads.",
}

_CAUSES: Mapping[str, str] = {
    "not_started": "it could not be started: no such program, no such directory, a broken entry",
    "crashed": "it exited with a code other than 0 and 2, or raised an exception",
    "signalled": "a signal ended it",
    "timed_out": "it took longer than its timeout and was killed",
    "unreadable": "its answer could not be understood",
    "truncated": "it printed more than Hookline reads, so its answer was ignored",
    "transport": "the request failed, or the status of the reply was not 2xx",
    "cancelled": "the agent cancelled the event; this always blocks",
}

_PARTS = (Vote, Rewrite, ContextItem, Message, Halt, PermissionUpdate, Answer)


def outcome_page() -> str:
    return page(
        "# Outcome and runs",
        GENERATED,
        _INTRO,
        "## What it means",
        _MEANING,
        table(("Property", "Type", "Meaning"), _properties()),
        "## What was said",
        _SAID,
        _fields_of(Outcome),
        *(f"### {part.__name__}\n\n{_summary(part)}\n\n{_fields_of(part)}" for part in _PARTS),
        "## A run",
        _RUNS,
        _fields_of(Run),
        f"### Called\n\n{_summary(Called)}\n\n{_fields_of(Called)}",
        "### Causes",
        "The run keeps the cause of a failure; `on_failure` of the hook, or the policy of its event, decides about "
        "it.",
        table(("Cause", "Meaning"), [(code(cause), _CAUSES[cause]) for cause in CAUSES]),
    )


def _summary(struct: type[Struct]) -> str:
    return (struct.__doc__ or "").strip().split("\n", maxsplit=1)[0]


def _properties() -> Iterator[tuple[str, str, str]]:
    for name, value in vars(Outcome).items():
        if isinstance(value, property) and not name.startswith("_"):
            yield code(name), _type_of(get_type_hints(value.fget)["return"]), _MEANINGS[name]


def _type_of(annotation: Any) -> str:
    (schema,), _ = msgspec.json.schema_components((annotation,), ref_template="#/$defs/{name}")
    return _typed(schema)


def _typed(schema: Schema) -> str:
    pair = schema.get("items", {}).get("prefixItems") if isinstance(schema.get("items"), dict) else None
    if pair:
        return f"list of ({', '.join(type_words(each) for each in pair)})"
    return type_words(schema).replace(" or null", " or nothing").replace('""', "nothing")


def _fields_of(struct: type[Struct]) -> str:
    components = msgspec.json.schema_components((struct,), ref_template="#/$defs/{name}")[1]
    properties: Schema = components[struct.__name__]["properties"]
    rows = [
        (code(name), _typed(without_null(schema)), _default(schema), _FIELDS[f"{struct.__name__}.{name}"])
        for name, schema in properties.items()
    ]
    return table(("Field", "Type", "Default", "Meaning"), rows)


def _default(schema: Schema) -> str:
    if "default" not in schema:
        return ""
    return "none" if schema["default"] in (None, "", []) else code(json_text(schema["default"]))
