"""What hooks wrote, made fit to be kept and shown: secrets out, escapes out, and only then cut."""

from typing import Any

from msgspec.structs import replace

from hookline.engine.redaction import Redactor
from hookline.model.run import Run
from hookline.model.safetext import head_and_tail, one_line, printable

#: Characters kept of each end of a text, and of a name.
_KEPT = 4096
_KEPT_OF_A_NAME = 512
_DROPPED_NAMES = 50
#: No secret is longer than this, so text this far from a cut is not a half of one.
_LONGEST_SECRET = 8 * 1024
#: Short texts found clean are remembered, so that a hook that says the same again costs nothing.
_SHORT = 256
_REMEMBERED = 1024

_TEXTS = ("stdout", "stderr", "detail", "reason", "why")
_NAMES = ("hook", "source")


class RunCleaner:
    """Turns a run into the one that may be kept."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        #: Texts known to need no change.
        self.known_clean: set[str] = {""}
        self.problem: str | None = None

    def cleaned(self, run: Run) -> Run:
        try:
            changes = self._changes(run)
        except Exception as error:  # noqa: BLE001 - text that cannot be cleaned is left out, never kept as it is
            self.problem = f"texts of a run left out: cleaning them raised {type(error).__name__}"
            changes = {"stdout": "", "stderr": "", "reason": None, "why": "", "dropped": ()}
            changes |= {"hook": "?", "source": "", "detail": "[left out: the text could not be cleaned]"}
        return replace(run, **changes) if changes else run

    def _changes(self, run: Run) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for name in _TEXTS:
            text: str | None = getattr(run, name)
            if text and (run.truncated or text not in self.known_clean):
                self._settle(changes, name, text, self._clean(text, _KEPT, ends_early=run.truncated))
        for name in _NAMES:
            named: str = getattr(run, name)
            if named not in self.known_clean:
                self._settle(changes, name, named, self._clean(named, _KEPT_OF_A_NAME))
        if run.dropped:
            names = tuple(one_line(self._clean(name, 64), 64) for name in run.dropped[:_DROPPED_NAMES])
            if names != run.dropped:
                changes["dropped"] = names
        return changes

    def _settle(self, changes: dict[str, Any], name: str, text: str, clean: str) -> None:
        if clean != text:
            changes[name] = clean
        elif len(text) <= _SHORT:
            if len(self.known_clean) >= _REMEMBERED:
                self.known_clean.clear()
                self.known_clean.add("")
            self.known_clean.add(text)

    def _clean(self, text: str, keep: int, *, ends_early: bool = False) -> str:
        window = keep + 2 * _LONGEST_SECRET
        if len(text) <= 2 * window:
            return head_and_tail(self._shown(text, ends_early=ends_early), keep)
        # Only the two ends are kept, so only they are read. Half a secret can stand where a window was cut off,
        # and nowhere else: that much of it is given up.
        head = self._shown(text[:window])
        tail = self._shown(text[-window:], ends_early=ends_early)
        head = head[: max(min(keep, len(head) - _LONGEST_SECRET), 0)]
        tail = tail[len(tail) - max(min(keep, len(tail) - _LONGEST_SECRET), 0) :]
        return f"{head}\n[... {len(text) - len(head) - len(tail)} characters left out ...]\n{tail}"

    def _shown(self, text: str, *, ends_early: bool = False) -> str:
        # In this order: a colour code in the middle of a secret would hide it, and then be gone.
        return self._redactor.redact(printable(text), ends_early=ends_early)
