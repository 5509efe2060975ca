"""Report mistakes in the entries of a file, with their positions and fixes."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.documents.document import Document, misshaped
from hookline.model.diagnostics import Diagnostic, Repair, Severity
from hookline.model.hook import Hook

#: How alike a name must be to be mended without its user: PreToolBatch is not a misspelt PostToolBatch.
CERTAIN = 0.85
#: Words that people write for a field or an event, and its names, as agents have them.
_OTHER_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("cmd", "exec", "run", "script"), ("command", "bash")),
        **dict.fromkeys(("tool", "tools", "pattern"), ("matcher",)),
        # More like PreModelCall, where an agent has that.
        **dict.fromkeys(("pretoolcall", "beforetoolcall"), ("PreToolUse", "preToolUse", "BeforeTool")),
        **dict.fromkeys(("posttoolcall", "aftertoolcall"), ("PostToolUse", "postToolUse", "AfterTool")),
    }
)


#: The fields of a group.
_GROUP_SHAPES: Mapping[str, str] = MappingProxyType({"matcher": "text", "hooks": "a list of objects"})


class LoadReport:
    """Everything found wrong in one document, in the order it was found."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.diagnostics: list[Diagnostic] = list(document.diagnostics)

    def say(
        self,
        severity: Severity,
        code: str,
        message: str,
        *path: str | int,
        fix: str | None = None,
        hook: str | None = None,
        repair: Repair | None = None,
    ) -> None:
        where = self.document.where(*path)
        self.diagnostics.append(Diagnostic(severity, code, message, where, hook, fix, repair))

    def unknown(
        self, what: str, name: str, known: Iterable[str], *path: str | int, severity: Severity = "error"
    ) -> None:
        """Report an unknown name, with the nearest known one."""
        choices = list(known)
        fix, close = self.meant(name, choices), self.certain(name, choices)
        repair = None
        if close is not None and path and path[-1] == name:
            from hookline.documents.edit import found_at  # noqa: PLC0415 only for a mistake

            # A value of the wrong shape would be a worse mistake under the right name.
            shape = _GROUP_SHAPES.get(close, "anything") if what == "field" else "anything"
            fits = misshaped(found_at(self.document.value, path), shape) is None
            repair = Repair("rename", path, close) if fits else None
            beside = found_at(self.document.value, path[:-1])
            if isinstance(beside, Mapping) and close in beside:
                fix = f"join it with {close} on line {self.document.where(*path[:-1], close).line}"
                repair = repair if what == "event" else None
        self.say(severity, f"unknown-{what}", f"no {what} is called {name!r}", *path, fix=fix, repair=repair)

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

        choices = list(known)
        return _same_thing(name, choices) or nearest(name, choices)

    def certain(self, name: str, known: Iterable[str]) -> str | None:
        """Return the known name that was certainly meant: another word for it, or nearly the same letters."""
        from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

        choices = list(known)
        return _same_thing(name, choices) or nearest(name, choices, CERTAIN)

    def meant(self, name: str, known: Iterable[str]) -> str:
        """Return the fix for an unknown name."""
        choices = list(known)
        close = self.nearest(name, choices)
        return f"did you mean {close}?" if close else f"one of {', '.join(choices)}"

    def fields(
        self, entry: Mapping[str, Any], shapes: Mapping[str, str], *path: str | int, hook: str | None = None
    ) -> tuple[dict[str, Any], bool]:
        """Return the fields that have their shape, and True if all did. Unknown fields are warnings."""
        good: dict[str, Any] = {}
        sound = True
        for key, value in entry.items():
            shape = shapes.get(key)
            if shape is None:
                self.unknown("field", key, shapes, *path, key, severity="warning")
            elif (instead := misshaped(value, shape)) is not None:
                sound = False
                self.say("error", "wrong-type", f"{key} is {instead}", *path, key, hook=hook)
            else:
                good[key] = value
        return good, sound


def about(
    hook: Hook,
    severity: Severity,
    code: str,
    message: str,
    *path: str | int,
    fix: str | None = None,
    repair: Repair | None = None,
) -> Diagnostic:
    """Make a finding about one hook, at its entry or at a field of it."""
    return Diagnostic(severity, code, message, hook.where.at(*path), hook.name, fix, repair)


def _same_thing(name: str, choices: Sequence[str]) -> str | None:
    """Return the choice that is another word for the name: `cmd` has more letters of `cwd` than of `command`."""
    meant = [each for each in _OTHER_WORDS.get(name.casefold(), ()) if each in choices]
    # An agent with an event in two spellings gives each another payload.
    alike = (each for each in meant if each[:1].islower() == name[:1].islower())
    return next(alike, meant[0] if meant else None)
