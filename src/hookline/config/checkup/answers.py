"""Answers nobody reads: plain text, `continue: false`, an exit code or a decision that means something else there."""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from hookline.config.checkup.here import Here, about, agent_of, entries
from hookline.config.checkup.probing import decides, heard, understood
from hookline.config.checkup.script_texts import (
    ScriptText,
    exit_codes,
    printed_words,
    script_text,
    without_comments,
)
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import PRE_TOOL_USE, USER_PROMPT_SUBMIT, May
from hookline.model.hook import Hook
from hookline.model.raw import Exited, Replied

_CONTINUE: Final = re.compile(r"""["']continue\\?["']\s*:\s*(?:false|False)""")


class _Answer(Struct, frozen=True):
    """A way to decide, how it looks in a script, and what the agent is given to see whether it counts."""

    code: str
    says: str
    looks: re.Pattern[str]
    sample: dict[str, Any]


_ANSWERS: Final = (
    _Answer(
        "unread-answer", '"decision": "block"', re.compile(r"""["']decision\\?["']\s*:\s*\\?["']block"""),
        {"decision": "block", "reason": "x"},
    ),
    _Answer(
        "unread-answer", '"permissionDecision": "deny"',
        re.compile(r"""["']permissionDecision\\?["']\s*:\s*\\?["']deny"""),
        {"hookSpecificOutput": {"hookEventName": "EVENT", "permissionDecision": "deny"}},
    ),
    _Answer("continue-false", '"continue": false', _CONTINUE, {"continue": False, "stopReason": "x"}),
)  # fmt: skip


def answers(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    for hook in entries(loaded):
        if hook.broken is not None or hook.mode != "enforce":
            continue
        if hook.kind in ("prompt", "agent"):
            yield from _unheard_model(hook)
            continue
        script = script_text(hook, here) if hook.kind == "command" else None
        if script is not None:
            yield from _of_script(hook, script)


def _of_script(hook: Hook, script: ScriptText) -> Iterator[Diagnostic]:
    for answer in _ANSWERS:
        if answer.looks.search(without_comments(script.text)):
            yield from _dead_answer(hook, answer, script)
    yield from _ends_the_turn(hook, script)
    yield from _no_block(hook, script)
    words = printed_words(script)
    if words is not None and hook.waiting == "wait" and not heard(hook, words):
        message = f"{_named(script)} prints text, and at {hook.policy.spelled} {agent_of(hook)} reads none"
        fix = (
            "print it to stderr (>&2), or answer in JSON"
            if script.language == "shell"
            else "print it to sys.stderr"
        )
        yield about(hook, "warning", "unread-output", message, "command", fix=fix)


def _dead_answer(hook: Hook, answer: _Answer, script: ScriptText) -> Iterator[Diagnostic]:
    sample: dict[str, Any] = {
        key: {**value, "hookEventName": hook.policy.spelled} if key == "hookSpecificOutput" else value
        for key, value in answer.sample.items()
    }
    if not decides(hook, sample):
        unread = f"which {agent_of(hook)} does not read at {hook.policy.spelled}"
        message = f"{_named(script)} answers {answer.says}, {unread}"
        yield about(hook, "warning", answer.code, message, "command", fix=_instead(hook))


def _instead(hook: Hook) -> str:
    if not hook.policy.may & hook.event.may & May.BLOCK:
        return f"nothing can be stopped at {hook.policy.spelled}"
    return "exit 2, with the reason on stderr"


def _ends_the_turn(hook: Hook, script: ScriptText) -> Iterator[Diagnostic]:
    """At a tool call `continue: false` is more than a denial."""
    if hook.event is not PRE_TOOL_USE or not _CONTINUE.search(without_comments(script.text)):
        return
    decoded = understood(hook, Exited(0, stdout=b'{"continue": false, "stopReason": "x"}'))
    if decoded is not None and decoded.outcome.halts:
        message = f'{_named(script)} answers "continue": false, which ends the whole turn, not only this call'
        fix = 'permissionDecision "deny" refuses the call alone'
        yield about(hook, "warning", "continue-false", message, "command", fix=fix)


def _no_block(hook: Hook, script: ScriptText) -> Iterator[Diagnostic]:
    """A guard that means to refuse by exit 1, where that is an error and everything goes ahead."""
    guards = hook.event in (PRE_TOOL_USE, USER_PROMPT_SUBMIT) and hook.policy.may & May.BLOCK
    codes = exit_codes(script)
    says_more = any(answer.looks.search(script.text) for answer in _ANSWERS) or '"deny"' in script.text
    if not guards or hook.waiting != "wait" or codes & {2} or 1 not in codes or says_more:
        return
    decoded = understood(hook, Exited(1))
    if decoded is None or decoded.outcome.votes or hook.reaction("crashed") == "block":
        return
    message = f"{_named(script)} ends with exit 1, which does not block: {agent_of(hook)} goes ahead"
    yield about(hook, "warning", "exit-1", message, "command", fix="exit 2")


def _unheard_model(hook: Hook) -> Iterator[Diagnostic]:
    no = understood(hook, Replied(b'{"ok": false, "reason": "x"}'))
    if no is None or not hook.policy.may & May.BLOCK or hook.dialect not in ("claude-code", "native"):
        return
    if not no.outcome.votes and not no.outcome.halts and hook.waiting == "wait":
        where = hook.policy.spelled
        message = f"a {hook.kind} hook decides nothing at {where}: {agent_of(hook)} does not read its answer"
        yield about(
            hook, "warning", "unread-answer", message, "type", fix="a command or http hook can decide here"
        )


def _named(script: ScriptText) -> str:
    return "it" if not script.file else script.file.rsplit("/", 1)[-1]
