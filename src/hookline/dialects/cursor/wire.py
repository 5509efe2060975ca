"""Encode and decode Cursor's payloads and answers.

Nobody else reads output as Cursor does: text that is not JSON denies, the last JSON object of the output counts, a
hook that was killed is read as one that exited with 0, and the reason of exit 2 is stdout first.
"""

from collections.abc import Mapping
from functools import cached_property
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from hookline.dialects.cursor.events import CONTEXT_LIMIT, ROWS, TOOLS
from hookline.dialects.family import answers as family
from hookline.dialects.family.answers import SPECIFIC, TOP, AnswerField, Object
from hookline.dialects.family.table_wire import GuardWriter, TableWire
from hookline.dialects.family.wire import stderr_text
from hookline.dialects.json_text import JsonTextError, read_lenient, written
from hookline.model.events import STOP, SUBAGENT_STOP, field_of
from hookline.model.outcome import Outcome, Rewrite, Vote
from hookline.model.raw import Exited, Failed, RawResult, Replied
from hookline.model.wire import NOTHING_SAID, Decoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

_SILENT = 'Hook "{}" blocked this action (exit code 2) but provided no reason.'
_GATES = frozenset(name for name, row in ROWS.items() if "failures" in row.policy)
_TURN = frozenset(("stop", "subagentStop"))
_ENDS = frozenset(("beforeSubmitPrompt", "sessionStart"))
_CONTEXT = frozenset(
    ("sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure")
)
_READS = frozenset(("beforeReadFile", "beforeTabFileRead"))
_MCP = "MCP:"
#: A hook that prints more of them is not read.
_MOST_OBJECTS = 200
_DECODER = JSONDecoder()


class Reader(family.AnswerReader):
    order = "table"
    no_reason = "blocked by a hook"

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return _READS_FIELDS if where == TOP and self.event_name in _READS else _FIELDS[where]

    def read(self, document: Object) -> tuple[Outcome, tuple[str, ...]]:
        if "hookSpecificOutput" in document and not _OWN.isdisjoint(document):
            document = {key: value for key, value in document.items() if key != "hookSpecificOutput"}
        return super().read(document)

    def decide(self, value: str, holder: Object) -> None:
        message = holder.get("user_message") or ""
        if value == "deny":
            self.block(message)
        else:
            self.votes.append(Vote("ask" if value == "ask" else "allow", message))

    def go_on(self, value: bool, holder: Object) -> None:
        if not value:
            self.block(holder.get("user_message"))

    def user_message(self, value: str, holder: Object) -> None:
        """Apply a message to the user, where it is not the reason of a decision."""
        if "permission" not in holder and holder.get("continue") is not False:
            self.message(value, holder)

    def additional_context(self, value: str, holder: Object) -> None:
        if len(value) > CONTEXT_LIMIT:
            self.ignored.append(f"additional_context beyond {CONTEXT_LIMIT:,} characters")
        else:
            super().additional_context(value, holder)

    def follow_up(self, value: str, holder: Object) -> None:
        del holder
        if value:
            self.votes = [Vote("block", value)]

    def turned_back(self, value: str, holder: Object) -> None:
        if value == "block" and isinstance(holder.get("reason"), str):
            self.follow_up(holder["reason"], holder)

    def output(self, value: Any, holder: Object) -> None:
        del holder
        self.edits.append(Rewrite(value, field="tool_response"))

    def specific(self, value: Object, _holder: Object) -> None:
        named = value.get("hookEventName")
        if named not in (None, self.event_name, f"{self.event_name[:1].upper()}{self.event_name[1:]}"):
            self.ignored.append("hookSpecificOutput of another event")
            return
        super().specific(value, _holder)


