"""Define the event table: one row per event, facts only. Everything that knows events is derived from it.

A new event with an existing payload shape costs one row here, one call site and one changelog line.
"""

import enum
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, cast

from msgspec import Struct

from hookline.model import payloads as p

P = TypeVar("P")


class Capability(enum.Flag):
    """Capabilities of hooks at an event."""

    NOTHING = 0
    BLOCK = enum.auto()
    PERMIT = enum.auto()
    REWRITE = enum.auto()
    CONTEXT = enum.auto()
    STOP = enum.auto()
    RULES = enum.auto()
    WATCH = enum.auto()
    SEED = enum.auto()
    RETRY = enum.auto()
    ENV = enum.auto()
    ANSWER = enum.auto()


class EventSpec(Struct, Generic[P], frozen=True, eq=False):
    """One event in an agent's work."""

    name: str
    payload: type[P]
    #: The time it fires, as the rest of a sentence that begins with "Fires ".
    fires: str
    may: Capability = Capability.NOTHING
    #: The payload field a rewrite replaces.
    rewrites: str | None = None
    #: The payload field a matcher tests, and every value it can have when the set is closed.
    subject: str | None = None
    subjects: tuple[str, ...] = ()
    #: The meaning of a hook's `answer`, where hooks may supply one.
    answer: str | None = None
    #: A guard: its hooks exist to stop an action, so natively they fail closed.
    guard: bool = False
    #: The count of a session that this event resets or increments.
    ticks: Literal["turn", "call"] | None = None
    #: It fires so often that a hook has to say which subjects it is about.
    needs_matcher: bool = False
    since: str = "0.1"
    #: Declared so that hooks and hosts can use it; nothing in Hookline fires it yet.
    declared_only: bool = False
    #: Its hooks may be asked about what a call does to files, too, whatever its tool is called.
    follows: bool = False


SESSION_SOURCES = ("startup", "resume", "clear", "compact", "fork")
ERROR_TYPES = ("rate_limit", "auth_failed", "billing", "server", "max_tokens", "unknown")
COMPACT_TRIGGERS = ("manual", "auto")
SWITCH_SOURCES = ("command", "picker", "sdk", "auto", "resume")

