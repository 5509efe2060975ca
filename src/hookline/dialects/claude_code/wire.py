"""Decode the results of Claude Code's hooks, and encode payloads and answers."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from hookline.dialects.claude_code.events import NO_REASON, ROWS, EventRow
from hookline.dialects.claude_code.payload import encode_payload, parse_payload
from hookline.dialects.family import wire as family
from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.handlers.specs import AgentSpec
from hookline.model.outcome import PASS, Answer, ContextItem, Message, Outcome, Vote
from hookline.model.policy import Cause
from hookline.model.raw import Exited, Failed, Replied, failure
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

_NO_STDERR: Final = "No stderr output"
_CUT_OFF: Final = "its output was cut off, so it was not read"
_ANSI: Final = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"

#: Events at which the verdict of a model's hook has no effect.
_IGNORES_DECISIONS: Final = frozenset({"PermissionRequest", "PermissionDenied"})
_SENDS_BACK: Final = frozenset({"Stop", "SubagentStop"})
_ENDS_TURN: Final = frozenset(
    {"PreToolUse", "PostToolUse", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion", "TeammateIdle"}
)
#: Events where the verdict ends the turn and is not a remark to the model.
_ONLY_ENDS: Final = frozenset({"PostToolUse", "TeammateIdle"})


class ClaudeCodeWire(family.ResultReader):
    """The wire of Claude Code. Stateless: one object serves every hook."""

    no_reason = NO_REASON

    def encode(self, call: HookInvocation) -> Encoded:
        return encode_payload(call)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return parse_payload(document)

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        if outcome == PASS:
            return HookReply()  # most answers: there is nothing to say
        from hookline.dialects.claude_code.answers import answer  # noqa: PLC0415 see above

        return answer(event_name, outcome, payload)

    def read_json(self, text: bytes) -> Any:
        return read_lenient(text)

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        from hookline.dialects.claude_code.answers import Reader  # noqa: PLC0415 as above

        return Reader(event_name=call.hook.policy.event_name, payload=call.payload).read(document)

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        row = ROWS[call.hook.policy.event_name]
        if not row.reads_answers:
            return NOTHING_SAID if raw.code == 0 else self.crashed(call, raw)
        if call.hook.policy.event_name == "WorktreeCreate":
            return self._worktree(call, raw)
        is_async, stdout = family.split_async_mark(raw.stdout)
        text = _trimmed(stdout)
        if is_async or call.hook.waiting == "async":
            return self._late(call, raw, text)
        is_object = text.startswith("{") and text.endswith("}")
        answer = self._json(call, raw, text) if is_object else None
        if raw.code == 2:
            return _exit_2(call, row, raw, answer, text)
        if raw.code != 0:
            return self._exit_other(call, raw, answer)
        return answer if answer is not None else self._plain(call, row, raw, text)

    def _json(self, call: HookInvocation, raw: Exited | Replied, text: str) -> Decoded:
        """Read an object, or return why it is none: text that looks like one is never plain text."""
        if raw.truncated:
            return self.failed(call, raw, "truncated", _CUT_OFF)
        return self.json_answer(call, raw, text.encode("utf-8", "replace"))

    def _plain(self, call: HookInvocation, row: EventRow, raw: Exited, text: str) -> Decoded:
        if not text:
            return NOTHING_SAID
        if not row.plain_context:
            return Decoded(ignored=("plain stdout",))
        if raw.truncated and text.startswith("{"):
            return self.failed(call, raw, "truncated", _CUT_OFF)
        return Decoded(Outcome(context_items=(ContextItem(text),)))

    def _exit_other(self, call: HookInvocation, raw: Exited, answer: Decoded | None) -> Decoded:
        """Read a failing exit: a readable answer is used with any exit code; but for `onFailure` a code other
        than 0 is still a failure."""
        if answer is None or answer.failure is not None:
            return self.crashed(call, raw)
        if call.hook.on_failure is not None:
            return replace(answer, failure=self.crashed(call, raw).failure)
        return replace(answer, ignored=(*answer.ignored, f"exit code {raw.code}"))

    def _late(self, call: HookInvocation, raw: Exited | Replied, text: str) -> Decoded:
        """Read an answer after the agent continued: only the two texts of an object still reach it."""
        code = raw.code if isinstance(raw, Exited) else 0
        if isinstance(raw, Exited) and code not in (0, 2):
            return self.crashed(call, raw)
        unread = ("exit code 2",) if code == 2 else ()
        if not text.startswith("{"):
            return Decoded(ignored=(*unread, "plain stdout") if text else unread)
        from hookline.dialects.claude_code.answers import read_late  # noqa: PLC0415 as above

        try:
            outcome, ignored = read_late(read_lenient(text.encode("utf-8", "replace")))
        except JsonTextError as error:
            return self.failed(call, raw, "unreadable", f"the answer cannot be read: {error}")
        return Decoded(outcome, ignored=(*unread, *ignored))

    def _worktree(self, call: HookInvocation, raw: Exited) -> Decoded:
        """Read the path of a worktree: any failure blocks, and the last line with text is the path."""
        if raw.code != 0:
            return Decoded(Outcome(votes=(Vote("block", _stderr(raw) or f"exit code {raw.code}"),)))
        text = re.sub(_ANSI, "", raw.stdout.decode("utf-8", "replace")).strip()
        if text.startswith("{") and text.endswith("}"):
            return self._json(call, raw, text)
        path = text.split("\n")[-1].strip()
        if not path:
            return self.failed(call, raw, "unreadable", "it printed no path")
        return Decoded(Outcome(answers=(Answer(path),)))

    def replied(self, call: HookInvocation, raw: Replied) -> Decoded:
        if call.hook.kind in ("prompt", "agent"):
            return self._decision(call, raw)
        if call.hook.kind == "mcp_tool":
            # The text of a tool is read as the stdout of a command that ended well.
            return self.exited(call, Exited(0, raw.body, truncated=raw.truncated))
        return self._http(call, raw)

    def _http(self, call: HookInvocation, raw: Replied) -> Decoded:
        text = _trimmed(raw.body)
        if self.is_http_error(raw.status):
            return self.failed(call, raw, "transport", family.with_first_line(f"HTTP {raw.status}", raw.body))
        if not ROWS[call.hook.policy.event_name].reads_answers or not text:
            return NOTHING_SAID
        if not text.startswith("{"):
            detail = family.with_first_line("an HTTP hook must return JSON, but this did", raw.body)
            return self.failed(call, raw, "unreadable", detail)
        if call.hook.waiting == "async":
            return self._late(call, raw, text)
        return self._json(call, raw, text)

    def _decision(self, call: HookInvocation, raw: Replied) -> Decoded:
        """Read a model's answer: `{"ok": true | false, "reason": "..."}`."""
        try:
            document: Any = read_lenient(family.without_fence(raw.body.strip()))
        except JsonTextError as error:
            return self.failed(call, raw, "unreadable", f"the model's verdict cannot be read: {error}")
        decision: Mapping[str, Any] = (
            cast("Mapping[str, Any]", document) if isinstance(document, dict) else {}
        )
        ok, reason = decision.get("ok"), decision.get("reason", "")
        if not isinstance(ok, bool) or not isinstance(reason, str):
            return self.failed(call, raw, "unreadable", "the model gave no verdict with ok and reason")
        return NOTHING_SAID if ok else _objected(call, reason, impossible=decision.get("impossible") is True)

    def crashed(self, call: HookInvocation, raw: Exited) -> Decoded:
        broke = failure(raw, *family.crash(raw))
        return Decoded(failure=_worded(call, broke, "failed", _stderr(raw) or _NO_STDERR))

    def failed(
        self, call: HookInvocation, raw: Exited | Replied | None, cause: Cause, detail: str
    ) -> Decoded:
        return Decoded(failure=_worded(call, failure(raw, cause, detail), "failed", detail))

    def broke(self, call: HookInvocation, raw: Failed) -> Decoded:
        happened = "timed out" if raw.cause == "timed_out" else "failed"
        shown = raw.stderr.decode("utf-8", "replace").strip() or (raw.detail if happened == "failed" else "")
        return Decoded(failure=_worded(call, raw, happened, shown))


