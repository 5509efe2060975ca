"""What is known at each moment: one frozen record per payload shape.

Field names are the keys of the native wire. A field left at its default is not sent.
"""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import UNSET, Struct
from msgspec.structs import force_setattr

from hookline.model.messages import AnyMessage, ToolUse, shown_messages, tool_uses
from hookline.model.usage import Totals, Usage, totals_given, usage_of

JsonObject = Mapping[str, Any]


def plain_value(value: Any) -> Any:
    """An object that msgspec does not know, in values that it knows: for `enc_hook` wherever payloads are encoded.

    Tools give pydantic models; they are known by their method, so pydantic is not needed for it.
    """
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json")
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def read_value(kind: type, value: Any) -> Any:
    """A value that msgspec cannot make of JSON: for `dec_hook` wherever payloads are read."""
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
    source: str = "startup"
    model: str | None = None
    agent_type: str | None = None
    session_title: str | None = None


class SessionEnded(Payload, frozen=True, kw_only=True):
    reason: str = "other"
    duration_ms: int | None = None
    cost_usd: float | None = None
    turns: int | None = None
    totals: Totals | None = None

    def __post_init__(self) -> None:
        _set(self, "totals", totals_given(self.totals))


class SetupRun(Payload, frozen=True, kw_only=True):
    trigger: str = "init"


class Prompt(Payload, frozen=True, kw_only=True):
    prompt: str
    source: str | None = None


class PromptExpansion(Payload, frozen=True, kw_only=True):
    command_name: str
    prompt: str
    expansion_type: str = "slash_command"
    command_args: str = ""
    command_source: str | None = None


class TurnBegun(Payload, frozen=True, kw_only=True):
    turn: int = 1
    prompt: str | None = None
    #: How long the session is so far.
    session_ms: int | None = None
    totals: Totals | None = None

    def __post_init__(self) -> None:
        _set(self, "totals", totals_given(self.totals))


class ModelRequest(Payload, frozen=True, kw_only=True):
    model: str | None = None
    messages: tuple[AnyMessage, ...] = ()
    #: Text that hooks before have added to this one request; it is not among the messages.
    transient: tuple[str, ...] = ()
    iteration: int = 1
    turn: int = 1

    def __post_init__(self) -> None:
        force_setattr(self, "messages", shown_messages(self.messages))


class ModelResponse(Payload, frozen=True, kw_only=True):
    model: str | None = None
    response: str = ""
    reasoning: str | None = None
    tool_calls: tuple[ToolUse, ...] = ()
    usage: Usage | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    #: The messages of the request that this answers.
    messages: tuple[AnyMessage, ...] = ()
    iteration: int = 1
    turn: int = 1

    def __post_init__(self) -> None:
        _set(self, "usage", usage_of(self.usage))
        force_setattr(self, "messages", shown_messages(self.messages))
        force_setattr(self, "tool_calls", tool_uses(self.tool_calls))


class ToolCall(Payload, frozen=True, kw_only=True):
    tool_name: str
    tool_input: JsonObject = {}
    tool_use_id: str | None = None
    tool_category: str | None = None
    mcp_server: JsonObject | None = None
    #: The call as the agent made it, where it is told under another name: `agent`, `tool_name`, `tool_input`.
    called_as: JsonObject | None = None


class PermissionAsked(ToolCall, frozen=True, kw_only=True):
    permission_suggestions: tuple[JsonObject, ...] = ()


class PermissionRefused(ToolCall, frozen=True, kw_only=True):
    reason: str = ""


class ToolResult(ToolCall, frozen=True, kw_only=True):
    tool_response: Any = None
    duration_ms: int | None = None


class ToolFailure(ToolCall, frozen=True, kw_only=True):
    error: str = ""
    is_interrupt: bool = False
    exit_code: int | None = None
    duration_ms: int | None = None


class BatchedCall(Struct, frozen=True, kw_only=True):
    """One call of a batch, with the text that the model gets for it."""

    tool_name: str
    tool_input: JsonObject = {}
    tool_use_id: str | None = None
    tool_response: Any = UNSET


class ToolBatch(Payload, frozen=True, kw_only=True):
    tool_calls: tuple[BatchedCall, ...] = ()


class ToolSelection(Payload, frozen=True, kw_only=True):
    tools: tuple[str, ...] = ()
    model: str | None = None
    messages: tuple[AnyMessage, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "messages", shown_messages(self.messages))


