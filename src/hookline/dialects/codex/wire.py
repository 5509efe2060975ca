"""Codex's wire, both ways.

Objects of an answer are closed: one key or word that Codex does not take at the event, and the whole answer is a
failure, after which Codex goes on. When Hookline answers, what Codex has no word for becomes a denial at guards.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from hookline.dialects.codex.events import CONTEXT_LIMIT, ROWS
from hookline.dialects.family import answers as family
from hookline.dialects.family import wire as base
from hookline.dialects.family.answers import DECISION, SPECIFIC, Field, Object
from hookline.dialects.json_text import read_lenient, written
from hookline.model.events import May, field_of
from hookline.model.outcome import ContextItem, Outcome, Vote
from hookline.model.raw import Exited, RawResult, Replied
from hookline.model.scene import Scene
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.tools.table import ToolTable

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
#: Where `continue: false` is not taken, where it is what a block is elsewhere, and where it ends the turn.
_NO_STOP, _STOP_BLOCKS, _ENDS = (_PRE, _PERMISSION), (_POST, "PreCompact"), ("Stop", "SubagentStop")


def _decides(own: Object) -> bool:
    return any(key in own for key in ("permissionDecision", "permissionDecisionReason", "updatedInput"))


def _allows(own: Object) -> bool:
    return own.get("permissionDecision") == "allow"


#: What Codex refuses, by the events at which it does; a test of the whole answer and its hookSpecificOutput.
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

    def fields(self, where: str) -> Mapping[str, Field]:
        if where == SPECIFIC:
            return _SPECIFIC[self.event_name]
        choices = ROWS[self.event_name].decisions
        top = _UNIVERSAL if self.event_name not in _SPECIFIC else {**_UNIVERSAL, **_WITH_SPECIFIC}
        decision = {"decision": Field("text", Reader.top_decision, choices=choices), "reason": _TEXT}
        return _DECISION if where == DECISION else {**decision, **top} if choices else top

    def read(self, document: Object) -> tuple[Outcome, tuple[str, ...]]:
        top = {key: value for key, value in document.items() if value is not None}
        own = top.get("hookSpecificOutput")
        given: Object = cast("Object", own) if isinstance(own, Mapping) else {}
        for events, what, found in _REFUSED:
            if self.event_name in events and found(top, given):
                raise base.UnreadableError(f"Codex does not take {what} at {self.event_name}")
        if _decides(given):
            top.pop("decision", None)
        return super().read(top)

    def outcome(self) -> Outcome:
        if self.halts and self.event_name in _ENDS:
            self.votes = []  # ending the turn beats going on with it
        return super().outcome()

    def unknown(self, where: str, key: str, value: Any) -> None:
        del value
        raise base.UnreadableError(f"Codex knows no {where}{key}"[:80] + f" at {self.event_name}")

    def block(self, given_reason: Any) -> None:
        reason = given_reason.strip() if isinstance(given_reason, str) else ""
        if not reason:
            raise base.UnreadableError("a block needs a reason")
        self.votes.append(Vote("block", reason))

    def go_on(self, value: bool, holder: Object) -> None:
        reason = holder.get("stopReason") or holder.get("reason") or NO_REASON
        if not value and self.event_name in _STOP_BLOCKS:
            self.block(reason)
        elif not value and ROWS[self.event_name].may & May.STOP:
            self.halt(holder.get("stopReason"))
            self.votes += [Vote("block", reason)] if self.event_name == _PROMPT else []
        elif not value:
            self.ignored.append("continue")

    def top_decision(self, value: str, holder: Object) -> None:
        del value
        self.block(holder.get("reason"))

    def permission(self, value: str, holder: Object) -> None:
        """An allow is the form of a rewrite: it approves nothing."""
        if value == "deny":
            self.block(holder.get("permissionDecisionReason"))

    def decision(self, value: Object, _holder: Object) -> None:
        given = self.checked(value, DECISION)
        reserved = [key for key in ("updatedInput", "updatedPermissions", "interrupt") if given.get(key)]
        if reserved:
            raise base.UnreadableError(f"Codex does not take decision.{reserved[0]}")
        denies = given["behavior"] == "deny"
        self.votes.append(
            Vote("block", given.get("message", "").strip() or _DENIED) if denies else Vote("allow")
        )


_TEXT, _FLAG, _OBJECT, _ANYTHING = Field("text"), "true or false", "an object", Field("anything")
_UNIVERSAL: Mapping[str, Field] = {
    "continue": Field(_FLAG, Reader.go_on), "stopReason": _TEXT, "suppressOutput": Field(_FLAG),
    "systemMessage": Field("text", Reader.message),
}  # fmt: skip
_WITH_SPECIFIC = {"hookSpecificOutput": Field(_OBJECT, Reader.specific)}
#: It must be there and name an event, though not this one.
_NAME = {"hookEventName": Field("text", choices=tuple(ROWS), required=True)}
_CONTEXT = {**_NAME, "additionalContext": Field("text", Reader.additional_context)}
_SPECIFIC: Mapping[str, Mapping[str, Field]] = {
    **{name: _CONTEXT for name, row in ROWS.items() if row.may & May.CONTEXT},
    _PRE: {
        **_CONTEXT, "permissionDecision": Field("text", Reader.permission, choices=("allow", "deny", "ask")),
        "permissionDecisionReason": _TEXT, "updatedInput": Field(_OBJECT, Reader.tool_input),
    },
    _PERMISSION: {**_NAME, "decision": Field(_OBJECT, Reader.decision)},
    _POST: {**_CONTEXT, "updatedMCPToolOutput": _ANYTHING},
}  # fmt: skip
_DECISION: Mapping[str, Field] = {
    "behavior": Field("text", choices=("allow", "deny"), required=True), "message": _TEXT,
    "updatedInput": _ANYTHING, "updatedPermissions": _ANYTHING, "interrupt": Field(_FLAG),
}  # fmt: skip


class Writer(family.AnswerWriter):
    """Always exit 0 and one JSON object, or nothing."""

    def __init__(self, event_name: str, outcome: Outcome, payload: Any) -> None:
        super().__init__(event_name, outcome)
        self.may = ROWS[event_name].may
        self.tool = field_of(payload, "tool_name")

    def can(self, part: str) -> bool:
        return bool(self.may & {"context": May.CONTEXT, "rewrite": May.REWRITE}.get(part, May.NOTHING))

    def supply(self) -> None:
        super().supply()
        said = self.outcome
        if said.messages and self.event_name != "SessionEnd":
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
        if outcome.stop and self.may & May.STOP:
            self.top |= {"continue": False, "stopReason": outcome.stop_reason or NO_REASON}

    def _refusal(self) -> str | None:
        """Why the action is denied: by a block, or by what Codex cannot be told."""
        outcome, vote = self.outcome, self.outcome.deciding_vote
        unheard = outcome.stop and not self.may & May.STOP
        if unheard:
            self.lost.append("stop")
        if vote is not None and vote.kind == "block":
            return vote.reason.strip() or NO_REASON
        if vote is not None and vote.kind in ("ask", "defer"):
            self.lost.append(vote.kind)
            # Where permission is being asked for, the user is asked if no hook decides.
            if self.event_name == _PRE:
                return vote.reason.strip() or NOT_ASKED
        return outcome.stop_reason or NO_REASON if unheard and self.may & May.BLOCK else None

    def _rewritten(self) -> Object | None:
        """A new input goes with an allow, which a hook must have given, so that nothing is allowed by the way."""
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
#: What Codex sends in place of nothing.
_EMPTY: Mapping[str, Any] = {"tool_use_id": "", "tool_input": {}, "last_assistant_message": None}


class CodexWire(base.ResultReader):
    """Stateless: one object serves every hook that may say as much."""

    standard_tools = False

    def __init__(self, limit: int = CONTEXT_LIMIT) -> None:
        self._most = limit * _TOKEN

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.codex.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def encode(self, call: Call) -> Encoded:
        name, scene = call.hook.policy.event_name, call.scene
        row = ROWS[name]
        turn = (scene.extra or {}).get("turn_id") or scene.prompt_id or str(scene.turn or 1)
        agent = {"agent_id": scene.agent_id, "agent_type": scene.agent_type or "default"}
        in_agent = scene.agent_id is not None and row.in_turn and "agent_id" not in row.sends
        of_agent = {"agent_transcript_path": field_of(call.payload, "agent_transcript_path")}
        model = {"model": scene.model or field_of(call.payload, "model") or ""}
        mode = ASKS_NOTHING if scene.permission_mode == ASKS_NOTHING else "default"
        document = {
            "session_id": scene.session_id, **({"turn_id": turn} if row.in_turn else {}), **(agent if in_agent else {}),
            "transcript_path": scene.transcript_path or None, **(of_agent if name == "SubagentStop" else {}),
            "cwd": scene.cwd, "hook_event_name": name, **(model if name != "SessionEnd" else {}),
            **({"permission_mode": mode} if row.has_mode else {}),
            **{key: value or _EMPTY.get(key, value) for key in row.sends for value in (field_of(call.payload, key),)},
        }  # fmt: skip
        return Encoded(base.encoded(document))

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        name = base.event_name(document, ROWS)
        row = ROWS[name]
        given = {key: value for key, value in document.items() if value is not None}
        payload = base.payload_record(row.event, name, given)
        agent = () if "agent_id" in row.sends else ("agent_id", "agent_type")
        texts = base.scene_texts(given, (*_OF_SCENE, *agent))
        turn = texts.pop("turn_id", None)
        return Parsed(row.event, payload, Scene(**texts, extra={"turn_id": turn} if turn else None))

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        return Writer(event_name, outcome, payload).reply()

    def read_json(self, text: bytes) -> Any:
        return read_lenient(text)

    def read_answer(self, call: Call, document: Mapping[str, Any]) -> tuple[Outcome, tuple[str, ...]]:
        return Reader(event_name=call.hook.policy.event_name).read(document)

    def decode(self, call: Call, raw: RawResult) -> Decoded:
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
        """Cut in the middle. Codex also writes the whole text to a file, and names it to the model."""
        raw, half = text.encode("utf-8", "replace"), self._most // 2
        if len(raw) <= self._most:
            return text
        head, tail = raw[:half].decode("utf-8", "ignore"), raw[len(raw) - half :].decode("utf-8", "ignore")
        return f"{head}…{(len(raw) - self._most) // _TOKEN} tokens truncated…{tail}"

    def blocked(self, call: Call, raw: Exited) -> Decoded:
        if not ROWS[call.hook.policy.event_name].exit_2_blocks:
            return self.crashed(call, raw)
        if not base.stderr_text(raw):
            return self.failed(
                call, raw, "crashed", "exit 2 without a reason on stderr stops nothing in Codex"
            )
        return super().blocked(call, raw)

    def printed(self, call: Call, raw: Exited | Replied, output: bytes) -> Decoded:
        """JSON, or what looks like it; other text is for the model at some events."""
        text, name = output.strip(), call.hook.policy.event_name
        if not text or name == "SessionEnd":
            return NOTHING_SAID
        if text.startswith((b"{", b"[")):
            return self.json_answer(call, raw, text)
        plain = ROWS[name].plain
        if plain == "failure":
            return self.failed(call, raw, "unreadable", f"text that is not JSON is a failure at {name}")
        if plain == "ignored":
            return Decoded(ignored=("plain stdout",))
        return Decoded(Outcome(context_items=(ContextItem(text.decode("utf-8", "replace")),)))
