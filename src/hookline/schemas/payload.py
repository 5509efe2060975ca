"""Build the JSON Schema of a payload, and describe each of its fields in one sentence.

A field of a host's own payload describes itself: `Annotated[str, msgspec.Meta(description="...")]`.
"""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeGuard

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from hookline.dialects.truncation import SHORTENED
from hookline.model.events import EventSpec
from hookline.model.messages import AnyMessage

#: The fields that every payload starts with.
COMMON: Mapping[str, str] = MappingProxyType(
    {
        "session_id": "The session the event belongs to.",
        "transcript_path": "The file with the conversation; empty when there is none.",
        "cwd": "The working directory of the agent.",
        "hook_event_name": "The event, so that one hook can serve several.",
        "permission_mode": "The permission mode the session is in.",
    }
)

#: Sent besides when known.
WHEN_KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "agent_id": "The subagent this happens in; absent in the main agent.",
        "agent_type": "The kind of agent this happens in.",
        "parent_agent_id": "The agent that started this subagent.",
        "prompt_id": "The user prompt that led to this event.",
        "model": "The model in use.",
        "turn": "The number of the user turn, counted from 1.",
    }
)

#: Fields of payloads. `Payload.field` is used where one name has different meanings.
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "action": "The user's answer to the question: accept, decline or cancel.",
        "agent_id": "The subagent.",
        "agent_switch_kind": "How the other agent came to take over.",
        "agent_transcript_path": "The file with the subagent's conversation.",
        "agent_type": "The kind of subagent.",
        "command": "The shell command that is about to start.",
        "command_args": "The text typed after the command.",
        "command_name": "The typed command, without its slash.",
        "command_source": "Where the command is defined.",
        "compact_summary": "The summary that replaced the conversation.",
        "content": "The values the user filled in.",
        "context_limit": "The tokens the model can hold.",
        "cost_usd": "The cost so far, in US dollars.",
        "custom_instructions": "What the user asked the summary to keep.",
        "delta": "The text that is about to be shown.",
        "description": "The subagent's purpose, in a few words.",
        "directory": "The directory that was added.",
        "duration_ms": "How long it took, in milliseconds.",
        "elicitation_id": "Names the question and its answer.",
        "error_details": "The provider's error message.",
        "error_type": "The kind of error.",
        "event": "The change of the file: add, change or unlink.",
        "exit_code": "The exit code the tool reported, if it reported one.",
        "expansion_type": "The kind of text that was expanded.",
        "final": "True if this is the last part of the message.",
        "from_agent": "The agent that was in charge before.",
        "from_model": "The model before the switch.",
        "globs": "The path patterns that brought the file in.",
        "index": "The number of this part within the message.",
        "input_tokens": "The tokens the conversation takes now.",
        "is_interrupt": "True if the user interrupted it.",
        "iteration": "The number of the model call within the turn, counted from 1.",
        "last_assistant_message": "The text the model answered with last.",
        "level": "How serious it is.",
        "load_reason": "Why the file was loaded.",
        "max_iterations": "The limit that was reached.",
        "mcp_server": "The MCP server the tool belongs to.",
        "original_call": "The call as the agent made it, if it was translated for the hook.",
        "mcp_server_name": "The MCP server that asks.",
        "memory_type": "Whose instructions they are.",
        "message": "The text the user sees.",
        "message_id": "Names the message the text belongs to.",
        "messages": "The messages of the request, oldest first: `role` and `text`, or what its program has for them.",
        "mode": "The form of the question.",
        "model": "The model of the request.",
        "name": "The name the worktree is to have.",
        "new_cwd": "The working directory now.",
        "new_mode": "The permission mode now.",
        "notification_type": "The kind of notification.",
        "old_cwd": "The working directory before.",
        "old_mode": "The permission mode before.",
        "parent_file_path": "The file that included it.",
        "permission_suggestions": "The rules the user would be offered.",
        "prompt": "The text of the prompt.",
        "queued_message_count": "How many messages of the user wait for the next turn.",
        "reasoning": "The model's thoughts before its answer, if it shows them.",
        "requested_model": "The requested model, before aliases were resolved.",
        "requested_schema": "The JSON Schema the answer has to fit.",
        "response": "The text the model answered with.",
        "session_ms": "How long the session has lasted so far, in milliseconds.",
        "session_title": "The title of the session.",
        "stop_hook_active": "True if a hook has already kept this turn from ending; a hook that blocks again may loop.",
        "task_description": "The description of the task.",
        "task_id": "Names the task.",
        "task_subject": "The task in a few words.",
        "team_name": "The team it belongs to.",
        "teammate_name": "The team member.",
        "title": "The title it is shown under.",
        "to_agent": "The agent that is in charge now.",
        "to_model": "The model after the switch.",
        "tool_calls": "The tool calls of the message, in its order.",
        "tool_category": "The kind of tool: shell, file_write, safe, web, mcp, agent or other.",
        "tool_count": "How many tools ran in the turn.",
        "tool_input": "The arguments of the call.",
        "tool_name": "The tool.",
        "tool_response": "The tool's result.",
        "tool_use_id": "Names the call: the same before and after it.",
        "tools": "The names of the tools the model would be offered.",
        "totals": "Tokens and cost of the whole session so far; a count that is not known is left out.",
        "transient": "Text that hooks before this one added to this request alone; it is not among the messages.",
        "trigger": "The reason for it.",
        "trigger_file_path": "The file whose use brought it in.",
        "turn": "The number of the user turn, counted from 1.",
        "turn_id": "Names the turn.",
        "turns": "How many turns the session had.",
        "url": "The page the user is asked to open, in mode url.",
        "usage": "Tokens that were used, by kind; a count that is not known is left out.",
        "worktree_path": "The worktree, as an absolute path.",
        "ExecStarted.argv": "Its arguments; the first is the name it was called by.",
        "ExecStarted.command": "The line of the call that it belongs to.",
        "ExecStarted.directory": "The directory of the process that starts it.",
        "ExecStarted.path": "The file of the program; for a script, its interpreter.",
        "ExecStarted.program": "The name of the program.",
        "Compaction.trigger": "`manual` if the user asked for it, `auto` if the context was full.",
        "ConfigEdit.file_path": "The configuration file that changed.",
        "ConfigEdit.source": "Whose configuration changed.",
        "DirectoryNote.source": "How the directory was added.",
        "FileEdit.file_path": "The file, as an absolute path; a matcher tests its base name.",
        "InputAwaited.message": "The question, where there is one.",
        "InputAwaited.reason": "The reason why the agent waits.",
        "InstructionFile.file_path": "The instruction file.",
        "IterationLimit.message": "The limit that was reached, in words.",
        "ModelResponse.duration_ms": "How long the model took, in milliseconds.",
        "ModelResponse.messages": "The messages of the request that was answered, oldest first.",
        "ModelMove.source": "How the switch was asked for.",
        "PermissionRefused.reason": "Why the call was denied.",
        "Prompt.prompt": "The text the user submitted.",
        "Prompt.source": "How the text was entered, where that is known.",
        "PromptExpansion.prompt": "The prompt it expands to.",
        "ElicitationRequest.message": "The MCP server's question.",
        "Interruption.reason": "Who or what interrupted the turn.",
        "RunError.message": "The error message.",
        "SessionEnded.reason": "Why the session ended.",
        "SessionEnded.duration_ms": "How long the session was, in milliseconds.",
        "SessionStarted.model": "The model the session starts with.",
        "SessionStarted.agent_type": "The kind of agent the session is for.",
        "SessionStarted.source": "How the session came to start.",
        "SubagentBegun.prompt": "The subagent's task.",
        "SubagentEnded.last_assistant_message": "The subagent's final answer.",
        "SubagentEnded.status": "How the subagent ended.",
        "TaskNote.status": "The state the task is in.",
        "ToolBatch.tool_calls": "The calls of the message with their results, in its order.",
        "ToolFailure.error": "The tool's error.",
        "TurnFailure.error": "The kind of model error that ended the turn.",
        "TurnSummary.duration_ms": "How long the turn took, in milliseconds.",
        "TurnSummary.error": "The error, if there was one.",
        "TurnSummary.status": "How the turn ended.",
    }
)


