"""Payloads in Docker Agent's own shape: which key says what at which event, both ways."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct

#: Every key in the order it is written, after the three that are always there.
KEYS = (
    "agent_name", "model_id", "iteration", "last_user_message", "tool_category", "tool_name", "tool_use_id",
    "tool_input", "tool_read_only", "safety_policy", "tool_response", "tool_error", "messages", "source",
    "reason", "stop_response", "prompt", "steering_messages", "parent_session_id", "notification_level",
    "notification_message", "from_agent", "to_agent", "agent_switch_kind", "from_agent_models",
    "previous_max_iterations", "new_max_iterations", "approval_decision", "approval_source", "safety_label",
    "usage", "cost", "input_tokens", "output_tokens", "context_limit", "compaction_reason", "summary",
    "worktree_path", "worktree_branch", "worktree_source_dir",
)  # fmt: skip
#: Said even when it is nothing: a call that cost 0 was free, one without a cost has no price.
SAID_WHEN_ZERO = frozenset({"cost"})

Change = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


class Field(Struct, frozen=True):
    """One key of a payload: the field it is told from, and how a value changes on each way."""

    key: str
    field: str
    tell: Change = _same
    back: Change = _same


def _words(there: Mapping[str, str], back: Mapping[str, str] | None = None) -> tuple[Change, Change]:
    """Words that differ; every other word stays as it is."""
    reverse = back if back is not None else {value: key for key, value in there.items()}
    return _exchanged(there), _exchanged(reverse)


def _exchanged(words: Mapping[str, str]) -> Change:
    """What is no text stays too: whoever needs a text there says so."""
    return lambda word: words.get(word, word) if isinstance(word, str) else word


def _always(value: Any, back: Any = None) -> tuple[Change, Change]:
    return (lambda _: value), (lambda _: back)


def _one_message(prompt: Any) -> Any:
    return [prompt] if prompt else []


def _joined(messages: Any) -> Any:
    return "\n".join(map(str, cast("list[Any]", messages))) if isinstance(messages, list) else messages


_ENDINGS = _words(
    {
        "completed": "normal",
        "blocked": "hook_blocked",
        "failed": "error",
        "interrupted": "canceled",
        "max_iterations": "normal",
    },
    {
        "normal": "completed",
        "continue": "completed",
        "steered": "completed",
        "hook_blocked": "blocked",
        "error": "failed",
        "canceled": "interrupted",
        "loop_detected": "failed",
    },
)
_COMPACTION = _words({"auto": "threshold"}, {"threshold": "auto", "overflow": "auto"})
_TRIGGERS = _words({}, {"overflow": "auto", "tool_overflow": "auto"})
_SOURCES = _words({"fork": "startup"}, {})
_CLOSINGS = _words({"resume": "other"}, {})

_TOOL = (
    Field("tool_category", "tool_category"),
    Field("tool_name", "tool_name"),
    Field("tool_use_id", "tool_use_id"),
    Field("tool_input", "tool_input"),
)
_RESULT = (*_TOOL, Field("tool_response", "tool_response"))
_NOTICE = Field("notification_message", "message")

#: By its own event name. What is not here is told from the scene, or from what the host put into its `extra`.
FIELDS: Mapping[str, tuple[Field, ...]] = {
    "session_start": (Field("source", "source", *_SOURCES),),
    "user_prompt_submit": (Field("prompt", "prompt"),),
    "user_steering_messages_submit": (Field("steering_messages", "prompt", _one_message, _joined),),
    "user_followup_submit": (Field("prompt", "prompt"),),
    "turn_start": (),
    "before_llm_call": (
        Field("model_id", "model"),
        Field("iteration", "iteration"),
        Field("messages", "messages"),
    ),
    "after_llm_call": (
        Field("model_id", "model"),
        Field("stop_response", "response"),
        Field("usage", "usage"),
        Field("cost", "cost_usd"),
    ),
    "tool_input_transform": _TOOL,
    "tool_guard": _TOOL,
    "pre_tool_use": _TOOL,
    "permission_request": _TOOL,
    "on_tool_approval_decision": (*_TOOL, Field("approval_decision", "tool_name", *_always("deny"))),
    "tool_response_transform": _RESULT,
    "post_tool_use": _RESULT,
    "stop": (Field("stop_response", "last_assistant_message"),),
    "turn_end": (Field("reason", "status", *_ENDINGS),),
    "subagent_stop": (
        Field("agent_name", "agent_type"),
        Field("stop_response", "last_assistant_message"),
    ),
    "on_user_input": (),
    "notification": (Field("notification_level", "level"), _NOTICE),
    "on_error": (Field("notification_level", "level", *_always("error", "error")), _NOTICE),
    "on_max_iterations": (Field("notification_level", "level", *_always("warning", "warning")), _NOTICE),
    "on_session_resume": (Field("previous_max_iterations", "max_iterations"),),
    "on_agent_switch": (
        Field("from_agent", "from_agent"),
        Field("to_agent", "to_agent"),
        Field("agent_switch_kind", "agent_switch_kind"),
    ),
    "pre_compact": (Field("source", "trigger", *_TRIGGERS),),
    "before_compaction": (
        Field("input_tokens", "input_tokens"),
        Field("context_limit", "context_limit"),
        Field("compaction_reason", "trigger", *_COMPACTION),
    ),
    "after_compaction": (
        Field("compaction_reason", "trigger", *_COMPACTION),
        Field("summary", "compact_summary"),
    ),
    "worktree_create": (Field("worktree_branch", "name"),),
    "session_end": (Field("reason", "reason", *_CLOSINGS),),
}
#: A failed call: its error is the response.
FAILED = (*_TOOL, Field("tool_response", "error"), Field("tool_error", "tool_name", *_always(True)))