class ShellStart(Payload, frozen=True, kw_only=True):
    tool_name: str
    command: str = ""
    tool_input: JsonObject = {}


class TurnAnswer(Payload, frozen=True, kw_only=True):
    last_assistant_message: str = ""
    turn: int = 1
    stop_hook_active: bool = False


class TurnSummary(Payload, frozen=True, kw_only=True):
    status: str = "completed"
    turn_id: str | None = None
    turn: int = 1
    error: str | None = None
    duration_ms: int | None = None
    last_assistant_message: str = ""
    usage: Usage | None = None
    totals: Totals | None = None
    tool_count: int | None = None
    queued_message_count: int | None = None
    stop_hook_active: bool = False

    def __post_init__(self) -> None:
        _set(self, "usage", usage_of(self.usage))
        _set(self, "totals", totals_given(self.totals))


class TurnFailure(Payload, frozen=True, kw_only=True):
    error: str = "unknown"
    error_details: str | None = None
    last_assistant_message: str = ""


class Notice(Payload, frozen=True, kw_only=True):
    message: str
    title: str | None = None
    notification_type: str = "info"
    level: str = "info"


class RunError(Payload, frozen=True, kw_only=True):
    message: str
    error_type: str = "unknown"
    level: str = "error"


class IterationLimit(Payload, frozen=True, kw_only=True):
    message: str = ""
    max_iterations: int = 0
    level: str = "warning"


class InputAwaited(Payload, frozen=True, kw_only=True):
    reason: str = "idle"
    message: str | None = None


class SubagentBegun(Payload, frozen=True, kw_only=True):
    agent_id: str
    agent_type: str = "general"
    description: str = ""
    prompt: str = ""


class SubagentEnded(Payload, frozen=True, kw_only=True):
    agent_id: str
    agent_type: str = "general"
    status: str = "completed"
    last_assistant_message: str = ""
    agent_transcript_path: str | None = None
    stop_hook_active: bool = False


class TaskNote(Payload, frozen=True, kw_only=True):
    task_id: str
    task_subject: str = ""
    task_description: str = ""
    status: str | None = None


class ConfigEdit(Payload, frozen=True, kw_only=True):
    source: str
    file_path: str | None = None


class InstructionFile(Payload, frozen=True, kw_only=True):
    file_path: str
    load_reason: str = "session_start"
    memory_type: str = "Project"
    globs: tuple[str, ...] = ()
    trigger_file_path: str | None = None
    parent_file_path: str | None = None


class CwdMove(Payload, frozen=True, kw_only=True):
    old_cwd: str
    new_cwd: str


class FileEdit(Payload, frozen=True, kw_only=True):
    file_path: str
    event: str = "change"

    @property
    def file_name(self) -> str:
        """The base name, which is what matchers test."""
        return self.file_path.rstrip("/").rsplit("/", 1)[-1]


class ModeMove(Payload, frozen=True, kw_only=True):
    old_mode: str
    new_mode: str


class Compaction(Payload, frozen=True, kw_only=True):
    trigger: str = "auto"
    custom_instructions: str | None = None
    input_tokens: int | None = None
    context_limit: int | None = None


class Compacted(Payload, frozen=True, kw_only=True):
    trigger: str = "auto"
    compact_summary: str = ""


class WorktreeWanted(Payload, frozen=True, kw_only=True):
    name: str


class WorktreeGone(Payload, frozen=True, kw_only=True):
    worktree_path: str


class ShownMessage(Payload, frozen=True, kw_only=True):
    turn_id: str | None = None
    message_id: str = ""
    delta: str = ""
    index: int = 0
    final: bool = False


class ModelMove(Payload, frozen=True, kw_only=True):
    from_model: str
    to_model: str
    source: str = "command"
    requested_model: str | None = None


class AgentMove(Payload, frozen=True, kw_only=True):
    from_agent: str
    to_agent: str
    agent_switch_kind: str = "handoff"


class DirectoryNote(Payload, frozen=True, kw_only=True):
    directory: str
    source: str = "slash_command"


class Question(Payload, frozen=True, kw_only=True):
    mcp_server_name: str
    message: str = ""
    mode: str = "form"
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: JsonObject | None = None


class QuestionAnswer(Payload, frozen=True, kw_only=True):
    mcp_server_name: str
    action: str = "accept"
    mode: str = "form"
    content: JsonObject | None = None
    elicitation_id: str | None = None


class Teammate(Payload, frozen=True, kw_only=True):
    teammate_name: str
    team_name: str | None = None
