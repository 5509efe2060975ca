"""CodeWhale: the documents of the RFC's four events, and the variables of all of them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.codewhale.events import ROWS
from tests.seams import played as s
from tests.seams.compare import Seam, has, is_count, is_time, or_absent, played, problems

_SHARED = ("session_id", "workspace", "mode", "model", "total_tokens")
#: The keys of the documents, as the RFC and CodeWhale's own page list them.
_DOCUMENTS: Mapping[str, tuple[str, ...]] = {
    "message_submit": ("event", "text", "text_bytes", "text_original_bytes", "text_truncated", *_SHARED),
    "turn_end": (
        "event", "session_id", "workspace", "mode", "created_at", "model_backed", "provider", "billing_surface",
        "model", "turn_id", "status", "error", "duration_ms", "usage", "totals", "tool_count",
        "queued_message_count", "stop_hook_active",
    ),
    "subagent_spawn": ("event", "agent_id", *_SHARED, "prompt_preview", "prompt_truncated"),
    "subagent_complete": ("event", "agent_id", *_SHARED, "result_preview", "result_truncated", "status"),
}  # fmt: skip
_ALIASED = {"SESSION_ID", "TOOL_CALL_ID"}
_DOCUMENTED = {
    row.event_name: frozenset(
        (
            *_DOCUMENTS.get(row.event_name, ()),
            *(f"DEEPSEEK_{name}" for name in row.variables),
            *(f"CODEWHALE_{name}" for name in row.variables if name in _ALIASED),
        )
    )
    for row in ROWS
}


def _write(commands: Mapping[str, str]) -> str:
    entries = (
        f"[[hooks.hooks]]\nevent = {json.dumps(event)}\ncommand = {json.dumps(command)}\n"
        for event, command in commands.items()
    )
    return "\n".join(["[hooks]\nenabled = true\n", *entries])


def _fields(dump: s.Dump) -> dict[str, Any]:
    own = ("DEEPSEEK_", "CODEWHALE_")
    return {**dump.document, **{name: value for name, value in dump.env.items() if name.startswith(own)}}


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    where, project = session.session_id, str(session.project)

    def variables(mode: str, *answers: str, sums: bool = True) -> dict[str, Any]:
        used = s.used(session.kind, *answers)
        tokens, cost = used.total_tokens, used.cost_usd
        found: dict[str, Any] = {
            "DEEPSEEK_SESSION_ID": where,
            "CODEWHALE_SESSION_ID": where,
            "DEEPSEEK_WORKSPACE": project,
            "DEEPSEEK_MODEL": s.MODEL,
            "DEEPSEEK_MODE": mode,
        }
        if sums:
            found["DEEPSEEK_TOTAL_TOKENS"] = or_absent(None if tokens is None else str(tokens))
            found["DEEPSEEK_SESSION_COST"] = or_absent(None if cost is None else f"{cost:.6f}")
        return found

    def shared(mode: str, *answers: str) -> dict[str, Any]:
        tokens = s.used(session.kind, *answers).total_tokens
        return dict(zip(_SHARED, (where, project, mode, s.MODEL, tokens), strict=True))

    def call(name: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
        tool = {"Bash": "bash", "Write": "write", "Agent": "agent"}[s.CALLS[name][0]]
        found = {"DEEPSEEK_TOOL_NAME": tool, "DEEPSEEK_TOOL_CALL_ID": name, "CODEWHALE_TOOL_CALL_ID": name}
        return (
            found
            if args is None
            else {**found, "DEEPSEEK_TOOL_ARGS": json.dumps(args, separators=(",", ":"))}
        )

    turn = s.used(session.kind, "again")
    total = s.used(session.kind, *s.BEFORE_COMPACTION)
    failed = {"DEEPSEEK_TOOL_RESULT": session.result("broken"), "DEEPSEEK_TOOL_EXIT_CODE": "3"}
    failed["DEEPSEEK_TOOL_SUCCESS"] = "false"
    mode = "agent"
    return {
        "session_start": variables(mode),
        "message_submit": {
            "event": "message_submit",
            "text": s.SECOND,
            "text_bytes": len(s.SECOND),
            "text_original_bytes": len(s.SECOND),
            "text_truncated": False,
            **shared("plan", *s.FIRST_TURN),
            **variables("plan", *s.FIRST_TURN),
            "DEEPSEEK_MESSAGE": s.SECOND,
        },
        "tool_call_before": {
            **variables(mode, sums=False), **call("ok", {"command": s.CALLS["ok"][1]["command"]}),
        },
        "tool_call_after": {**variables(mode, "look"), **call("broken"), **failed},
        "mode_change": {**variables("plan", *s.FIRST_TURN), "DEEPSEEK_PREVIOUS_MODE": "agent"},
        "on_error": {
            **variables(mode, "look"), **call("broken"), **failed, "DEEPSEEK_ERROR": session.result("broken"),
        },
        "turn_end": {
            "event": "turn_end",
            "session_id": where,
            "workspace": project,
            "mode": "plan",
            "created_at": is_time,
            "model_backed": True,
            "provider": None,
            "billing_surface": None,
            "model": s.MODEL,
            "turn_id": f"{where}.2",
            "status": "completed",
            "error": None,
            "duration_ms": is_count,
            "usage": {
                "input_tokens": turn.input_tokens,
                "output_tokens": turn.output_tokens,
                "prompt_cache_hit_tokens": turn.cache_read_tokens,
                "prompt_cache_miss_tokens": 400,
                "prompt_cache_write_tokens": turn.cache_write_tokens,
                "reasoning_tokens": turn.reasoning_tokens,
                "reasoning_replay_tokens": None,
            },
            "totals": {
                "session_tokens": total.total_tokens,
                "conversation_tokens": turn.total_tokens,
                "input_tokens": total.input_tokens,
                "output_tokens": total.output_tokens,
            },
            "tool_count": 0,
            "queued_message_count": 0,
            "stop_hook_active": False,
            **variables("plan", *s.BEFORE_COMPACTION),
        },
        "subagent_spawn": {
            "event": "subagent_spawn",
            "agent_id": session.agent_id,
            **shared(mode, "look", "delegate"),
            **variables(mode, "look", "delegate"),
            "prompt_preview": _is_preview_of(s.SUB_PROMPT),
            "prompt_truncated": True,
            "DEEPSEEK_MESSAGE": s.SUB_PROMPT.replace(s.SECRET, "[redacted]"),
        },
        "subagent_complete": {
            "event": "subagent_complete",
            "agent_id": session.agent_id,
            **shared(mode, "look", "delegate", "sub"),
            **variables(mode, "look", "delegate", "sub"),
            "result_preview": _is_preview_of(s.SUB_ANSWER),
            "result_truncated": True,
            "status": "completed",
            "DEEPSEEK_MESSAGE": s.SUB_ANSWER.replace(s.SECRET, "[redacted]"),
        },
        "shell_env": {
            "DEEPSEEK_TOOL_NAME": "bash",
            "DEEPSEEK_TOOL_ARGS": json.dumps(s.CALLS["ok"][1], separators=(",", ":")),
        },
        "session_end": variables("plan", *s.ALL),
    }  # fmt: skip


def _is_preview_of(text: str) -> Any:
    def check(value: str) -> bool:
        begins = text.replace(s.SECRET, "[redacted]")[:2000]
        return value.startswith(begins) and len(value.encode()) <= 2048 + len("...[truncated]")

    return check


def _of_call(name: str) -> Callable[[s.Dump], bool]:
    def check(dump: s.Dump) -> bool:
        return dump.env["DEEPSEEK_TOOL_CALL_ID"] == name

    return check


def _is_second(dump: s.Dump) -> bool:
    return str(dump.document["turn_id"]).endswith(".2")


def _prints(dump: s.Dump) -> bool:
    return "printf" in dump.env["DEEPSEEK_TOOL_ARGS"]


SEAM = Seam(
    dialect="codewhale",
    config=".codewhale/config.toml",
    write=_write,
    documented=_DOCUMENTED,
    wanted=_wanted,
    fields=_fields,
    chosen={
        "message_submit": has(text=s.SECOND),
        "turn_end": _is_second,
        "tool_call_before": _of_call("ok"),
        "tool_call_after": _of_call("broken"),
        "shell_env": _prints,
    },
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    session = played(SEAM, kind, tmp_path)
    assert problems(SEAM, session) == []
    # The first turn: all its tools, and what its subagent has used.
    first = session.of("turn_end")[0].document
    used = s.used(kind, *s.FIRST_TURN)
    assert (first["tool_count"], first["usage"]["input_tokens"]) == (4, used.input_tokens)
    failed = session.of("turn_end")[2].document
    assert (failed["status"], failed["totals"]["conversation_tokens"]) == ("failed", None)
    assert s.ERROR in failed["error"]
