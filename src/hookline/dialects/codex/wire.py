"""Encode and decode Codex's payloads and answers.

Objects of an answer are closed: one key or word that Codex does not take at the event makes the whole answer
a failure, after which Codex continues. When Hookline answers, a part that Codex cannot express becomes a
denial at guards.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from hookline.dialects.codex.events import CONTEXT_LIMIT, ROWS
from hookline.dialects.family import answers as family
from hookline.dialects.family import wire as base
from hookline.dialects.family.answers import DECISION, SPECIFIC, AnswerField, Object
from hookline.dialects.json_text import read_lenient, written
from hookline.model.events import Capability, field_of
from hookline.model.messages import usage_of
from hookline.model.outcome import PASS, ContextItem, Outcome, Vote
from hookline.model.raw import Exited, RawResult, Replied
from hookline.model.session_info import SessionInfo
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

NO_REASON = "Blocked by hook"
NOT_ASKED = "this needs the user's permission, which no hook of Codex can ask for"
NOT_REWRITTEN = "a hook rewrote this call, which Codex takes only with an allow, and no hook gave one"
_DENIED = "PermissionRequest hook denied approval"
#: The mode in which Codex asks the user nothing; it sends this one and `default`.
ASKS_NOTHING = "bypassPermissions"
#: Tools whose new input must have a command, or the call fails.
_WITH_COMMAND = frozenset({"Bash", "apply_patch"})
_TOKEN = 4  # bytes, as Codex estimates it

_PRE, _PERMISSION, _POST, _PROMPT = "PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit"
_INTERRUPT = "Interrupt"
#: The counts of `token_usage`, and ours.
_TOKEN_COUNTS = {
    "input_tokens": "input_tokens", "cached_input_tokens": "cache_read_tokens",
    "cache_write_input_tokens": "cache_write_tokens", "output_tokens": "output_tokens",
    "reasoning_output_tokens": "reasoning_tokens", "total_tokens": "total_tokens",
}  # fmt: skip
#: Events where `continue: false` is refused, where it is a block, and where it ends the turn.
_NO_STOP, _STOP_BLOCKS, _ENDS = (_PRE, _PERMISSION), (_POST, "PreCompact"), ("Stop", "SubagentStop")


def _decides(own: Object) -> bool:
    return any(key in own for key in ("permissionDecision", "permissionDecisionReason", "updatedInput"))


def _allows(own: Object) -> bool:
    return own.get("permissionDecision") == "allow"


#: Answers that Codex refuses, by event: a test of the whole answer and its hookSpecificOutput.
_REFUSED: tuple[tuple[tuple[str, ...], str, Callable[[Object, Object], bool]], ...] = (
    (_NO_STOP, "continue: false", lambda top, _: top.get("continue") is False),
    (_NO_STOP, "stopReason", lambda top, _: "stopReason" in top),
    ((*_NO_STOP, _POST), "suppressOutput", lambda top, _: top.get("suppressOutput") is True),
    ((_PRE,), "permissionDecision: ask", lambda _, own: own.get("permissionDecision") == "ask"),
    ((_PRE,), "an allow without updatedInput", lambda _, own: _allows(own) and "updatedInput" not in own),
    ((_PRE,), "updatedInput without an allow", lambda _, own: "updatedInput" in own and not _allows(own)),
    (
        (_PRE,), "permissionDecisionReason alone",
        lambda _, own: "permissionDecisionReason" in own and "permissionDecision" not in own,
    ),
    ((_PRE,), "decision: approve", lambda top, own: top.get("decision") == "approve" and not _decides(own)),
    (
        (_PRE, _POST), "a reason without a decision",
        lambda top, own: "reason" in top and not (top.get("decision") or _decides(own) or top.get("continue") is False),
    ),
    ((_POST,), "updatedMCPToolOutput", lambda _, own: "updatedMCPToolOutput" in own),
)  # fmt: skip


class Reader(family.AnswerReader):
    order = "table"

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        if where == SPECIFIC:
            return _SPECIFIC[self.event_name]
        choices = ROWS[self.event_name].decisions
        if self.event_name == _INTERRUPT and where != SPECIFIC:
            return _MESSAGE
        top = _UNIVERSAL if self.event_name not in _SPECIFIC else {**_UNIVERSAL, **_WITH_SPECIFIC}
        decision = {"decision": AnswerField("text", Reader.top_decision, choices=choices), "reason": _TEXT}
        return _DECISION if where == DECISION else {**decision, **top} if choices else top

    def read(self, document: Object) -> tuple[Outcome, tuple[str, ...]]:
        if ROWS[self.event_name].reads_nothing:
            return PASS, tuple(str(key)[:80] for key in document)
        top = {key: value for key, value in document.items() if value is not None}
        own = top.get("hookSpecificOutput")
        given: Object = cast("Object", own) if isinstance(own, Mapping) else {}
        for events, what, found in _REFUSED:
            if self.event_name in events and found(top, given):
                raise base.UnreadableAnswerError(f"Codex does not take {what} at {self.event_name}")
        if _decides(given):
            top.pop("decision", None)
        return super().read(top)

    def outcome(self) -> Outcome:
        if self.halts and self.event_name in _ENDS:
            self.votes = []  # ending the turn beats continuing it
        return super().outcome()

    def unknown(self, where: str, key: str, value: Any) -> None:
        del value
        raise base.UnreadableAnswerError(
            f"Codex does not have the field {where}{key}"[:80] + f" at {self.event_name}"
        )

    def block(self, given_reason: Any) -> None:
        reason = given_reason.strip() if isinstance(given_reason, str) else ""
        if not reason:
            raise base.UnreadableAnswerError("a block needs a reason")
        self.votes.append(Vote("block", reason))

    def go_on(self, value: bool, holder: Object) -> None:
        reason = holder.get("stopReason") or holder.get("reason") or NO_REASON
        if not value and self.event_name in _STOP_BLOCKS:
            self.block(reason)
        elif not value and ROWS[self.event_name].may & Capability.STOP:
            self.halt(holder.get("stopReason"))
            self.votes += [Vote("block", reason)] if self.event_name == _PROMPT else []
        elif not value:
            self.ignored.append("continue")

    def top_decision(self, value: str, holder: Object) -> None:
        del value
        self.block(holder.get("reason"))

    def permission(self, value: str, holder: Object) -> None:
        """Apply a permission: an allow is the form of a rewrite; it approves nothing."""
        if value == "deny":
            self.block(holder.get("permissionDecisionReason"))

    def decision(self, value: Object, _holder: Object) -> None:
        given = self.checked(value, DECISION)
        reserved = [key for key in ("updatedInput", "updatedPermissions", "interrupt") if given.get(key)]
        if reserved:
            raise base.UnreadableAnswerError(f"Codex does not take decision.{reserved[0]}")
        denies = given["behavior"] == "deny"
        self.votes.append(
            Vote("block", given.get("message", "").strip() or _DENIED) if denies else Vote("allow")
        )


_TEXT, _FLAG, _OBJECT, _ANYTHING = AnswerField("text"), "true or false", "an object", AnswerField("anything")
_UNIVERSAL: Mapping[str, AnswerField] = {
    "continue": AnswerField(_FLAG, Reader.go_on), "stopReason": _TEXT, "suppressOutput": AnswerField(_FLAG),
    "systemMessage": AnswerField("text", Reader.message),
}  # fmt: skip
_MESSAGE = {"systemMessage": _UNIVERSAL["systemMessage"]}
_WITH_SPECIFIC = {"hookSpecificOutput": AnswerField(_OBJECT, Reader.specific)}
#: It must be there and name an event, though not this one.
_NAME = {"hookEventName": AnswerField("text", choices=tuple(ROWS), required=True)}
_CONTEXT = {**_NAME, "additionalContext": AnswerField("text", Reader.additional_context)}
_SPECIFIC: Mapping[str, Mapping[str, AnswerField]] = {
    **{name: _CONTEXT for name, row in ROWS.items() if row.may & Capability.CONTEXT},
    _PRE: {
        **_CONTEXT, "permissionDecision": AnswerField("text", Reader.permission, choices=("allow", "deny", "ask")),
        "permissionDecisionReason": _TEXT, "updatedInput": AnswerField(_OBJECT, Reader.tool_input),
    },
    _PERMISSION: {**_NAME, "decision": AnswerField(_OBJECT, Reader.decision)},
    _POST: {**_CONTEXT, "updatedMCPToolOutput": _ANYTHING},
}  # fmt: skip
_DECISION: Mapping[str, AnswerField] = {
    "behavior": AnswerField("text", choices=("allow", "deny"), required=True), "message": _TEXT,
    "updatedInput": _ANYTHING, "updatedPermissions": _ANYTHING, "interrupt": AnswerField(_FLAG),
}  # fmt: skip


class Writer(family.AnswerWriter):
    """One outcome being written: always exit 0 and one JSON object, or nothing."""

    def __init__(self, event_name: str, outcome: Outcome, payload: Any) -> None:
        super().__init__(event_name, outcome)
        self.may = ROWS[event_name].may
        self.tool = field_of(payload, "tool_name")

    def can(self, part: str) -> bool:
        return bool(
            self.may
            & {"context": Capability.CONTEXT, "rewrite": Capability.REWRITE}.get(part, Capability.NOTHING)
        )

    def supply(self) -> None:
        super().supply()
        said = self.outcome
        if said.messages and self.event_name != "SessionEnd" and not ROWS[self.event_name].reads_nothing:
            self.top["systemMessage"] = "\n".join(message.text for message in said.messages)
        elif said.messages:
            self.lost.append("messages")
        parts = {"permission_updates": said.permission_updates, "env": said.env_items, "answer": said.answers}
        self.lost += [part for part, value in parts.items() if value]

    def decide(self) -> None:
        outcome, refusal = self.outcome, self._refusal()
        rewrites = bool(outcome.edits)
        if refusal is None and rewrites and self.event_name in (_PRE, _PERMISSION):
            refusal = NOT_REWRITTEN if self._rewritten() is None else None
            rewrites = refusal is not None
        elif refusal is None and rewrites and self.event_name == _POST:
            # A block replaces what the model sees of the result.
            new, rewrites = outcome.updated_output, False
            refusal = new if isinstance(new, str) else written(new).decode()
        if rewrites and "rewrite" not in self.lost:
            self.lost.append("rewrite")
        if refusal is not None:
            self._refuse(refusal)
        elif outcome.permission == "allow" and self.event_name == _PERMISSION:
            self.specific["decision"] = {"behavior": "allow"}
        elif outcome.permission == "allow" and "updatedInput" not in self.specific:
            self.lost.append("allow")
        if outcome.stop and self.may & Capability.STOP:
            self.top |= {"continue": False, "stopReason": outcome.stop_reason or NO_REASON}

    def _refusal(self) -> str | None:
        """Return why the action is denied: by a block, or because Codex cannot express something."""
        outcome, vote = self.outcome, self.outcome.deciding_vote
        unheard = outcome.stop and not self.may & Capability.STOP
        if unheard:
            self.lost.append("stop")
        if vote is not None and vote.kind == "block":
            return vote.reason.strip() or NO_REASON if self.accepts_block() else None
        if vote is not None and vote.kind in ("ask", "defer"):
            self.lost.append(vote.kind)
            # Where permission is requested, the user is asked if no hook decides.
            if self.event_name == _PRE:
                return vote.reason.strip() or NOT_ASKED
        return outcome.stop_reason or NO_REASON if unheard and self.may & Capability.BLOCK else None

    def accepts_block(self) -> bool:
        if not ROWS[self.event_name].reads_nothing:
            return True
        self.lost.append("block")
        return False

    def _rewritten(self) -> Object | None:
        """Return a new input. It goes with an allow, which a hook must have given, so that nothing is allowed
        by accident."""
        vote = self.outcome.deciding_vote
        updated = self.updated_input() if vote is not None and vote.kind == "allow" else None
        if updated is None or (self.tool in _WITH_COMMAND and not isinstance(updated.get("command"), str)):
            return None
        self.permit("allow", vote.reason if vote is not None else "")
        self.specific["updatedInput"] = updated
        return updated

    def _refuse(self, reason: str) -> None:
        if self.event_name == _PRE:
            self.permit("deny", reason)
        elif self.event_name == _PERMISSION:
            self.specific["decision"] = {"behavior": "deny", "message": reason}
        elif self.event_name == "PreCompact":
            self.top |= {"continue": False, "stopReason": reason}
        elif self.outcome.stop and self.event_name in _ENDS:
            self.lost.append("block")  # Codex ends the turn then
        else:
            self.top |= {"decision": "block", "reason": reason}


_OF_SCENE = ("session_id", "transcript_path", "cwd", "permission_mode", "model", "turn_id")
#: Values that Codex sends for missing ones.
_EMPTY: Mapping[str, Any] = {"tool_use_id": "", "tool_input": {}, "last_assistant_message": None}


def _sent(payload: Any, key: str) -> Any:
    """Return a key of a payload; the answer of a model has its counts under another name, and no error."""
    if key == "token_usage":
        usage = field_of(payload, "usage")
        if usage is None:
            return None
        return {own: getattr(usage, name, None) for own, name in _TOKEN_COUNTS.items()}
    return "completed" if key == "status" and field_of(payload, key) is None else field_of(payload, key)


class CodexWire(base.ResultReader):
    """The wire of Codex. Stateless: one object serves every hook with the same context limit."""

    standard_tools = False

    def __init__(self, limit: int = CONTEXT_LIMIT) -> None:
        self._most = limit * _TOKEN

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.codex.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def encode(self, call: HookInvocation) -> Encoded:
        name, info = call.hook.policy.event_name, call.info
        row = ROWS[name]
        turn = (info.extra or {}).get("turn_id") or info.prompt_id or str(info.turn or 1)
        agent = {"agent_id": info.agent_id, "agent_type": info.agent_type or "default"}
        in_agent = info.agent_id is not None and row.in_turn and "agent_id" not in row.sends
        of_agent = {"agent_transcript_path": field_of(call.payload, "agent_transcript_path")}
        model = {"model": info.model or field_of(call.payload, "model") or ""}
        mode = ASKS_NOTHING if info.permission_mode == ASKS_NOTHING else "default"
        document = {
            "session_id": info.session_id, **({"turn_id": turn} if row.in_turn else {}), **(agent if in_agent else {}),
            "transcript_path": info.transcript_path or None, **(of_agent if name == "SubagentStop" else {}),
            "cwd": info.cwd, "hook_event_name": name, **(model if name != "SessionEnd" else {}),
            **({"permission_mode": mode} if row.has_mode else {}),
            **{key: value or _EMPTY.get(key, value) for key in row.sends for value in (_sent(call.payload, key),)},
        }  # fmt: skip
        if row.reads_nothing:
            kept = (info.extra or {}).get("token_usage")
            document |= {"token_usage": kept} if kept and "token_usage" in row.sends else {}
            first = ("session_id", "turn_id", "cwd", "transcript_path", "model", "hook_event_name")
            document = {key: document[key] for key in (*first, *row.sends)}
        return Encoded(base.encoded(document))

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        name = base.event_name(document, ROWS)
        row = ROWS[name]
        given = {key: value for key, value in document.items() if value is not None}
        if "token_usage" in row.sends:
            given["usage"] = usage_of(given.get("token_usage"))
        payload = base.payload_record(row.event, name, given)
        agent = () if "agent_id" in row.sends else ("agent_id", "agent_type")
        texts = base.info_texts(given, (*_OF_SCENE, *agent))
        kept = {key: given[key] for key in ("turn_id", "token_usage") if key in given}
        texts.pop("turn_id", None)
        return Parsed(row.event, payload, SessionInfo(**texts, unseen_input=True, extra=kept or None))

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        return Writer(event_name, outcome, payload).reply()

    def read_json(self, text: bytes) -> Any:
        return read_lenient(text)

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        return Reader(event_name=call.hook.policy.event_name).read(document)

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        decoded = super().decode(call, raw)
        outcome = decoded.outcome
        kept = tuple(replace(item, text=self._within(item.text)) for item in outcome.context_items)
        if kept == outcome.context_items:
            return decoded
        beyond = f"text beyond {self._most // _TOKEN:,} tokens"
        return replace(
            decoded, outcome=replace(outcome, context_items=kept), ignored=(*decoded.ignored, beyond)
        )

    def _within(self, text: str) -> str:
        """Cut a text in the middle. Codex also writes the whole text to a file, and names it to the model."""
        raw, half = text.encode("utf-8", "replace"), self._most // 2
        if len(raw) <= self._most:
            return text
        head, tail = raw[:half].decode("utf-8", "ignore"), raw[len(raw) - half :].decode("utf-8", "ignore")
        return f"{head}…{(len(raw) - self._most) // _TOKEN} tokens truncated…{tail}"

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:
        if not ROWS[call.hook.policy.event_name].exit_2_blocks:
            return self.crashed(call, raw)
        if not base.stderr_text(raw):
            return self.failed(
                call, raw, "crashed", "exit 2 without a reason on stderr stops nothing in Codex"
            )
        return super().blocked(call, raw)

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        """Read JSON, or text that looks like it; other text is for the model at some events."""
        text, name = output.strip(), call.hook.policy.event_name
        if not text or name == "SessionEnd":
            return NOTHING_SAID
        if ROWS[name].reads_nothing:
            return Decoded(ignored=("its output",))
        if text.startswith((b"{", b"[")):
            return self.json_answer(call, raw, text)
        plain = ROWS[name].plain
        if plain == "failure":
            return self.failed(call, raw, "unreadable", f"text that is not JSON is a failure at {name}")
        if plain == "ignored":
            return Decoded(ignored=("plain stdout",))
        return Decoded(Outcome(context_items=(ContextItem(text.decode("utf-8", "replace")),)))
