"""Reports about the entries of a file: mistakes, with their places and fixes."""

from collections.abc import Iterable, Mapping
from typing import Any

from hookline.documents.document import Document, misshaped
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.hook import Hook


class Report:
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
    ) -> None:
        self.diagnostics.append(Diagnostic(severity, code, message, self.document.where(*path), hook, fix))

    def unknown(
        self, what: str, name: str, known: Iterable[str], *path: str | int, severity: Severity = "error"
    ) -> None:
        """A name that does not exist, with the nearest one that does."""
        fix = self.meant(name, known)
        self.say(severity, f"unknown-{what}", f"no {what} is called {name!r}", *path, fix=fix)

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

        return nearest(name, known)

    def meant(self, name: str, known: Iterable[str]) -> str:
        """The fix for a name that does not exist."""
        choices = list(known)
        close = self.nearest(name, choices)
        return f"did you mean {close}?" if close else f"one of {', '.join(choices)}"

    def fields(
        self, entry: Mapping[str, Any], shapes: Mapping[str, str], *path: str | int, hook: str | None = None
    ) -> tuple[dict[str, Any], bool]:
        """The fields that have their shape, and whether all did. Unknown fields are warnings."""
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
    hook: Hook, severity: Severity, code: str, message: str, *path: str | int, fix: str | None = None
) -> Diagnostic:
    """Something about one hook, at its entry or at a field of it."""
    return Diagnostic(severity, code, message, hook.where.at(*path), hook.name, fix)
