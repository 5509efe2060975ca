"""What `hookline rule` prints."""

import time
from collections.abc import Iterator

from msgspec import Struct

from hookline.cli.text import count_of, json_lines, paragraph, table, with_tilde
from hookline.model.safe_text import one_line, printable


class RuleDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """What was done to a rule."""

    #: added, promoted, demoted, switched off.
    done: str
    name: str
    rule: str
    mode: str
    file: str

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        hint = {
            "shadow": f"it is asked and recorded, and stops nothing; then: hookline rule promote {self.name}",
            "off": "it is not asked any more",
        }.get(self.mode, "it is in force")
        text = f"{self.done} {self.name} ({self.rule}) in {with_tilde(self.file)}: {hint}"
        return paragraph(printable(text), width)


class RuleFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule, or another hook of Hookline's own files, and what the journal knows of it."""

    name: str
    rule: str
    mode: str
    source: str
    scope: str
    event: str
    runs: int
    #: Runs in shadow, and what it would have done in them, by decision.
    shadow_runs: int
    shadow: dict[str, int]
    last_verdict: str
    #: Seconds since the epoch; 0: never.
    last: float

    def as_text(self, width: int) -> str:
        return "\n".join(paragraph(line, width) for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name}: {self.rule} ({with_tilde(self.source)})"
        if not self.shadow_runs:
            yield "It has not been asked in shadow yet; `hookline backtest` says what it would have done."
            return
        would = ", ".join(
            f"{word} {number:,}" for word, number in sorted(self.shadow.items()) if word != "pass"
        )
        yield f"In shadow it was asked {count_of(self.shadow_runs, 'time')}. It would have said: {would or 'nothing'}."
        yield f"`hookline log --hook {self.name!r}` shows each of them."


class RulesDocument(Struct, frozen=True, forbid_unknown_fields=True):
    rules: tuple[RuleFacts, ...]

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        if not self.rules:
            return "there are no rules here; `hookline rule add NAME 'deny Bash(rm -rf *)'` writes one"
        rows = [["name", "mode", "rule", "asked", "would have", "last", "where"]]
        return table([*rows, *(_row(each) for each in self.rules)], width)


def _row(each: RuleFacts) -> list[str]:
    would = ", ".join(f"{word} {number:,}" for word, number in sorted(each.shadow.items()) if word != "pass")
    last = (
        f"{each.last_verdict} {time.strftime('%Y-%m-%d', time.localtime(each.last))}"
        if each.last
        else "never"
    )
    return [
        one_line(each.name, 40), each.mode, one_line(each.rule, 100), f"{each.runs:,}", would or "-", last,
        with_tilde(each.source),
    ]  # fmt: skip
