"""Small models of real agents' wires: only what their hardest policies need."""

import json
from collections.abc import Mapping
from typing import Any, cast

from msgspec.structs import replace

from hookline import Outcome
from hookline.dialects.native.wire import NativeWire
from hookline.events import Capability, EventSpec
from hookline.extending import Decoded, Exited, Failed, HookInvocation, Policy, RawResult
from hookline.model.outcome import PASS, ContextItem, Halt, Message, Rewrite, Vote, VoteKind
from hookline.model.policy import CAUSES, BlockLimit, Cause, Reaction

JUDGE = Capability.BLOCK | Capability.PERMIT | Capability.REWRITE | Capability.STOP
EVERYTHING = JUDGE | Capability.CONTEXT


def always(reaction: Reaction) -> Mapping[Cause, Reaction]:
    return dict[Cause, Reaction].fromkeys(CAUSES, reaction)


def exits(code: int = 0, stderr: str = "", **answer: Any) -> Exited:
    return Exited(code, json.dumps(answer).encode() if answer else b"", stderr.encode())


def says(**specific: Any) -> Exited:
    return exits(hookSpecificOutput=specific)


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _vote(word: Any, reason: str) -> tuple[Vote, ...]:
    kinds: dict[str, VoteKind] = {
        "deny": "block",
        "block": "block",
        "ask": "ask",
        "allow": "allow",
        "defer": "defer",
    }
    return (Vote(kinds[word], reason),) if word in kinds else ()


class ToyWire(NativeWire):
    """Report failures unchanged; each dialect says what an exit means."""

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        if isinstance(raw, Failed):
            return Decoded(failure=raw)
        assert isinstance(raw, Exited)
        return self.read(call, raw, _object(raw.stdout))

    def read(self, call: HookInvocation, raw: Exited, said: dict[str, Any]) -> Decoded:
        raise NotImplementedError


class ChainWire(ToyWire):
    """CodeWhale: flat JSON, exit 2 outranks JSON, JSON counts whatever the exit code."""

    def read(self, call: HookInvocation, raw: Exited, said: dict[str, Any]) -> Decoded:
        if raw.code == 2:
            return Decoded(Outcome(votes=(Vote("block", said.get("reason", "blocked"), rank=2),)))
        if call.event.name == "UserPromptSubmit":
            if raw.code:
                return Decoded(failure=Failed("crashed", f"exit {raw.code}"))
            return Decoded(Outcome(edits=(Rewrite(said["text"]),)) if said.get("text") else PASS)
        votes = _vote(said.get("decision"), said.get("reason", ""))
        edits = (Rewrite(said["updatedInput"]),) if "updatedInput" in said else ()
        failed = Failed("crashed", f"exit {raw.code}") if raw.code and not votes else None
        return Decoded(Outcome(votes=votes, edits=edits), failed)


class NestedWire(ToyWire):
    """Claude Code: nested JSON; an exit other than 0 and 2 is a failure beside whatever the JSON said."""

    def read(self, call: HookInvocation, raw: Exited, said: dict[str, Any]) -> Decoded:
        specific = said.get("hookSpecificOutput", {})
        decision = specific.get("decision", {})
        word = said.get("decision") or specific.get("permissionDecision") or decision.get("behavior")
        reason = specific.get("permissionDecisionReason") or decision.get("message") or said.get("reason", "")
        votes = _vote(word, reason)
        if raw.code == 2:
            votes = (Vote("block", reason or raw.stderr.decode() or "no reason"),)
        outcome = Outcome(
            votes=votes,
            edits=(Rewrite(specific["updatedInput"]),) if "updatedInput" in specific else (),
            context_items=(ContextItem(specific["additionalContext"]),)
            if "additionalContext" in specific
            else (),
            halts=(Halt(),) if said.get("continue") is False else (),
        )
        return Decoded(outcome, Failed("crashed", f"exit {raw.code}") if raw.code not in (0, 2) else None)


class StrictWire(NestedWire):
    """Codex: an unknown key, a deny without a reason, a silent exit 2: failures, not answers."""

    def read(self, call: HookInvocation, raw: Exited, said: dict[str, Any]) -> Decoded:
        if raw.code == 2 and not raw.stderr:
            return Decoded(failure=Failed("unreadable", "exit 2 without a reason"))
        if set(said) - {"hookSpecificOutput", "decision", "reason"}:
            return Decoded(failure=Failed("unreadable", "unknown key"))
        decoded = super().read(call, raw, said)
        if decoded.outcome.blocked and not decoded.outcome.reason:
            return Decoded(failure=Failed("unreadable", "deny without a reason"))
        return decoded