SESSION_START = EventSpec(
    "SessionStart", p.SessionStarted,
    "when a session begins, resumes, or starts anew after clear or compaction, before its first prompt.",
    Capability.CONTEXT | Capability.WATCH | Capability.SEED, subject="source", subjects=SESSION_SOURCES,
)  # fmt: skip
SESSION_END = EventSpec(
    "SessionEnd", p.SessionEnded, "once when a session ends, also on interruption.",
    subject="reason", subjects=("clear", "resume", "logout", "prompt_input_exit", "other"),
)  # fmt: skip
SETUP = EventSpec(
    "Setup", p.SetupRun, "before SessionStart when the agent is being set up or maintained.",
    Capability.CONTEXT, subject="trigger", subjects=("init", "maintenance"),
)  # fmt: skip
USER_PROMPT_SUBMIT = EventSpec(
    "UserPromptSubmit", p.Prompt,
    "when the user submits a message, before anything else sees its text.",
    Capability.BLOCK | Capability.REWRITE | Capability.CONTEXT | Capability.STOP, rewrites="prompt", guard=True,
)  # fmt: skip
TURN_START = EventSpec(
    "TurnStart", p.TurnBegun, "once per user turn, before its message is stored.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP, ticks="turn",
)  # fmt: skip
PRE_MODEL_CALL = EventSpec(
    "PreModelCall", p.ModelRequest, "before each request to the model.",
    Capability.BLOCK | Capability.REWRITE | Capability.CONTEXT | Capability.STOP, rewrites="messages",
)  # fmt: skip
POST_MODEL_CALL = EventSpec(
    "PostModelCall", p.ModelResponse, "after the model answered, before the answer is stored.",
    Capability.REWRITE | Capability.STOP, rewrites="response",
)  # fmt: skip
PRE_TOOL_USE = EventSpec(
    "PreToolUse", p.ToolCall,
    "before a tool runs, once per call, only for a tool that exists with arguments that fit.",
    Capability.BLOCK | Capability.PERMIT | Capability.REWRITE | Capability.CONTEXT | Capability.STOP,
    rewrites="tool_input", subject="tool_name", guard=True, follows=True, ticks="call",
)  # fmt: skip
PERMISSION_REQUEST = EventSpec(
    "PermissionRequest", p.PermissionAsked, "when a call needs permission, before the user is asked.",
    Capability.BLOCK | Capability.PERMIT | Capability.REWRITE | Capability.CONTEXT | Capability.STOP | Capability.RULES,
    rewrites="tool_input", subject="tool_name", guard=True, follows=True,
)  # fmt: skip
PERMISSION_DENIED = EventSpec(
    "PermissionDenied", p.PermissionRefused, "after a call was denied by the user or by a rule.",
    Capability.RETRY | Capability.CONTEXT, subject="tool_name",
)  # fmt: skip
POST_TOOL_USE = EventSpec(
    "PostToolUse", p.ToolResult, "after a tool succeeded, before the model sees its result.",
    Capability.BLOCK | Capability.REWRITE | Capability.CONTEXT | Capability.STOP, rewrites="tool_response",
    subject="tool_name", follows=True,
)  # fmt: skip
POST_TOOL_USE_FAILURE = EventSpec(
    "PostToolUseFailure", p.ToolFailure, "after a tool that started failed.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP, subject="tool_name",
)  # fmt: skip
SHELL_ENV = EventSpec(
    "ShellEnv", p.ShellStart, "before a shell command starts, to add to its environment.",
    Capability.ENV, subject="tool_name",
)  # fmt: skip
EXEC_START = EventSpec(
    "ExecStart", p.ExecStarted,
    "when a process of a guarded shell command is about to execute a program; hooks of it need a matcher.",
    Capability.BLOCK | Capability.PERMIT, subject="program", guard=True, needs_matcher=True,
)  # fmt: skip
TURN_END = EventSpec(
    "TurnEnd", p.TurnAnswer,
    "when the answer is there and the turn not yet over; a block sends the agent back, and it fires again.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP,
)  # fmt: skip
STOP = EventSpec(
    "Stop", p.TurnAnswer, "when a turn is about to end, after TurnEnd passed.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP,
)  # fmt: skip
TURN_SETTLED = EventSpec(
    "TurnSettled", p.TurnSummary,
    "once per turn on every way out, after history, usage and queue are settled, "
    "before a queued message is sent.",
    subject="status", subjects=("completed", "blocked", "failed", "interrupted", "max_iterations"),
)  # fmt: skip
STOP_FAILURE = EventSpec(
    "StopFailure", p.TurnFailure, "instead of Stop when a model error ended the turn.",
    subject="error", subjects=ERROR_TYPES,
)  # fmt: skip
INTERRUPT = EventSpec(
    "Interrupt", p.Interruption, "when the user interrupts a turn; Stop does not fire then.",
    declared_only=True,
)  # fmt: skip
ERROR = EventSpec(
    "Error", p.RunError, "when the agent meets an error: the model failed, a tool call loops.",
)  # fmt: skip
MAX_ITERATIONS = EventSpec(
    "MaxIterations", p.IterationLimit, "when a turn reaches the limit of model calls or tool calls.",
)  # fmt: skip
NOTIFICATION = EventSpec(
    "Notification", p.Notice, "when the agent tells the user something.",
    Capability.CONTEXT, subject="notification_type",
)  # fmt: skip
USER_INPUT_WAITING = EventSpec(
    "UserInputWaiting", p.InputAwaited, "when the agent starts waiting for the user.",
    subject="reason", subjects=("idle", "permission", "question"),
)  # fmt: skip
SUBAGENT_START = EventSpec(
    "SubagentStart", p.SubagentBegun, "when a subagent starts.",
    Capability.CONTEXT, subject="agent_type",
)  # fmt: skip
SUBAGENT_STOP = EventSpec(
    "SubagentStop", p.SubagentEnded, "when a subagent is about to finish; a block keeps it going.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP, subject="agent_type",
)  # fmt: skip
TASK_CREATED = EventSpec(
    "TaskCreated", p.TaskNote, "when a background task is registered.", Capability.BLOCK,
)  # fmt: skip
TASK_COMPLETED = EventSpec(
    "TaskCompleted", p.TaskNote, "when a background task finishes.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP,
)  # fmt: skip
CONFIG_CHANGE = EventSpec(
    "ConfigChange", p.ConfigEdit, "when a configuration file changed, before it is applied.",
    Capability.BLOCK, subject="source", subjects=("user_settings", "project_settings", "local_settings"),
)  # fmt: skip
INSTRUCTIONS_LOADED = EventSpec(
    "InstructionsLoaded", p.InstructionFile, "when an instruction file enters the context.",
    subject="load_reason",
    subjects=("session_start", "nested_traversal", "path_glob_match", "include", "compact"),
)  # fmt: skip
CWD_CHANGED = EventSpec(
    "CwdChanged", p.CwdMove, "when the working directory changed.", Capability.WATCH,
)  # fmt: skip
FILE_CHANGED = EventSpec(
    "FileChanged", p.FileEdit, "when a watched file was added, changed or removed.",
    Capability.WATCH, subject="file_name",
)  # fmt: skip
MODE_CHANGED = EventSpec(
    "ModeChanged", p.ModeMove, "when the permission mode changed.", subject="new_mode",
)  # fmt: skip
PRE_COMPACT = EventSpec(
    "PreCompact", p.Compaction, "before the conversation is compacted.",
    Capability.BLOCK | Capability.CONTEXT | Capability.ANSWER, subject="trigger", subjects=COMPACT_TRIGGERS,
    answer="the summary to use instead of asking the model",
)  # fmt: skip
POST_COMPACT = EventSpec(
    "PostCompact", p.Compacted, "after the conversation was compacted.",
    Capability.CONTEXT, subject="trigger", subjects=COMPACT_TRIGGERS,
)  # fmt: skip
WORKTREE_CREATE = EventSpec(
    "WorktreeCreate", p.WorktreeWanted, "when a worktree is to be made.",
    Capability.BLOCK | Capability.CONTEXT | Capability.ANSWER, subject="name",
    answer="the path of the worktree the hook made",
)  # fmt: skip
WORKTREE_REMOVE = EventSpec(
    "WorktreeRemove", p.WorktreeGone, "when a worktree is to be removed.", subject="worktree_path",
)  # fmt: skip