_TEXT, _OBJECT = AnswerField("text"), "an object"
_TOP: Mapping[str, AnswerField] = {
    "permission": AnswerField("text", Reader.decide, _GATES, choices=("allow", "deny", "ask")),
    "continue": AnswerField("true or false", Reader.go_on, _ENDS),
    "user_message": AnswerField("text", Reader.user_message), "agent_message": _TEXT,
    "updated_input": AnswerField(_OBJECT, Reader.tool_input, frozenset({"preToolUse"})),
    "additional_context": AnswerField("text", Reader.additional_context, _CONTEXT),
    "followup_message": AnswerField("text", Reader.follow_up, _TURN),
    "decision": AnswerField("text", Reader.turned_back, _TURN), "reason": _TEXT,
    "updated_mcp_tool_output": AnswerField("anything", Reader.output, frozenset({"postToolUse"})),
    "env": AnswerField("an object of texts", events=frozenset({"sessionStart"}), unused=True),
    "hookSpecificOutput": AnswerField(_OBJECT, Reader.specific, frozenset({"preToolUse", "postToolUse"})),
}  # fmt: skip
_READS_FIELDS = {**_TOP, "permission": AnswerField("text", Reader.decide, choices=("allow", "deny"))}
_FIELDS: Mapping[str, Mapping[str, AnswerField]] = {
    TOP: _TOP,
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": AnswerField("text", Reader.permission, choices=("allow", "deny", "ask")),
        "updatedInput": AnswerField(_OBJECT, Reader.tool_input),
        "additionalContext": AnswerField("text", Reader.additional_context),
    },
}  # fmt: skip
_OWN = frozenset(("permission", "updated_input", "additional_context", "followup_message", "continue"))


class Writer(GuardWriter):
    """One outcome being written: always exit 0 with one JSON object, because an empty answer may deny."""

    title = "Cursor"

    def rewritten(self) -> Any:
        """Return the new input, if the tool takes what is new in it; any other rewrite becomes a denial."""
        if self.row.event.rewrites == "tool_response":
            tool = str(field_of(self.payload, "tool_name") or "")
            if self.outcome.edits and self.payload is not None and not tool.startswith(_MCP):
                self.lost.append("rewrite")
                return None
        return super().rewritten()

    def deny(self, reason: str) -> None:
        if self.event_name in _TURN:
            self.top["followup_message"] = reason
        elif self.event_name in _ENDS:
            self.top |= {"continue": False, "user_message": reason}
        else:
            self.top |= {"permission": "deny", "user_message": reason, "agent_message": reason}

    def permit(self, permission: str, reason: str) -> None:
        self.top["permission"] = permission
        if reason:
            self.top["user_message"] = reason

    def rewrite(self, value: Any) -> None:
        if self.row.event.rewrites == "tool_response":
            self.top["updated_mcp_tool_output"] = value
            return
        refused = _not_taken(self.payload, value)
        if refused:
            self.lost.append("rewrite")
            self.deny(f"a hook rewrote {refused} of this call, and Cursor does not take that")
        else:
            self.top["updated_input"] = dict(value)

    def tell(self, text: str) -> None:
        if len(text) > CONTEXT_LIMIT:
            mark = "\n[cut: Cursor takes 10,000 characters]"
            text = text[: CONTEXT_LIMIT - len(mark)] + mark
        self.top["additional_context"] = text

    def further(self, part: str) -> None:
        if (
            part == "messages"
            and self.event_name in ("preCompact", "sessionStart")
            and "user_message" not in self.top
        ):
            self.top["user_message"] = "\n".join(message.text for message in self.outcome.messages)
        else:
            self.lost.append(part)

    def finished(self) -> HookReply:
        answer = super().finished()
        return answer if answer.stdout or answer.code else replace(answer, stdout="{}\n")


def _not_taken(payload: Any, value: Mapping[str, Any]) -> str:
    """Return the arguments that Cursor drops from a new input in silence."""
    from hookline.dialects.cursor.tools import TAKES  # noqa: PLC0415 only for a rewrite

    before: Any = field_of(payload, "tool_input") or {}
    takes = TAKES.get(str(field_of(payload, "tool_name")))
    if takes is None:
        return ""
    changed = [key for key in {**before, **value} if before.get(key) != value.get(key)]
    return ", ".join(key for key in changed if key not in takes)


