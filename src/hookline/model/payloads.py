"""Define the payloads: one frozen record per shape.

Field names are the keys of the native wire. A field left at its default is not sent.
"""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import UNSET, Struct
from msgspec.structs import force_setattr

from hookline.model.messages import (
    AnyMessage,
    ToolUse,
    Totals,
    Usage,
    shown_messages,
    tool_uses,
    totals_given,
    usage_of,
)

JsonObject = Mapping[str, Any]


def plain_value(value: Any) -> Any:
    """Turn an object that msgspec does not know into values it knows: for `enc_hook` wherever payloads are
    encoded.

    Tools give pydantic models; they are known by their method, so pydantic is not needed for it.
    """
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json")
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def read_value(kind: type, value: Any) -> Any:
    """Make a value that msgspec cannot make of JSON: for `dec_hook` wherever payloads are read."""
    if kind is AnyMessage and isinstance(value, Mapping):
        return shown_messages((cast("JsonObject", value),))[0]
    raise TypeError(f"a {kind.__name__} cannot be made of {type(value).__name__}")


def _set(record: Struct, field: str, value: Any) -> None:
    """Set a field that its host gave in another form, while the record is made."""
    if value is not getattr(record, field):
        force_setattr(record, field, value)


class Payload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The root of all payload shapes. A host's own payloads may be any record msgspec can encode."""


class SessionStarted(Payload, frozen=True, kw_only=True):
    """A session that begins."""

    #: Why it begins: startup, resume, clear, compact, fork.
    source: str = "startup"
    #: The model in use.
    model: str | None = None
    #: The kind of the subagent, if this is one.
    agent_type: str | None = None
    #: Its title, if it has one.
    session_title: str | None = None


class SessionEnded(Payload, frozen=True, kw_only=True):
    """A session that ended."""

    #: Why it ended.
    reason: str = "other"
    #: How long it took, in milliseconds.
    duration_ms: int | None = None
    #: What it cost, if the price is known.
    cost_usd: float | None = None
    #: The number of its turns.
    turns: int | None = None
    #: The usage of the session so far.
    totals: Totals | None = None

    def __post_init__(self) -> None:
        _set(self, "totals", totals_given(self.totals))


class SetupRun(Payload, frozen=True, kw_only=True):
    """A setup or maintenance of the agent."""

    #: init or maintenance.
    trigger: str = "init"


class Prompt(Payload, frozen=True, kw_only=True):
    """A message of the user."""

    #: The text of the prompt.
    prompt: str
    #: Where it comes from, if not from the keyboard.
    source: str | None = None


class PromptExpansion(Payload, frozen=True, kw_only=True):
    """A command that the user typed, and the prompt that it became."""

    #: The command.
    command_name: str
    #: The text of the prompt.
    prompt: str
    #: The kind of command.
    expansion_type: str = "slash_command"
    #: The text after it.
    command_args: str = ""
    #: Where the command is defined.
    command_source: str | None = None


class TurnBegun(Payload, frozen=True, kw_only=True):
    """A turn that begins."""

    #: The number of the turn, from 1.
    turn: int = 1
    #: The text of the prompt.
    prompt: str | None = None
    #: Duration of the session so far.
    session_ms: int | None = None
    #: The usage of the session so far.
    totals: Totals | None = None

    def __post_init__(self) -> None:
        _set(self, "totals", totals_given(self.totals))


class ModelRequest(Payload, frozen=True, kw_only=True):
    """A request to the model."""

    #: The model in use.
    model: str | None = None
    #: The messages of the conversation.
    messages: tuple[AnyMessage, ...] = ()
    #: Text that earlier hooks added to this one request; it is not among the messages.
    transient: tuple[str, ...] = ()
    #: The number of the request in the turn, from 1.
    iteration: int = 1
    #: The number of the turn, from 1.
    turn: int = 1

    def __post_init__(self) -> None:
        force_setattr(self, "messages", shown_messages(self.messages))


