"""Compute the attributes of spans and metrics from an engine's notifications, without OpenTelemetry."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.engine.translate_calls import call_of
from hookline.journal.redaction import Redactor
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.run import Run
from hookline.telemetry import vocabulary as words

_MOST_TEXT = 4096
#: Records that are no run of a hook: one that was not selected, and the start of one that ends later.
_NO_RUN = frozenset({"skipped", "background"})


class Facts:
    """The attributes of one observer. `content`: with texts, redacted by the secrets of this environment."""

    def __init__(self, env: Mapping[str, str], *, content: bool) -> None:
        self._content = content
        self._redactor = Redactor(dict(env)) if content else None

    def at_beginning(self, session: Any, event: EventSpec[Any], payload: Any) -> dict[str, Any]:
        begun = words.Begun(
            event.name,
            payload,
            session.info,
            session.engine.journal.caller,
            _kinds(session, payload),
            self._text(getattr(payload, "tool_input", None)) if self._content else "",
        )
        return words.attributes(words.AT_BEGINNING, begun, content=self._content)

    def at_end(self, outcome: Outcome) -> dict[str, Any]:
        return self._cleaned(words.attributes(words.AT_END, outcome, content=self._content))

    def of_run(self, run: Run) -> dict[str, Any] | None:
        """Return the attributes of a run; None for a record that is none."""
        if run.status in _NO_RUN:
            return None
        return self._cleaned(words.attributes(words.OF_HOOK, run, content=self._content))

    def _text(self, value: Any) -> str:
        """Redact a text, then cut it: half a secret would not be found."""
        if value is None or self._redactor is None:
            return ""
        try:
            text = msgspec.json.encode(value).decode()
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            return ""
        return self._redactor.redact(text)[:_MOST_TEXT]

    def _cleaned(self, found: dict[str, Any]) -> dict[str, Any]:
        if self._redactor is not None:
            for name in ("hookline.reason", "hookline.detail"):
                if name in found:
                    found[name] = self._redactor.redact(found[name])[:_MOST_TEXT]
        return found


def _kinds(session: Any, payload: Any) -> list[str]:
    """Return the kinds of action of a call, whatever its agent calls the tool."""
    if not isinstance(getattr(payload, "tool_name", None), str):
        return []
    kinds = (action.kind for action in call_of(payload, session).actions)
    return list(dict.fromkeys(kind.name for kind in kinds if kind is not None))
