"""Matchers on tool names: anchored regular expressions, and the ones nobody can have meant."""

import string

from hookline.dialects.report import Report
from hookline.matching.matchers import regex_or_names
from hookline.matching.patterns import Patterns
from hookline.model.diagnostics import Path
from hookline.model.errors import PatternError
from hookline.model.hook import Matcher

#: A matcher of these alone is the same as a name or several; anything else is a regular expression.
_PLAIN = frozenset(string.ascii_letters + string.digits + "_-|")


class Matchers:
    """The matchers of one document, each read once."""

    def __init__(self, report: Report, patterns: Patterns) -> None:
        self._report = report
        self._patterns = patterns
        self._known: dict[str, Matcher | None] = {}

    def read(self, text: str, path: Path) -> tuple[Matcher | None, bool]:
        """What it means (None: every tool), and whether it means anything."""
        self._suspect(text, path)
        if text not in self._known:
            try:
                self._known[text] = regex_or_names(text, self._patterns, anchored=True, plain=_PLAIN)
            except PatternError as error:
                self._report.say("error", "bad-pattern", f"matcher: {error}", *path)
                return None, False
        return self._known[text], True

    def _suspect(self, text: str, path: Path) -> None:
        """A regular expression that is well formed, and no tool has such a name."""
        if text.strip() in ("", "*"):
            return
        if any(character in text for character in ", ()") and _bare(text):
            message = f"the matcher {text!r} can never match: no tool has such a name"
            fix = "several names are written a|b; a tool's arguments cannot be matched"
            self._report.say("warning", "dead-matcher", message, *path, fix=fix)
        elif "*" in text and _PLAIN.issuperset(text.replace("*", "")):
            message = f"the matcher {text!r} is a regular expression: * repeats what stands before it"
            self._report.say("warning", "dead-matcher", message, *path, fix=text.replace("*", ".*"))


def _bare(text: str) -> bool:
    """Nothing in it makes a blank, a comma or a bracket part of a regular expression."""
    return not any(character in text for character in "[]{}\\.?+^$") and not _grouped(text)


def _grouped(text: str) -> bool:
    """Brackets that group alternatives, as opposed to a tool's arguments."""
    return "(" in text and " " not in text and "," not in text and ":" not in text