class ModelResponse(Payload, frozen=True, kw_only=True):
    """An answer of the model."""

    #: The model in use.
    model: str | None = None
    #: Its text.
    response: str = ""
    #: The text of its reasoning, if it is known.
    reasoning: str | None = None
    #: The calls that the model makes.
    tool_calls: tuple[ToolUse, ...] = ()
    #: The tokens used.
    usage: Usage | None = None
    #: What it cost, if the price is known.
    cost_usd: float | None = None
    #: How long it took, in milliseconds.
    duration_ms: int | None = None
    #: The messages of the request that this answers.
    messages: tuple[AnyMessage, ...] = ()
    #: The number of the request in the turn, from 1.
    iteration: int = 1
    #: The number of the turn, from 1.
    turn: int = 1

    def __post_init__(self) -> None:
        _set(self, "usage", usage_of(self.usage))
        force_setattr(self, "messages", shown_messages(self.messages))
        force_setattr(self, "tool_calls", tool_uses(self.tool_calls))


class ToolCall(Payload, frozen=True, kw_only=True):
    """A call of a tool."""

    #: The name of the tool.
    tool_name: str
    #: The arguments of the call.
    tool_input: JsonObject = {}
    #: The id of the call.
    tool_use_id: str | None = None
    #: The kind of tool, if the agent has kinds.
    tool_category: str | None = None
    #: The MCP server of the tool, if it has one.
    mcp_server: JsonObject | None = None
    #: The call as the agent made it, where the hook sees a translation: `agent`, `tool_name`, `tool_input`.
    original_call: JsonObject | None = None


class PermissionAsked(ToolCall, frozen=True, kw_only=True):
    """A call that needs permission."""

    #: Rules that the user might want.
    permission_suggestions: tuple[JsonObject, ...] = ()


class PermissionRefused(ToolCall, frozen=True, kw_only=True):
    """A call that was denied."""

    #: Why.
    reason: str = ""


class ToolResult(ToolCall, frozen=True, kw_only=True):
    """A call with its result."""

    #: What the tool returned.
    tool_response: Any = None
    #: How long it took, in milliseconds.
    duration_ms: int | None = None


class ToolFailure(ToolCall, frozen=True, kw_only=True):
    """A call that failed."""

    #: The text of the error.
    error: str = ""
    #: True if the user ended it.
    is_interrupt: bool = False
    #: The exit status of a command.
    exit_code: int | None = None
    #: How long it took, in milliseconds.
    duration_ms: int | None = None


class BatchedCall(Struct, frozen=True, kw_only=True):
    """One call of a batch, with the text that the model gets for it."""

    #: The name of the tool.
    tool_name: str
    #: The arguments of the call.
    tool_input: JsonObject = {}
    #: The id of the call.
    tool_use_id: str | None = None
    #: What the tool returned.
    tool_response: Any = UNSET


class ToolBatch(Payload, frozen=True, kw_only=True):
    """All calls of one answer."""

    #: The calls, with their results.
    tool_calls: tuple[BatchedCall, ...] = ()


class ToolSelection(Payload, frozen=True, kw_only=True):
    """The tools that the model is offered."""

    #: Their names.
    tools: tuple[str, ...] = ()
    #: The model in use.
    model: str | None = None
    #: The messages of the conversation.
    messages: tuple[AnyMessage, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "messages", shown_messages(self.messages))


class ShellStart(Payload, frozen=True, kw_only=True):
    """A shell command that is about to start."""

    #: The name of the tool.
    tool_name: str
    #: The command.
    command: str = ""
    #: The arguments of the call.
    tool_input: JsonObject = {}


class ExecStarted(Payload, frozen=True, kw_only=True):
    """A program that is about to be executed."""

    #: The program's name; `path` is its file.
    program: str
    #: Its words.
    argv: tuple[str, ...] = ()
    #: Its file.
    path: str = ""
    #: The directory in which it starts.
    directory: str = ""
    #: The line of the tool call that it belongs to.
    command: str = ""
    #: The name of the tool.
    tool_name: str = ""
    #: The id of the call.
    tool_use_id: str | None = None