class CursorWire(TableWire):
    """The wire of Cursor. Stateless: one object serves every hook."""

    rows = ROWS
    common = {"conversation_id": "session_id", "session_id": "session_id", "model": "model",  # noqa: RUF012 a table
              "transcript_path": "transcript_path"}  # fmt: skip
    nulls = ("transcript_path", "user_email")
    reader, writer = Reader, Writer
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.cursor.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def more(self, call: HookInvocation) -> Mapping[str, Any]:
        name, info, payload = call.hook.policy.event_name, call.info, call.payload
        kept = info.extra or {}
        found: dict[str, Any] = {
            "generation_id": info.prompt_id or kept.get("generation_id") or "0",
            "cursor_version": kept.get("cursor_version") or "0",
            "workspace_roots": [info.project_dir or info.cwd], "user_email": None,
        }  # fmt: skip
        if name in TOOLS:
            arguments: Mapping[str, Any] = field_of(payload, "tool_input") or {}
            found |= {key: arguments[key] for key in TOOLS[name][1] if key in arguments}
        if name in ("preToolUse", "postToolUse", "postToolUseFailure"):
            found["cwd"] = info.cwd or None
        if name in _TURN:
            active = bool(field_of(payload, "stop_hook_active"))
            found |= {"loop_count": kept.get("loop_count", int(active)), "status": "completed"}
        return found

    def sent(self, call: HookInvocation, field: str) -> Any:
        value, name = super().sent(call, field), call.hook.policy.event_name
        if field == "tool_name" and TOOLS.get(name, ("",))[0] == _MCP:
            return str(value).removeprefix(_MCP)
        as_text = field == "tool_response" or (field == "tool_input" and name in TOOLS)
        return written(value).decode() if as_text and not isinstance(value, str) else value

    def environment(self, call: HookInvocation) -> Mapping[str, str]:
        root = call.info.project_dir or call.info.cwd
        known = {"CURSOR_TRANSCRIPT_PATH": call.info.transcript_path} if call.info.transcript_path else {}
        return {"CURSOR_PROJECT_DIR": root, "CLAUDE_PROJECT_DIR": root, "CURSOR_VERSION": "0", **known}

    def received(self, name: str, given: Object, values: dict[str, Any]) -> dict[str, Any]:
        if name in TOOLS:
            tool, keys = TOOLS[name]
            if tool == _MCP:
                server = given.get("mcp_server_name")
                values |= {"tool_name": f"{_MCP}{values.get('tool_name', '')}", "tool_input": _object(values)}
                values |= {"mcp_server": {"name": server}} if isinstance(server, str) else {}
            else:
                values |= {"tool_name": tool, "tool_input": {key: given[key] for key in keys if key in given}}
        if ROWS[name].event in (STOP, SUBAGENT_STOP):
            values["stop_hook_active"] = bool(given.get("loop_count"))
        if isinstance(values.get("duration_ms"), float):
            values["duration_ms"] = round(values["duration_ms"])
        if isinstance(response := values.get("tool_response"), str):
            values["tool_response"] = _value(response)
        return values

    def parse(self, document: Object) -> Parsed:
        parsed = super().parse(document)
        roots = document.get("workspace_roots")
        first = next((each for each in cast("list[Any]", roots or []) if isinstance(each, str)), "")
        cwd = document.get("cwd") if isinstance(document.get("cwd"), str) and document["cwd"] else first
        kept = {
            key: document[key] for key in ("loop_count", "generation_id", "cursor_version") if key in document
        }
        return replace(
            parsed, info=replace(parsed.info, cwd=cwd, project_dir=first or None, extra=kept or None)
        )

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        """Read what a killed hook said as if it had exited with 0."""
        if isinstance(raw, Failed) and raw.cause == "signalled" and raw.stdout.strip():
            raw = Exited(0, raw.stdout, raw.stderr, raw.truncated)
        return super().decode(call, raw)

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        if raw.code == 0 and not raw.stdout.strip() and call.hook.on_failure == "block":
            return self.failed(call, raw, "unreadable", "it printed nothing, and its entry says failClosed")
        return super().exited(call, raw)

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:
        if not ROWS[call.hook.policy.event_name].exit_2_blocks:
            return Decoded(ignored=("exit 2",))
        said, stderr = raw.stdout.decode("utf-8", "replace").strip(), stderr_text(raw)
        reason = said or (f"Hook blocked with message: {stderr}" if stderr else "")
        command = getattr(call.hook.spec, "command", call.hook.name)
        return Decoded(Outcome(votes=(Vote("block", reason or _SILENT.format(command)),)))

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        """Read the last object of the output that ends with it."""
        text = output.strip().decode("utf-8", "replace")
        if not text:
            return NOTHING_SAID
        at = text.find("{")
        for _ in range(_MOST_OBJECTS):
            if at < 0:
                break
            try:
                end = _DECODER.raw_decode(text, at)[1]
            except (ValueError, RecursionError):
                end = at + 1
            if end == len(text):
                return self.json_answer(call, raw, text[at:].encode())
            at = text.find("{", end)
        return self.failed(call, raw, "unreadable", "its output is not a JSON object")


def _object(values: Mapping[str, Any]) -> Any:
    value = _value(values.get("tool_input"))
    return cast("Object", value) if isinstance(value, Mapping) else {}


def _value(text: Any) -> Any:
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return read_lenient(text)
    except JsonTextError:
        return text


def wire() -> CursorWire:
    return CursorWire()