USER_PROMPT_EXPANSION = EventSpec(
    "UserPromptExpansion", p.PromptExpansion, "when a typed command expands to a prompt.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP, subject="command_name",
)  # fmt: skip
POST_TOOL_BATCH = EventSpec(
    "PostToolBatch", p.ToolBatch, "after all calls of one model message are done.",
    Capability.BLOCK | Capability.CONTEXT | Capability.STOP,
)  # fmt: skip
PRE_TOOL_SELECTION = EventSpec(
    "PreToolSelection", p.ToolSelection, "before the model is offered its tools.",
    Capability.ANSWER, answer="the names of the tools to offer",
)  # fmt: skip
MESSAGE_DISPLAY = EventSpec(
    "MessageDisplay", p.ShownMessage, "when assistant text is about to be shown.",
    Capability.ANSWER, answer="the text to show instead",
)  # fmt: skip
PRE_MODEL_SWITCH = EventSpec(
    "PreModelSwitch", p.ModelMove, "before the session moves to another model.",
    Capability.BLOCK | Capability.PERMIT, subject="source", subjects=SWITCH_SOURCES,
)  # fmt: skip
POST_MODEL_SWITCH = EventSpec(
    "PostModelSwitch", p.ModelMove, "after the session moved to another model.",
    Capability.CONTEXT, subject="source", subjects=SWITCH_SOURCES,
)  # fmt: skip
AGENT_SWITCHED = EventSpec(
    "AgentSwitched", p.AgentMove, "after another agent took over the session.",
    subject="to_agent", declared_only=True,
)  # fmt: skip
DIRECTORY_ADDED = EventSpec(
    "DirectoryAdded", p.DirectoryNote, "when a directory was added to the session.",
    Capability.CONTEXT, subject="source",
)  # fmt: skip
ELICITATION = EventSpec(
    "Elicitation", p.ElicitationRequest, "when an MCP server asks the user something.",
    Capability.BLOCK | Capability.ANSWER, subject="mcp_server_name",
    answer="an object with action (accept, decline, cancel) and content",
)  # fmt: skip
ELICITATION_RESULT = EventSpec(
    "ElicitationResult", p.QuestionAnswer, "before the user's answer goes back to the MCP server.",
    Capability.BLOCK | Capability.ANSWER, subject="mcp_server_name",
    answer="an object with action (accept, decline, cancel) and content",
)  # fmt: skip
TEAMMATE_IDLE = EventSpec(
    "TeammateIdle", p.Teammate, "when a team member is about to idle; a block keeps it going.",
    Capability.BLOCK | Capability.STOP, declared_only=True,
)  # fmt: skip


def event_table(rows: Iterable[EventSpec[Any]]) -> Mapping[str, EventSpec[Any]]:
    """Return rows by name, in their order. A name that occurs twice raises ValueError."""
    table: dict[str, EventSpec[Any]] = {}
    for row in rows:
        if row.name in table:
            raise ValueError(f"event {row.name!r} is declared twice")
        table[row.name] = row
    return MappingProxyType(table)


#: Every row above, in reading order.
EVENTS: Mapping[str, EventSpec[Any]] = event_table(
    cast("EventSpec[Any]", value) for value in list(globals().values()) if isinstance(value, EventSpec)
)


def field_of(payload: Any, name: str) -> Any:
    """Return the field, or None where the payload has none."""
    # Most payloads are records, and asking whether something is a mapping costs ten times as much.
    if not isinstance(payload, Struct) and isinstance(payload, Mapping):
        return cast("Mapping[str, Any]", payload).get(name)
    return getattr(payload, name, None)


def fields_of(payload: Any) -> tuple[str, ...]:
    """Return the names of the fields that a payload has."""
    if isinstance(payload, Mapping):
        return tuple(map(str, cast("Mapping[Any, Any]", payload)))
    names: Any = getattr(payload, "__struct_fields__", None) or getattr(payload, "__annotations__", None)
    return tuple(names or ())


def knows(event: EventSpec[Any], *names: str) -> bool:
    """Return True if payloads of this event can have one of these fields, or if their shape is not declared."""
    shape: Any = event.payload
    declared: Any = getattr(shape, "__struct_fields__", None) or getattr(shape, "__annotations__", None)
    return not declared or any(name in declared for name in names)


def event_label(own: str, *names: str) -> str:
    """Return an event's name in its format, with Hookline's in brackets where that differs."""
    others = [name for name in names if name != own]
    return f"{own} [{', '.join(others)}]" if others else own


def subject_of(event: EventSpec[Any], payload: Any) -> str | None:
    """Return the text that a matcher tests; None where the event has no subject or the payload has none."""
    value = field_of(payload, event.subject) if event.subject else None
    return value if isinstance(value, str) else None
