"""What a guard says to a tool call: the acts of the call against the rows of its policy."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from hookline.guards.policy import OUTSIDE, Flow, GuardedCommand, Policy, by_program
from hookline.guards.rows import LineReader, ReadLine, program_names, rows_for, spellings
from hookline.guards.settings import Settings
from hookline.matching.patterns import Glob, glob
from hookline.matching.shell import HOLE, ShellCommand, ShellReading
from hookline.model.safe_text import one_line
from hookline.tools.acts import Act, Place

#: Why a call that does this in a directory may not be made because it changes what guards the agent; None where it may.
Protects = Callable[[Sequence[Act], str], str | None]

#: Said of every finding in a line that is not read.
SEARCHED = "Lines of PowerShell are searched and judged by the names in them, not read."
_LONGEST_SHOWN = 100
_SHELL_LANGUAGES = frozenset(("sh", "bash", "shell", "zsh", "dash", "ksh", "console", "terminal"))
_NOT_READ = frozenset(("powershell", "pwsh"))
_COMMAND = r"-c(?:o\w*)?"
_MOST_FLOWS = 400
_FUNCTION = r"([\w.-]{1,100})\s*\(\s*\)|\bfunction\s+([\w.-]{1,100})"


class Finding(NamedTuple):
    """What a guard saw."""

    #: The command or the file, and what that does.
    seen: str
    does: str
    #: What could not be told, where it is not sure.
    doubt: str = ""
    #: How it was judged, where that is worth saying.
    note: str = ""


@cache
def _paths():
    """Only guards over files need it."""
    from hookline.guards import paths  # noqa: PLC0415 see above

    return paths


class Judge:
    """One configured guard."""

    def __init__(
        self, policy: Policy, settings: Settings, reader: LineReader, protects: Protects | None = None
    ) -> None:
        self.policy = policy
        self.settings = settings
        self._reader = reader
        self._protects = protects
        self._allowed = [*_patterns(settings.allow)] if policy.allows == "commands" else []

    def finding(self, acts: Sequence[Act], place: Place, *, searched: bool = False) -> Finding | None:
        """The first thing that is surely what the guard is about; else the first that may be.

        Lines of a shell that cannot be read, as those of PowerShell, are `searched`.
        """
        doubtful: Finding | None = None
        for act in acts:
            for found in self._about(act, place, searched):
                found = found._replace(note=SEARCHED) if searched else found  # noqa: PLW2901
                if not found.doubt:
                    return found
                doubtful = doubtful or found
        return doubtful

    def _about(self, act: Act, place: Place, searched: bool) -> Iterator[Finding]:
        kind = act.kind.name if act.kind is not None else ""
        line = act.line
        if self.policy.protects:
            yield from self._protected(act, place)
            yield from self._run(self._reader.read(line), "") if line is not None else ()
        elif line is not None:
            language = str(act.arguments.get("language") or "").casefold()
            if kind == "code" and language not in _SHELL_LANGUAGES:
                yield from self._code(line)
            else:
                yield from self._line(line, Place(act.cwd or place.cwd, place.root, place.home), searched)
        elif kind:
            yield from self._files(act, place)

    def _protected(self, act: Act, place: Place) -> Iterator[Finding]:
        why = self._protects((act,), place.cwd) if self._protects else None
        if why is not None:
            yield Finding("", why)

    # --- tools that name files ---------------------------------------------------------------------------------------

    def _files(self, act: Act, place: Place) -> Iterator[Finding]:
        policy = self.policy
        if not (policy.secrets or policy.folders or policy.outside or policy.written):
            return
        paths = _paths()
        files = paths.Files(place, self.settings)
        if policy.secrets:
            found = paths.secret_in(policy, files, act)
            if found is not None:
                yield Finding(found[0], found[1])
        if policy.folders and (folder := paths.deletes_folder(act)) is not None:
            yield Finding(folder, "is a folder, which would be deleted with all that is in it")
        for path in paths.written_by_tool(act):
            if policy.outside and files.is_outside(path):
                yield Finding(path, OUTSIDE)
            if policy.written and _regex(policy.written).search(path):
                yield Finding(path, f"would be written, which {policy.written_does}")

    # --- shell lines -------------------------------------------------------------------------------------------------

    def _line(self, line: str, place: Place, searched: bool) -> Iterator[Finding]:
        policy, read = self.policy, self._reader.read(line)
        reading = read.reading
        yield from self._run(read, line)
        if policy.written:
            from hookline.matching.shell.files.programs import files_of  # noqa: PLC0415 as above

            written = (path for command in reading.commands for path in files_of(command.words).writes)
            for path in (*reading.writes, *written):
                if _regex(policy.written).search(path):
                    yield Finding(path, f"would be written, which {policy.written_does}")
        if policy.secrets or policy.outside:
            paths = _paths()
            files = paths.Files(place, self.settings, line)
            found = paths.outside_of(files, reading) if policy.outside else files.secrets_of(policy, reading)
            yield from (Finding(*one) for one in found)
            yield from (Finding(*one) for one in (paths.named_in(policy, files, line) if searched else ()))
        for text in (line,) if searched else reading.foreign:
            yield from self._code(text, searched)
        for text in () if searched or read.programs.isdisjoint(_NOT_READ) else _not_read(reading):
            yield from (one._replace(note=SEARCHED) for one in self._line(text, place, searched=True))
        if reading.uncertain is not None and not searched:
            yield Finding("", "", reading.uncertain)

    def _run(self, read: ReadLine, line: str) -> Iterator[Finding]:
        if read.may_concern(self.policy.by_program):
            yield from self._commands(read.reading, _texts_in(line, read.reading))
        for flow in self.policy.flows:
            yield from self._flows(flow, read)

    def _commands(self, reading: ShellReading, texts: Sequence[str]) -> Iterator[Finding]:
        index = self.policy.by_program
        for at, command in enumerate(reading.commands):
            for words in spellings(command.words):
                rows = [row for row in rows_for(words, index) if self._in_force(row)]
                if not rows or self._is_allowed(command):
                    continue
                from hookline.guards.commands import hits  # noqa: PLC0415 most commands fit no row

                for hit in hits(words, rows, (*texts, *_fed_texts(at, reading))):
                    yield Finding(_shown(hit.words), hit.row.does, hit.doubt)

    def _flows(self, flow: Flow, read: ReadLine) -> Iterator[Finding]:
        sources, index, reading = _sources(flow.source), _sinks(flow.into), read.reading
        for at, command in enumerate(reading.commands if read.may_concern(index) else ()):
            rows = [row for row in rows_for(command.words, index) if self._in_force(row)]
            if not rows or self._is_allowed(command):
                continue
            fed_by = [
                reading.commands[source].words
                for source in _feeding(at, reading)
                if not sources.isdisjoint(program_names(reading.commands[source].words[0]))
            ]
            fed_by += [("<", file) for file in reading.reads if file != os.devnull] if flow.files else []
            for words in fed_by[:1]:
                from hookline.guards.commands import hits  # noqa: PLC0415 as above

                for hit in hits(command.words, rows):
                    yield Finding(f"{_shown(words)} | {_shown(hit.words)}", hit.row.does)
        if flow.kept and not sources.isdisjoint(read.programs):
            yield from self._kept(sources, index, reading)

    def _kept(
        self, sources: frozenset[str], index: Mapping[str, tuple[GuardedCommand, ...]], reading: ShellReading
    ) -> Iterator[Finding]:
        """What is fetched into a file and run by the same line."""
        from hookline.matching.shell.files.programs import files_of  # noqa: PLC0415 as above

        files: set[str] = set()
        for at, command in enumerate(reading.commands):
            words = command.words
            names = program_names(words[0])
            ran = {words[0], *files_of(words).reads} if any(name in index for name in names) else {words[0]}
            if any(os.path.normpath(each) in files for each in ran) and not self._is_allowed(command):
                yield Finding(_shown(words), "runs what was just downloaded, unseen")
            fed = (
                name
                for each in _feeding(at, reading)
                for name in program_names(reading.commands[each].words[0])
            )
            if not sources.isdisjoint((*names, *fed)):
                files |= {
                    os.path.normpath(each) for each in (*files_of(words).writes, *reading.writes) if each
                }

    def _in_force(self, row: GuardedCommand) -> bool:
        return not row.part or row.part in self.settings.parts

    def _is_allowed(self, command: ShellCommand) -> bool:
        text = " ".join(command.words)
        return any(pattern.matches(text) for pattern in self._allowed)

    def _code(self, text: str, searched: bool = False) -> Iterator[Finding]:
        policy = self.policy
        found = _regex(policy.code).search(text) if policy.code else None
        if found is None and policy.started:
            from hookline.matching.shell.kinds.code import starts_programs  # noqa: PLC0415 few lines hold code

            found = _regex(policy.started).search(text)
            found = found if found is not None and (searched or starts_programs(text)) else None
        if found is not None:
            yield Finding(one_line(found[0].strip("'\" "), _LONGEST_SHOWN), policy.code_does)


def _patterns(allow: Sequence[str]) -> Iterator[Glob]:
    """Commands that are left alone, as patterns are written in rules: `git push -f fork *` is without words, too."""
    for pattern in allow:
        plain = " ".join(pattern.split())
        yield glob(plain)
        if plain.endswith((" *", ":*")):
            yield from (glob(plain[:-2]), glob(f"{plain[:-2]} *"))


def _texts_in(line: str, reading: ShellReading) -> Sequence[str]:
    """What any command of the line may be given: here-documents, and what functions are called with."""
    texts = [line.partition("<<")[2]] if "<<" in line else []
    defines = "(" in line or "function" in line
    functions = {name for pair in re.findall(_FUNCTION, line) for name in pair} if defines else ()
    if functions:
        texts += [word for each in reading.commands if each.words[0] in functions for word in each.words[1:]]
    return texts


def _not_read(reading: ShellReading) -> Iterator[str]:
    """Lines of PowerShell that a command of the line runs."""
    for command in reading.commands:
        if not _NOT_READ.isdisjoint(program_names(command.words[0])):
            words = command.words[1:]
            start = next((at + 1 for at, word in enumerate(words) if _regex(_COMMAND).fullmatch(word)), 0)
            yield " ".join(word for word in words[start:] if HOLE not in word)


def _fed_texts(at: int, reading: ShellReading) -> Sequence[str]:
    """What a command may read as its text: words of the commands that feed it, and here-documents."""
    # `date +%F`: a format, not what it prints.
    feeding = [reading.commands[source].words for source in _feeding(at, reading)]
    fed = [word for words in feeding if words[0] != "date" for word in words]
    return (*fed, *reading.foreign)


def _feeding(at: int, reading: ShellReading) -> list[int]:
    """The commands whose output reaches a command, directly or through others."""
    flows: Sequence[tuple[int, int]] = reading.flows[:_MOST_FLOWS]
    found: list[int] = []
    waiting = [at]
    while waiting:
        now = waiting.pop()
        for source, target in flows:
            if target == now and source not in found:
                found.append(source)
                waiting.append(source)
    return found


@lru_cache(maxsize=64)
def _sources(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split("|"))


@lru_cache(maxsize=64)
def _sinks(rows: tuple[GuardedCommand, ...]) -> Mapping[str, tuple[GuardedCommand, ...]]:
    return by_program(rows)


def _shown(words: Sequence[str]) -> str:
    return one_line(" ".join(words).replace(HOLE, "…"), _LONGEST_SHOWN)


@lru_cache(maxsize=256)
def _regex(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


# --- what the guard answers ------------------------------------------------------------------------------------------


def reason_for(policy: Policy, finding: Finding) -> str:
    """What was seen, what it does, what to do instead: for the model and the user."""
    reason = _reason(policy, finding)
    return f"{reason} {finding.note}" if finding.note else reason


def _reason(policy: Policy, finding: Finding) -> str:
    if not finding.doubt:
        seen = f"`{finding.seen}` {finding.does}" if finding.seen else finding.does
        return f"{seen.rstrip('.')}. {policy.instead}"
    if finding.does.startswith("holds"):
        return f"`{finding.seen}` {finding.does}, and this call may show them. {policy.instead}"
    if finding.does == OUTSIDE:
        return f"`{finding.seen}` is outside the project, and this call may write there. {policy.instead}"
    about = policy.title[:1].lower() + policy.title[1:]
    seen = f"`{finding.seen}`" if finding.seen else "this call"
    return f"{seen[:1].upper()}{seen[1:]} may be about {about}. Write it plainly, so that it can be judged."