class TurnAnswer(Payload, frozen=True, kw_only=True):
    """The answer of a turn that is about to end."""

    #: The last answer of the model.
    last_assistant_message: str = ""
    #: The number of the turn, from 1.
    turn: int = 1
    #: True if a hook has sent the model back in this turn.
    stop_hook_active: bool = False


class TurnSummary(Payload, frozen=True, kw_only=True):
    """A turn that is over."""

    #: completed, blocked, failed, interrupted or max_iterations.
    status: str = "completed"
    #: The id of the turn.
    turn_id: str | None = None
    #: The number of the turn, from 1.
    turn: int = 1
    #: Why it failed.
    error: str | None = None
    #: How long it took, in milliseconds.
    duration_ms: int | None = None
    #: The last answer of the model.
    last_assistant_message: str = ""
    #: The tokens used.
    usage: Usage | None = None
    #: The usage of the session so far.
    totals: Totals | None = None
    #: The number of tools that ran.
    tool_count: int | None = None
    #: The number of prompts that wait.
    queued_message_count: int | None = None
    #: True if a hook has sent the model back in this turn.
    stop_hook_active: bool = False

    def __post_init__(self) -> None:
        _set(self, "usage", usage_of(self.usage))
        _set(self, "totals", totals_given(self.totals))


class TurnFailure(Payload, frozen=True, kw_only=True):
    """A turn that a model error ended."""

    #: The kind of error: rate_limit, auth_failed, billing, server, max_tokens, unknown.
    error: str = "unknown"
    #: The text of the error.
    error_details: str | None = None
    #: The last answer of the model.
    last_assistant_message: str = ""


class Interruption(Payload, frozen=True, kw_only=True):
    """A turn that was interrupted."""

    #: The id of the turn.
    turn_id: str | None = None
    #: Who interrupted it.
    reason: str = "user"


class Notice(Payload, frozen=True, kw_only=True):
    """A notice for the user."""

    #: The text.
    message: str
    #: Its title.
    title: str | None = None
    #: Its kind.
    notification_type: str = "info"
    #: How serious it is: info, warning, error.
    level: str = "info"


class RunError(Payload, frozen=True, kw_only=True):
    """An error of the agent."""

    #: The text.
    message: str
    #: Its kind.
    error_type: str = "unknown"
    #: How serious it is: info, warning, error.
    level: str = "error"


class IterationLimit(Payload, frozen=True, kw_only=True):
    """A turn that reached its limit."""

    #: The text.
    message: str = ""
    #: The limit.
    max_iterations: int = 0
    #: How serious it is: info, warning, error.
    level: str = "warning"


class InputAwaited(Payload, frozen=True, kw_only=True):
    """An agent that waits for the user."""

    #: idle, permission or question.
    reason: str = "idle"
    #: The text.
    message: str | None = None


class SubagentBegun(Payload, frozen=True, kw_only=True):
    """A subagent that starts."""

    #: The id of the subagent.
    agent_id: str
    #: Its kind.
    agent_type: str = "general"
    #: What it is for.
    description: str = ""
    #: Its task.
    prompt: str = ""


class SubagentEnded(Payload, frozen=True, kw_only=True):
    """A subagent that is about to finish."""

    #: The id of the subagent.
    agent_id: str
    #: Its kind.
    agent_type: str = "general"
    #: completed, failed or interrupted.
    status: str = "completed"
    #: The last answer of the model.
    last_assistant_message: str = ""
    #: The file with its transcript.
    agent_transcript_path: str | None = None
    #: True if a hook has sent the model back in this turn.
    stop_hook_active: bool = False


class TaskNote(Payload, frozen=True, kw_only=True):
    """A background task."""

    #: Its id.
    task_id: str
    #: Its title.
    task_subject: str = ""
    #: What it does.
    task_description: str = ""
    #: Its state.
    status: str | None = None


class ConfigEdit(Payload, frozen=True, kw_only=True):
    """A configuration file that changed."""

    #: Whose file it is.
    source: str
    #: The file.
    file_path: str | None = None


