"""Print and encode changes of `hookline guard`, the existing guards, and their decisions."""

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.cli.agents_asking import AskingAgent
from hookline.cli.describe import short_source
from hookline.cli.output import Colour, paint
from hookline.cli.text import (
    columns,
    count_of,
    headed_table,
    indented,
    json_lines,
    paragraph,
    table,
    with_tilde,
)
from hookline.guards import FORBIDDING
from hookline.model.outcome import Permission
from hookline.model.safe_text import one_line, printable

_RUN_TESTS = ("python -m pytest tests/test_hooks.py", "run the tests; pytest and hookline in one environment")
_FIRST_STEPS = (
    ("hookline doctor", "are all your hooks alive?"),
    ("hookline install", "let your agents ask, too"),
)
_AFTER_RECOMMENDED = (
    ("hookline guard test 'git push --force'", "ask them about a line"),
    ("hookline backtest", "what would they have stopped in your past sessions?"),
)
_IN_SHADOW = (
    ("hookline guard promote recommended", "enforce them, after you have seen what they would stop"),
)


class GuardDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """Change of a guard."""

    #: added, promoted, demoted, switched off, removed.
    done: str
    name: str
    rule: str
    mode: str
    file: str

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        hint = {
            "shadow": f"it runs and is recorded, but stops nothing; to enforce it: hookline guard promote {self.name}",
            "off": "it does not run any more",
        }.get(self.mode, "it is active")
        hint = "" if self.done == "removed" else f": {hint}"
        where = "from" if self.done == "removed" else "in"
        text = f"{self.done} {self.name} ({self.rule}) {where} {with_tilde(self.file)}{hint}"
        return paragraph(printable(text), width)


class ChangesDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes of several guards."""

    changes: tuple[GuardDocument, ...]

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        return "\n".join(each.as_text(width) for each in self.changes)


class TriedCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """One command that a new guard was tried on."""

    command: str
    decision: Permission | None
    reason: str | None = None


class WrittenTests(Struct, frozen=True, forbid_unknown_fields=True):
    """A first test of the hooks of a project."""

    file: str
    text: str

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        del width
        return "\n".join([*_written(self.file, self.text), *_next_steps([_RUN_TESTS])])


class AddedDocument(GuardDocument, frozen=True, forbid_unknown_fields=True):
    """A guard that was added, and how it was tried."""

    #: The entry, as it was written.
    text: str = ""
    #: True if it is the first of a new file.
    is_first: bool = False
    #: The decisions of the guard on trial; empty for your own rule.
    tried: tuple[TriedCommand, ...] = ()
    #: True if it runs in this directory: `disable` in the user's own file may switch it off.
    active: bool = False
    #: The agents here that do not ask it yet.
    not_asked_by: tuple[str, ...] = ()
    #: Why it is not trusted, or what it did not do.
    problem: str | None = None
    #: With --tests.
    tests: WrittenTests | None = None

    def as_text(self, width: int) -> str:
        return "\n".join(self._lines(width))

    def _lines(self, width: int) -> Iterator[str]:
        yield super().as_text(width)
        yield ""
        yield from _quoted(self.text)
        if self.tried:
            shadow = ", but in shadow mode it stops nothing" if self.mode == "shadow" else ""
            yield f"\nAsked about two commands, it says{shadow}:\n"
            room = max(columns(_short(each.command)) for each in self.tried)
            yield from (_tried_line(each, room, width) for each in self.tried)
        if self.tests is not None:
            yield ""
            yield from _written(self.tests.file, self.tests.text)
        yield from _unasked(self.not_asked_by, width)
        if not self.active:
            yield ""
            yield paragraph("Note: it does not run here; `hookline list` says why.", width)
        yield from _next_steps(
            [*([_RUN_TESTS] if self.tests else ()), *(self._first_steps() if self.is_first else ())]
        )

    def _first_steps(self) -> Iterator[tuple[str, str]]:
        if self.tried:
            command = shlex.quote(self.tried[0].command)
            yield f"hookline fire PreToolUse Bash command={command}", "ask it yourself"
        yield from _FIRST_STEPS


def _written(file: str, text: str) -> Iterator[str]:
    yield f"wrote {printable(with_tilde(file))}"
    yield ""
    yield from _quoted(text)


def _quoted(text: str) -> Iterator[str]:
    yield from (f"  {line}".rstrip() for line in printable(text).strip("\n").split("\n"))


def _short(command: str) -> str:
    return one_line(command, 60)


def _tried_line(tried: TriedCommand, room: int, width: int) -> str:
    said = {"deny": paint("denied", "red"), "ask": paint("asks", "yellow")}
    decision = said.get(tried.decision or "", paint("proceeds", "green"))
    reason = f": {tried.reason}" if tried.reason else ""
    left = max(width - room - len("   proceeds") - 2, 20)
    return f"  {_short(tried.command):{room}}  {decision}{one_line(reason, left)}"


def _unasked(agents: Sequence[str], width: int) -> Iterator[str]:
    if agents:
        does = "does" if len(agents) == 1 else "do"
        yield ""
        yield paragraph(f"{', '.join(agents)} {does} not ask Hookline yet: run `hookline install`.", width)


def _next_steps(steps: Sequence[tuple[str, str]]) -> Iterator[str]:
    if steps:
        yield "\nWhat to do next:\n"
        room = max(len(command) for command, _ in steps)
        yield from (f"  {command:{room}}  {what}" for command, what in steps)


class RecommendedDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """The recommended guards that were added, each with how it was tried."""

    #: Empty if all of them were there already.
    file: str
    mode: str
    added: tuple[AddedDocument, ...]
    #: Those that were there before.
    already: tuple[str, ...]

    @property
    def problem(self) -> str | None:
        return next((f"{each.name}: {each.problem}" for each in self.added if each.problem), None)

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        return "\n".join(self._lines(width))

    def _lines(self, width: int) -> Iterator[str]:
        if not self.added:
            yield paragraph(f"the recommended guards are there already: {', '.join(self.already)}", width)
            return
        shadow = self.mode == "shadow"
        means = "they run and are recorded, but stop nothing" if shadow else "they are active"
        head = f"added {count_of(len(self.added), 'guard')} in {with_tilde(self.file)}: {means}"
        yield paragraph(printable(head), width)
        yield ""
        rows = [
            [each.name, _short(each.tried[0].command), each.tried[0].decision or "proceeds"]
            for each in self.added
            if each.tried
        ]
        yield indented(headed_table([["GUARD", "ASKED ABOUT", "SAYS"], *rows], width - 2), 2)
        if self.already:
            yield ""
            yield paragraph(f"There before: {', '.join(self.already)}.", width)
        yield from _unasked(self.added[0].not_asked_by, width)
        if any(not each.active for each in self.added):
            yield ""
            yield paragraph("Note: some do not run here; `hookline list` says why.", width)
        yield from _next_steps([*(_IN_SHADOW if shadow else ()), *_AFTER_RECOMMENDED, *_FIRST_STEPS])


class BuiltinGuard(Struct, frozen=True, forbid_unknown_fields=True):
    """A guard that comes with Hookline."""

    name: str
    #: A description of what it stops.
    title: str
    #: Its parts that are on by default, and those that are off, each with a description.
    parts: Mapping[str, str]
    more: Mapping[str, str]
    #: True if `guard add recommended` adds it.
    recommended: bool = False
    #: Calls of past sessions that it would have denied; null if there are no sessions.
    would_have_stopped: int | None = None


class BuiltinsDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """The built-in guards, and the options that may follow their names."""

    builtins: tuple[BuiltinGuard, ...]
    options: Mapping[str, str]
    #: The past sessions that the guards judged, their tool calls, and how many days back they go.
    sessions: int = 0
    calls: int = 0
    days: int = 0

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        options = [[option, text.replace("`", "")] for option, text in self.options.items()]
        return "\n".join(
            [
                table(
                    [["GUARD", "WOULD HAVE STOPPED", "STOPS", "PARTS"], *map(_builtin_row, self.builtins)],
                    width,
                ),
                "",
                *(paragraph(line, width) for line in self._notes()),
                "\n`hookline guard add GUARD [ARG …]` adds one. An ARG is one of:\n",
                indented(table(options, width - 2), 2),
            ]
        )

    def _notes(self) -> Iterator[str]:
        yield "* `hookline guard add recommended` adds these."
        yield f"{', '.join(FORBIDDING)} stop what you name: `hookline guard add forbid-path ~/private`."
        if self.sessions:
            judged = f"of {count_of(self.calls, 'tool call')} in {count_of(self.sessions, 'session')}"
            yield (
                f"WOULD HAVE STOPPED: calls of your agents in the last {self.days} days, {judged}. "
                "`hookline backtest --rule 'deny GUARD'` shows them."
            )
        else:
            yield (
                f"WOULD HAVE STOPPED: no agent has left a session of the last {self.days} days here that Hookline "
                "can read."
            )


def _builtin_row(each: BuiltinGuard) -> list[str]:
    stopped = "-" if each.would_have_stopped is None else f"{each.would_have_stopped:,}"
    name = f"{each.name} *" if each.recommended else each.name
    return [name, stopped, each.title, ", ".join([*each.parts, *each.more]) or "-"]


_PROCEEDS: tuple[str, Colour] = "proceeds", "green"
_SAID: Mapping[str, tuple[str, Colour]] = {"deny": ("denied", "red"), "ask": ("you would be asked", "yellow")}


class LineDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """The decision of the guards here about one shell line."""

    line: str
    decision: Permission | None
    #: The guard that decided, and where it is.
    guard: str
    source: str
    reason: str
    #: Guards that were asked.
    asked: int
    #: Guards that only would have stopped it: those in shadow mode, and those that a person has paused.
    would_have: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()
    #: Hooks of agents that see the line too, and were not run.
    not_asked: tuple[str, ...] = ()
    #: Built-in guards that are not here, and would stop it.
    suggested: tuple[str, ...] = ()
    #: The agents here, and those that would not ask the guard that decided.
    agents: tuple[AskingAgent, ...] = ()

    @property
    def _where(self) -> str:
        """The agents in which the decision holds, and those that do not ask."""
        if not self.agents:
            return "no agent was found here that could ask it"
        asking = [each.title for each in self.agents if not each.not_asked]
        silent = [each for each in self.agents if each.not_asked]
        parts = [f"holds in: {', '.join(asking)}"] if asking else []
        if silent:
            parts.append(f"not in {', '.join(each.title for each in silent)}: {silent[0].why}")
        return "; ".join(parts)

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        text = "\n".join(paragraph(printable(line), width) for line in self._lines())
        word, colour = _SAID.get(self.decision or "", _PROCEEDS)
        return f"{paint(word, colour)}{text.removeprefix(word)}"

    def _lines(self) -> Iterator[str]:
        shown = one_line(self.line, 100)
        word, _ = _SAID.get(self.decision or "", _PROCEEDS)
        if self.decision in _SAID:
            yield f"{word} by {self.guard} ({short_source(self.source)}): {shown}"
            yield f"because: {self.reason}"
            yield self._where
            return
        asked = (
            f"{count_of(self.asked, 'guard')} asked" if self.asked else "no guard of Hookline is active here"
        )
        yield f"{word} ({asked}): {shown}"
        if self.paused:
            yield f"these are paused and would have stopped it: {', '.join(self.paused)}"
            yield f"to end a pause: hookline guard resume {shlex.quote(self.paused[0])}"
        elif self.would_have:
            yield f"these are in shadow mode and would have stopped it: {', '.join(self.would_have)}"
            yield f"to enforce one: hookline guard promote {shlex.quote(self.would_have[0])}"
        elif self.suggested:
            yield f"these built-in guards would stop it: {', '.join(self.suggested)}"
            yield f"to add one: hookline guard add {self.suggested[0]}"
        else:
            yield "no built-in guard would stop it either"
            yield "to stop it: hookline guard add NAME 'deny Bash(PATTERN)'"
        if self.not_asked:
            asks = f"hookline fire PreToolUse Bash command={shlex.quote(self.line)}"
            yield f"not asked: {', '.join(self.not_asked)}; {asks} runs {'it' if len(self.not_asked) == 1 else 'them'}"


class GuardFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """A guard, or another hook of Hookline's own files, and its record in the journal."""

    name: str
    rule: str
    mode: str
    source: str
    scope: str
    event: str
    runs: int
    #: Runs in shadow mode, and its decisions there.
    shadow_runs: int
    shadow: dict[str, int]
    last_decision: str
    #: Seconds since the epoch; 0: never.
    last: float
    #: When its pause ends; 0: it is not paused.
    paused_until: float = 0.0

    @property
    def would_have(self) -> str:
        """Count its decisions in shadow, but for those to let the call pass."""
        counted = sorted(self.shadow.items())
        return ", ".join(f"{word} {number:,}" for word, number in counted if word != "pass")

    def as_text(self, width: int) -> str:
        return "\n".join(paragraph(line, width) for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name}: {self.rule} ({with_tilde(self.source)})"
        if not self.shadow_runs:
            yield "It has not run in shadow yet; `hookline backtest` says what it would have done."
            return
        ran = count_of(self.shadow_runs, "time")
        yield f"In shadow it ran {ran}. It would have decided: {self.would_have or 'nothing'}."
        yield f"`hookline log --hook {self.name!r}` shows each of them."


class GuardsDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """The hooks of Hookline's own files."""

    hooks: tuple[GuardFacts, ...]

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        if not self.hooks:
            return "no guard of Hookline is configured here; `hookline guard add` lists the built-in ones"
        rows = [["name", "mode", "rule", "runs", "would have", "last", "where"]]
        return headed_table([*rows, *(_row(each) for each in self.hooks)], width)


def _row(each: GuardFacts) -> list[str]:
    last = (
        f"{each.last_decision} {time.strftime('%Y-%m-%d', time.localtime(each.last))}"
        if each.last
        else "never"
    )
    # A built-in guard usually has the name that its rule repeats.
    rule = " ".join(each.rule.replace(f" {each.name} ", " ").removesuffix(f" {each.name}").split())
    paused = f"paused until {time.strftime('%H:%M', time.localtime(each.paused_until))}"
    mode = paused if each.paused_until else each.mode
    return [
        one_line(each.name, 40), mode, one_line(rule, 100), f"{each.runs:,}", each.would_have or "-", last,
        short_source(each.source),
    ]  # fmt: skip