class PatchWire(ToyWire):
    """Docker Agent: snake_case, rewrites are patches."""

    def read(self, call: HookInvocation, raw: Exited, said: dict[str, Any]) -> Decoded:
        if raw.code:
            return Decoded(failure=Failed("crashed", f"exit {raw.code}"))
        specific = said.get("hook_specific_output", {})
        edits = (Rewrite(specific["updated_input"], patch=True),) if "updated_input" in specific else ()
        return Decoded(Outcome(votes=_vote(specific.get("permission_decision"), ""), edits=edits))


class CodeWire(ToyWire):
    """Reasonix: only the exit code speaks."""

    def read(self, call: HookInvocation, raw: Exited, said: dict[str, Any]) -> Decoded:
        if raw.code == 2:
            return Decoded(Outcome(votes=(Vote("block", (raw.stderr or raw.stdout).decode()),)))
        return Decoded(failure=Failed("crashed", f"exit {raw.code}") if raw.code else None)


class TextWire(ToyWire):
    """Gemini: plain text is a message, any exit over 1 blocks, and the next prompt carries the context."""

    def read(self, call: HookInvocation, raw: Exited, said: dict[str, Any]) -> Decoded:
        text = (raw.stdout.strip() or raw.stderr.strip()).decode()
        if not said:
            if raw.code > 1 and text:
                return Decoded(Outcome(votes=(Vote("block", text),)))
            return Decoded(Outcome(messages=(Message(text),)) if text else PASS)
        specific = said.get("hookSpecificOutput", {})
        return Decoded(
            Outcome(
                votes=_vote(said.get("decision"), said.get("reason", "")),
                edits=(Rewrite(specific["tool_input"], patch=True),) if "tool_input" in specific else (),
                context_items=(ContextItem(specific["additionalContext"]),)
                if "additionalContext" in specific
                else (),
            )
        )

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        payload = super().advance(event, payload, outcome)
        if event.name == "UserPromptSubmit" and outcome.context_items:
            return replace(payload, prompt="\n\n".join([payload.prompt, *outcome.context]))
        return payload


WHALE_SUBMIT = Policy(
    event_name="message_submit", may=JUDGE, run="serial", sees="current", stop_on="block",
    failures=always("warn"), block_means="reject_prompt",
)  # fmt: skip
WHALE_TOOL = Policy(
    event_name="tool_call_before", may=EVERYTHING, run="serial", stop_on="closed", failures=always("pass")
)
GEN_TOOL = Policy(
    event_name="PreToolUse", may=EVERYTHING, run="serial", stop_on="block", keep="block_only", failures=always("warn"),
)  # fmt: skip
DOCKER_TOOL = Policy(
    event_name="pre_tool_use", may=JUDGE, run="serial", sees="current", failures=always("block")
)
DOCKER_AT_ONCE = Policy(event_name="pre_tool_use", may=JUDGE, failures=always("pass"))
_REASONIX_FAILURES: Mapping[Cause, Reaction] = {**always("warn"), "timed_out": "block"}
REASONIX_GATE = Policy(
    event_name="PreToolUse", may=Capability.BLOCK, run="serial", stop_on="block", failures=_REASONIX_FAILURES
)
REASONIX_TURN_END = replace(
    REASONIX_GATE, event_name="TurnEnd", block_means="continue_turn", limit=BlockLimit(2)
)
REASONIX_MODEL = replace(REASONIX_GATE, event_name="PreModelCall", limit=BlockLimit(2, "end_turn"))
CLAUDE_TOOL = Policy(event_name="PreToolUse", may=EVERYTHING, failures=always("warn"))
CLAUDE_ASKED = Policy(event_name="PermissionRequest", may=EVERYTHING, failures=always("warn"))
CLAUDE_ASKED_RACE = replace(CLAUDE_ASKED, settle="first_answer")
CLAUDE_STOP = Policy(
    event_name="Stop", may=EVERYTHING, failures=always("warn"), block_means="continue_turn",
    limit=BlockLimit(8, "pass", "call"),
)  # fmt: skip
CLAUDE_POST = Policy(event_name="PostToolUse", may=EVERYTHING, block_means="beside_output")
CODEX_TOOL = Policy(event_name="PreToolUse", may=EVERYTHING, failures=always("warn"))
CODEX_POST = Policy(event_name="PostToolUse", may=EVERYTHING, block_means="replace_output", reasons="joined")
GEMINI_TOOL = Policy(
    event_name="BeforeTool", may=EVERYTHING, run="serial_if_asked", sees="current", reasons="joined",
    failures=always("warn"),
)  # fmt: skip
GEMINI_PROMPT = Policy(
    event_name="BeforeAgent", may=EVERYTHING, run="serial_if_asked", sees="current", block_means="reject_prompt",
)  # fmt: skip
