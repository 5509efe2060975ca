"""An outcome as the answer of a hook that Docker Agent started."""

from typing import Any

import msgspec

from hookline.dialects.dialect import Spelled
from hookline.dialects.docker_agent.answer import REWRITES
from hookline.dialects.docker_agent.telling import encoded_answer
from hookline.dialects.docker_agent.vocabulary import NEVER_APPROVES
from hookline.model.events import May
from hookline.model.outcome import Outcome
from hookline.model.wire import Told

#: Parts of an outcome Docker Agent has no key for.
_NOWHERE = ("permission_updates", "watch_paths", "seeds", "env_items")
_LABELS = {"seeds": "initial_user_message", "env_items": "env"}


def answer_to(spelled: Spelled, outcome: Outcome) -> Told:
    """Always exit 0 with one object, or nothing when there is nothing to say."""
    telling = _Telling(spelled, outcome)
    telling.verdict()
    telling.text()
    telling.rewrite()
    telling.the_rest()
    if telling.specific:
        telling.top["hook_specific_output"] = {"hook_event_name": spelled.name, **telling.specific}
    stdout = encoded_answer(telling.top) if telling.top else ""
    return Told(0, stdout, lost=tuple(telling.lost))


class _Telling:
    """An answer being put together."""

    def __init__(self, spelled: Spelled, outcome: Outcome) -> None:
        self._name = spelled.name
        self._event = spelled.event
        self._may = spelled.policy.may & spelled.event.may
        self._outcome = outcome
        self.top: dict[str, Any] = {}
        self.specific: dict[str, Any] = {}
        self.lost: list[str] = []

    def verdict(self) -> None:
        permission, reason = self._outcome.permission, self._outcome.reason or ""
        if self._outcome.stop:
            self.lost.append("stop")
            if self._may & May.BLOCK:
                permission, reason = "deny", reason or self._outcome.stop_reason or "the run is to stop"
        if permission is None:
            return
        if self._may & May.PERMIT and not (permission == "allow" and self._name in NEVER_APPROVES):
            self._permit(permission, reason)
        else:
            self._stop(permission, reason)

    def _permit(self, permission: str, reason: str) -> None:
        if permission == "defer":
            self.lost.append("defer")
        self.specific["permission_decision"] = "ask" if permission == "defer" else permission
        if reason:
            self.specific["permission_decision_reason"] = reason

    def _stop(self, permission: str, reason: str) -> None:
        """Where there is no decision to give: a denial is a block, and nothing else can be said."""
        if permission != "deny":
            self.lost.append(permission)
        if permission in ("ask", "defer") and self._event.may & May.PERMIT:
            # What nobody can be asked about under this name must not happen.
            permission, reason = "deny", reason or "this needs the user's permission"
        if permission == "deny" and self._may & May.BLOCK:
            self.top.update({"decision": "block", "reason": reason})
        elif permission == "deny":
            self.lost.append("block")

    def text(self) -> None:
        texts = self._outcome.context
        if texts and self._may & May.CONTEXT:
            self.specific["additional_context"] = "\n".join(texts)
        elif texts:
            self.lost.append("context")
        if self._outcome.messages:
            self.top["system_message"] = "\n".join(message.text for message in self._outcome.messages)

    def rewrite(self) -> None:
        if not self._outcome.edits:
            return
        field = self._event.rewrites or ""
        value = self._outcome.updated(field)
        if value is None or not self._may & May.REWRITE or not _fits(field, value):
            self.lost.append("rewrite")
        else:
            self.specific[REWRITES[field]] = value
            if field == "tool_input" and not all(edit.patch for edit in self._outcome.edits):
                self.lost.append("removal of keys")  # what is told is laid over the input that is there

    def the_rest(self) -> None:
        answer = self._outcome.answer
        if isinstance(answer, str) and answer and self._may & May.ANSWER:
            self.specific["summary"] = answer
        elif self._outcome.answers:
            self.lost.append("answer")
        self.lost.extend(_LABELS.get(name, name) for name in _NOWHERE if getattr(self._outcome, name))
        if self._outcome.retry:
            self.lost.append("retry")


def _fits(field: str, value: Any) -> bool:
    """Whether it can be said here: text for a result, an object or a list for the others."""
    try:
        plain = msgspec.to_builtins(value)
    except (TypeError, ValueError, RecursionError):
        return False
    if field == "tool_response":
        return isinstance(plain, str)
    if field == "tool_input":
        return isinstance(plain, dict)
    return isinstance(plain, list) and plain != []  # an empty list is read as no rewrite