class InstructionFile(Payload, frozen=True, kw_only=True):
    """An instruction file that enters the context."""

    #: The file.
    file_path: str
    #: Why it is loaded.
    load_reason: str = "session_start"
    #: Whose file it is.
    memory_type: str = "Project"
    #: The patterns of files that it is about.
    globs: tuple[str, ...] = ()
    #: The file that caused it.
    trigger_file_path: str | None = None
    #: The file that includes it.
    parent_file_path: str | None = None


class CwdMove(Payload, frozen=True, kw_only=True):
    """A change of the working directory."""

    #: The directory before.
    old_cwd: str
    #: The directory now.
    new_cwd: str


class FileEdit(Payload, frozen=True, kw_only=True):
    """A watched file that changed."""

    #: The file.
    file_path: str
    #: add, change or unlink.
    event: str = "change"

    @property
    def file_name(self) -> str:
        """The base name, which is what matchers test."""
        return self.file_path.rstrip("/").rsplit("/", 1)[-1]


class ModeMove(Payload, frozen=True, kw_only=True):
    """A change of the permission mode."""

    #: The mode before.
    old_mode: str
    #: The mode now.
    new_mode: str


class Compaction(Payload, frozen=True, kw_only=True):
    """A conversation that is about to be compacted."""

    #: auto or manual.
    trigger: str = "auto"
    #: Instructions for the summary.
    custom_instructions: str | None = None
    #: The tokens of the conversation.
    input_tokens: int | None = None
    #: The limit that it reached.
    context_limit: int | None = None


class Compacted(Payload, frozen=True, kw_only=True):
    """A conversation that was compacted."""

    #: auto or manual.
    trigger: str = "auto"
    #: The summary.
    compact_summary: str = ""


class WorktreeWanted(Payload, frozen=True, kw_only=True):
    """A worktree that is to be made."""

    #: Its name.
    name: str


class WorktreeGone(Payload, frozen=True, kw_only=True):
    """A worktree that is to be removed."""

    #: Its directory.
    worktree_path: str


class ShownMessage(Payload, frozen=True, kw_only=True):
    """Text of the model that is about to be shown."""

    #: The id of the turn.
    turn_id: str | None = None
    #: The id of the message.
    message_id: str = ""
    #: The text.
    delta: str = ""
    #: The number of the piece.
    index: int = 0
    #: True if it is the last piece.
    final: bool = False


class ModelMove(Payload, frozen=True, kw_only=True):
    """A move to another model."""

    #: The model before.
    from_model: str
    #: The model after.
    to_model: str
    #: Who asked for it.
    source: str = "command"
    #: The name that was asked for.
    requested_model: str | None = None


class AgentMove(Payload, frozen=True, kw_only=True):
    """Another agent that took over."""

    #: The agent before.
    from_agent: str
    #: The agent now.
    to_agent: str
    #: How it took over.
    agent_switch_kind: str = "handoff"


class DirectoryNote(Payload, frozen=True, kw_only=True):
    """A directory that was added to the session."""

    #: The directory.
    directory: str
    #: Who added it.
    source: str = "slash_command"


class ElicitationRequest(Payload, frozen=True, kw_only=True):
    """A question of an MCP server for the user."""

    #: The MCP server.
    mcp_server_name: str
    #: The text.
    message: str = ""
    #: form or url.
    mode: str = "form"
    #: The page to open.
    url: str | None = None
    #: The id of the question.
    elicitation_id: str | None = None
    #: The JSON Schema of the answer.
    requested_schema: JsonObject | None = None


class QuestionAnswer(Payload, frozen=True, kw_only=True):
    """The user's answer to an MCP server."""

    #: The MCP server.
    mcp_server_name: str
    #: accept, decline or cancel.
    action: str = "accept"
    #: form or url.
    mode: str = "form"
    #: The answer.
    content: JsonObject | None = None
    #: The id of the question.
    elicitation_id: str | None = None


class Teammate(Payload, frozen=True, kw_only=True):
    """A team member that is about to idle."""

    #: Its name.
    teammate_name: str
    #: The name of the team.
    team_name: str | None = None