def _exit_2(call: HookInvocation, row: EventRow, raw: Exited, answer: Decoded | None, text: str) -> Decoded:
    """Read exit 2: a block where the event has one, regardless of stdout; the answer's own reason comes first."""
    outcome = answer.outcome if answer is not None else PASS
    ignored = answer.ignored if answer is not None else ()
    stderr = _stderr(raw)
    if not row.exit_2_blocks:
        messages = (*outcome.messages, Message(stderr)) if stderr else outcome.messages
        return Decoded(replace(outcome, messages=messages), ignored=(*ignored, "exit code 2"))
    if outcome.blocked:
        return Decoded(outcome, ignored=ignored)
    if call.hook.waiting == "rewake":
        stderr = stderr or text
    block = Vote("block", stderr or _NO_STDERR)
    return Decoded(replace(outcome, votes=(*outcome.votes, block)), ignored=ignored)


def _objected(call: HookInvocation, reason: str, *, impossible: bool) -> Decoded:
    """Apply a model's denial. Its effect depends on the event, and on the entry's option to continue."""
    event_name = call.hook.policy.event_name
    goes_on = isinstance(call.hook.spec, AgentSpec) or getattr(call.hook.spec, "continue_on_block", False)
    reason = reason.strip() or NO_REASON
    if event_name in _IGNORES_DECISIONS:
        return Decoded(ignored=("ok",))
    if event_name in _SENDS_BACK and impossible:
        return Decoded(ignored=("ok (said to be impossible)",))
    from hookline.dialects.claude_code.answers import Reader  # noqa: PLC0415 as above

    said = Reader(event_name=event_name, payload=call.payload)
    if event_name in _ENDS_TURN and not goes_on:
        said.halt(reason)
    if not said.votes and (goes_on or event_name not in _ONLY_ENDS):
        said.block(reason)
    return Decoded(said.outcome())


def _trimmed(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip().strip("\ufeff").strip()


def _stderr(raw: Exited) -> str:
    return raw.stderr.decode("utf-8", "replace").rstrip()


def _worded(call: HookInvocation, broke: Failed, happened: str, shown: str) -> Failed:
    """Use the client's words where the entry says that a failure blocks."""
    if call.hook.on_failure != "block":
        return broke
    return replace(broke, words=f'{happened}; blocking because onFailure is "block"\n{shown}'.rstrip())
