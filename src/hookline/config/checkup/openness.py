"""Guards that let everything through when they fail, and in which cases."""

from collections.abc import Iterator, Mapping
from typing import Final

from hookline.config.checkup.here import Here, about, agent_of, entries
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import PRE_TOOL_USE, USER_PROMPT_SUBMIT, May
from hookline.model.hook import Hook
from hookline.model.policy import Cause

#: At a permission request the user is still asked, so a failure there opens nothing.
_GUARDED: Final = (PRE_TOOL_USE, USER_PROMPT_SUBMIT)

_STARTED: Final[Mapping[Cause, str]] = {
    "not_started": "cannot start",
    "crashed": "fails with an error",
    "signalled": "is killed",
    "timed_out": "takes too long",
    "unreadable": "gives an answer nobody can read",
    "truncated": "prints too much",
}
_ASKED: Final[Mapping[Cause, str]] = {
    "transport": "cannot be reached",
    "timed_out": "takes too long",
    "unreadable": "gives an answer nobody can read",
}
_WORDS: Final[Mapping[str, Mapping[Cause, str]]] = {"command": _STARTED}

#: How an entry says that it is to fail closed, by dialect and kind.
_CLOSES: Final[Mapping[tuple[str, str], str]] = {
    ("claude-code", "command"): '"onFailure": "block"',
    ("claude-code", "http"): '"onFailure": "block"',
    ("codewhale", "command"): "continue_on_error = false",
    ("docker-agent", "command"): "on_error: block",
    ("docker-agent", "prompt"): "on_error: block",
    ("docker-agent", "builtin"): "on_error: block",
    **{("native", kind): 'on_failure = "closed"' for kind in ("command", "http", "prompt", "agent", "mcp_tool")},
}  # fmt: skip


def fails_open(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    """A warning where the entry could say otherwise, a fact where its agent gives it no choice."""
    del here
    for hook in entries(loaded):
        words = open_cases(hook)
        if not words:
            continue
        close = _CLOSES.get((hook.dialect, hook.kind))
        cases = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        message = f"this guard fails open: when it {cases}, {agent_of(hook)} goes ahead"
        if close is None:
            yield about(
                hook, "info", "fails-open", message, fix="the same hook in .hookline/hooks.toml fails closed"
            )
        else:
            yield about(hook, "warning", "fails-open", message, fix=close)


def open_cases(hook: Hook) -> tuple[str, ...]:
    """The failures after which the action goes ahead, in words; none for what is no guard."""
    guards = hook.event in _GUARDED and hook.policy.may & May.BLOCK
    if not guards or hook.waiting != "wait" or hook.mode != "enforce" or hook.kind in ("builtin", "function"):
        return ()
    words = _WORDS.get(hook.kind, _ASKED)
    return tuple(text for cause, text in words.items() if hook.reaction(cause) in ("pass", "warn"))