def described(payload: str, field: str) -> str | None:
    """Return the sentence for a field of a payload type, None for one that only its host knows."""
    return FIELDS.get(f"{payload}.{field}") or FIELDS.get(field)


Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

#: Payload fields that are sent even at their default, like the subject and the rewritten field.
_ALWAYS_SENT = ("tool_input", "stop_hook_active")


def payload_schema(event: EventSpec[Any]) -> Schema:
    """Build the schema. Further fields are allowed: a later version may send more."""
    own, definitions = payload_fields(event)
    schema: Schema = {
        "$schema": DRAFT,
        "title": f"{event.name} payload",
        "description": f"Fires {event.fires}",
        "type": "object",
        "properties": {**_info_fields(event), **own, SHORTENED: _shortened()},
        "required": [*COMMON, *(name for name in always_sent(event) if name not in COMMON)],
    }
    if definitions:
        schema["$defs"] = definitions
    return schema


def payload_fields(event: EventSpec[Any]) -> tuple[Schema, Schema]:
    """Return the properties of the payload itself, and the definitions they refer to."""
    named, definitions = _of_type(event.payload)
    never_null = _is_struct(event.payload) and event.payload.__struct_config__.omit_defaults
    properties: Schema = {}
    for name, schema in named.items():
        properties[name] = _field(event, name, schema)
        if never_null and name not in always_sent(event):
            properties[name] = without_null(properties[name])
    return properties, definitions


def always_sent(event: EventSpec[Any]) -> tuple[str, ...]:
    """Return the payload fields that are in every document, in the order of the payload."""
    payload = event.payload
    if _is_struct(payload):
        sent = {*_ALWAYS_SENT, event.subject, event.rewrites}
        fields = msgspec.structs.fields(payload)
        omits = payload.__struct_config__.omit_defaults
        return tuple(
            each.encode_name for each in fields if each.name in sent or not (omits and _can_be_omitted(each))
        )
    if dataclasses.is_dataclass(payload):
        return tuple(field.name for field in dataclasses.fields(payload))
    return ()


def _can_be_omitted(field: FieldInfo) -> bool:
    """Return True if a field may be omitted. Of defaults made by a factory, only these are recognised."""
    return not field.required and field.default_factory in (NODEFAULT, dict, list, set)


def _info_fields(event: EventSpec[Any]) -> Schema:
    fields: Schema = {name: {"type": "string", "description": text} for name, text in COMMON.items()}
    fields["hook_event_name"] = {"const": event.name, "description": COMMON["hook_event_name"]}
    for name, text in WHEN_KNOWN.items():
        fields[name] = {"type": "integer" if name == "turn" else "string", "description": text}
    return fields


def _shortened() -> Schema:
    return {
        "type": "array",
        "items": {"type": "string"},
        "description": "Only in a document that was too large: the fields whose text was cut in the middle.",
    }


def _of_type(payload: Any) -> tuple[Schema, Schema]:
    try:
        (root,), components = msgspec.json.schema_components(
            (payload,), schema_hook=_unknown_type, ref_template="#/$defs/{name}"
        )
    except TypeError:
        # Of a record that msgspec cannot describe only the names of the fields are known.
        names: tuple[str, ...] = tuple(getattr(payload, "__annotations__", ()))
        return {name: {} for name in names}, {}
    definitions: Schema = dict(components)
    name = str(root.get("$ref", "")).removeprefix("#/$defs/")
    # Left where it is when the payload refers to itself.
    described_type: Schema = definitions[name] if name in definitions else dict(root)
    if f'"#/$defs/{name}"' not in str(msgspec.json.encode(components)):
        definitions.pop(name, None)
    properties: Schema = described_type.get("properties", {})
    return {key: dict(value) for key, value in properties.items()}, definitions


def _unknown_type(unknown: type) -> Schema:
    # A message of a host has the shape of its program.
    return {"type": "object"} if unknown is AnyMessage else {"title": unknown.__name__}


def _field(event: EventSpec[Any], name: str, schema: Schema) -> Schema:
    text = described(getattr(event.payload, "__name__", ""), name)
    if text is not None and "description" not in schema:
        schema["description"] = text
    if name == event.subject and event.subjects:
        schema.pop("type", None)
        schema["enum"] = list(event.subjects)
    return schema


def without_null(schema: Schema) -> Schema:
    """Remove null from a field's schema: a field that is None is not sent."""
    if schema.get("default", 0) is not None or "anyOf" not in schema:
        return schema
    others = [each for each in schema["anyOf"] if each != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**others[0], **rest} if len(others) == 1 else {"anyOf": others, **rest}


def _is_struct(payload: Any) -> TypeGuard[type[Struct]]:
    return isinstance(payload, type) and issubclass(payload, Struct)
