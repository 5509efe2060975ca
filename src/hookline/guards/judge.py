"""Judge a tool call by the rows of a guard: the actions of the call against its policy."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from hookline.actions.action import BY_NAMES, Action, PathContext
from hookline.guards.rows import (
    NOT_READ,
    GuardLineReader,
    ReadLine,
    program_names,
    rows_for,
    rows_of,
    spellings,
    takes_code,
)
from hookline.guards.settings import GuardSettings
from hookline.guards.spec import OUTSIDE, Flow, GuardedCommand, GuardSpec
from hookline.matching.patterns import LONGEST_PATH, Glob, glob
from hookline.model.safe_text import one_line
from hookline.shell import HOLE, ShellCommand, ShellReading, base_name
from hookline.shell.grammar.limits import LONGEST_LINE
from hookline.shell.placeholders import Words
from hookline.shell.reader import NO_CONTENTS

if TYPE_CHECKING:
    from hookline.guards.flows import DataFlows

#: Returns why a call with these actions may not be made in a directory, because it changes what guards the
#: agent; None where it may.
Protects = Callable[[Sequence[Action], str], str | None]

#: Added to every finding in a line that is not read.
SEARCHED = "Lines of PowerShell are searched and judged by the names in them, not read."
_UNDECLARED = "The tool is judged by the names of its arguments: no one declared what it does."
_LONGEST_SHOWN = 100
#: Longer code is in doubt. A shell line has its own limit.
_LONGEST_CODE = 256 * 1024
_SHELL_LANGUAGES = frozenset(("sh", "bash", "shell", "zsh", "dash", "ksh", "console", "terminal"))
_COMMAND = r"-c(?:o\w*)?"
#: A file that code of another language opens by its name.
_OPENED = r"(?:open|read|read_text|readFile|readFileSync|lines|Path)\s?\(\s?['\"]([^'\"\n]{1,200})['\"]"
_BETWEEN_WORDS = r"[\s'\"()<;]+"
_MOST_WORDS = 100
_FUNCTION = r"([\w.-]{1,100})\s*\(\s*\)|\bfunction\s+([\w.-]{1,100})"


_NO_READING = ShellReading()
#: Scripts that scripts run are followed so far.
_DEEPEST_RUN = 3
#: Longer files are searched as code of other languages is, and not read.
_LONGEST_RUN = 8 * 1024


class GuardFinding(NamedTuple):
    """A guard's finding."""

    #: The command or the file, and its effect.
    seen: str
    does: str
    #: The reason for doubt, where it is not sure.
    doubt: str = ""
    #: The way it was judged, where that is worth saying.
    note: str = ""
    #: It was found in the text of code: the user is asked.
    asks: bool = False


@cache
def _paths():
    """Import the module on demand: only guards over files need it."""
    from hookline.guards import paths  # noqa: PLC0415 see above

    return paths


@cache
def _data():
    """Import the module on demand: only lines that a guard may be about need it."""
    from hookline.guards import flows  # noqa: PLC0415 see above

    return flows


@cache
def _outside_of():
    """Import the function on demand, as above."""
    from hookline.guards.outside import outside_of  # noqa: PLC0415 see above

    return outside_of


class GuardJudge:
    """One configured guard."""

    def __init__(
        self,
        policy: GuardSpec,
        settings: GuardSettings,
        reader: GuardLineReader,
        protects: Protects | None = None,
        *,
        reads_files: bool = True,
    ) -> None:
        """Take a guard; it `reads_files` that a line runs, unless what they run is judged when it starts."""
        self._reads_files = reads_files and not policy.directories
        self.policy = policy
        self.settings = settings
        self._reader = reader
        self._protects = protects
        self._adds = settings.adds
        self._allowed = [*_patterns(settings.allow)] if policy.allows == "commands" else []

    def finding(
        self,
        actions: Sequence[Action],
        path_context: PathContext,
        *,
        searched: bool = False,
        unseen_input: bool = False,
    ) -> GuardFinding | None:
        """Return the first certain match of the guard; else the first possible one.

        Lines of a shell that cannot be read, as those of PowerShell, are `searched`. With `unseen_input`, nobody asks
        about text that is typed into a running command.
        """
        doubtful: GuardFinding | None = None
        for action in actions:
            if max(len(path_context.cwd), len(path_context.root), len(action.cwd)) > LONGEST_PATH:
                return GuardFinding("", "", f"the directory has more than {LONGEST_PATH} characters")
            if action.guess and not self.policy.protects:
                continue
            for found in self._about(action, path_context, searched):
                found = found._replace(note=SEARCHED) if searched else found  # noqa: PLW2901
                if action.doubt == BY_NAMES and not found.doubt and not self.policy.protects:
                    found = found._replace(doubt=BY_NAMES)  # noqa: PLW2901
                if not found.doubt and not found.asks:
                    return found
                doubtful = found if doubtful is None or (doubtful.asks and not found.asks) else doubtful
        if doubtful is None and unseen_input and not (searched or self.policy.protects):
            return next(filter(None, map(self._typed_into, actions)), None)
        return doubtful

    def may_find(self, head: Words, *, options: bool) -> bool:
        """Return False if nothing certain can be found in a command that begins with these words (see `head_of`), runs
        no other one and holds no code. It may have `options`, which may name files."""
        policy, names, name = self.policy, frozenset(program_names(head[0])), base_name(head[0])
        if self._adds or policy.protects or takes_code(head[0]) or [*spellings((*head, ""))] != [(*head, "")]:
            return True
        indexes = (policy.by_program, *(flow.by_program for flow in policy.flows))
        if rows := [row for index in indexes for row in rows_for(head, index)]:
            from hookline.guards.commands import may_match  # noqa: PLC0415 most commands fit no row

            if any(may_match(row, head) for row in rows):
                return True
        if not all(map(names.isdisjoint, (NOT_READ, *(flow.sources for flow in policy.flows)))):
            return True
        if not (policy.secrets or policy.outside or policy.written):
            return False
        from hookline.shell.files.programs import may_use_files  # noqa: PLC0415 as above
        from hookline.shell.runs import does  # noqa: PLC0415 as above

        # What a program of which nothing is known does with files is in doubt.
        lists = name in _paths().SEARCHES or does(name, "lists")
        return lists or may_use_files(head, options=options) is True

    def _typed_into(self, action: Action) -> GuardFinding | None:
        """Return the doubt about a line that starts a shell or an interpreter and gives it nothing to read."""
        line = action.line
        if (
            line is None
            or len(line) > LONGEST_LINE
            or (action.kind is not None and action.kind.name == "code")
        ):
            return None
        typed = self._reader.read(line).reading.typed
        return GuardFinding("", "", typed) if typed else None

    def _about(self, action: Action, path_context: PathContext, searched: bool) -> Iterator[GuardFinding]:
        kind = action.kind.name if action.kind is not None else ""
        line = action.line
        if self._adds:
            from hookline.guards.forbidden import ForbiddenJudge  # noqa: PLC0415 few guards have such options

            judge = ForbiddenJudge(self.settings, self._reader.reader)
            yield from (GuardFinding(*one) for one in judge.findings(action, path_context))
        if self.policy.protects:
            why = self._protects((action,), path_context.cwd) if self._protects else None
            if why is not None:
                yield GuardFinding("", why)
            yield from self._run(self._reader.read(line), "") if line is not None else ()
        elif line is not None:
            if (
                kind == "code"
                and str(action.arguments.get("language") or "").casefold() not in _SHELL_LANGUAGES
            ):
                if len(line) > _LONGEST_CODE:
                    yield GuardFinding("", "", f"the code is longer than {_LONGEST_CODE} characters")
                else:
                    yield from self._code(line)
                    yield from self._shown((line,), path_context, "")
            else:
                cwd = os.path.join(path_context.cwd, action.cwd) if action.cwd else path_context.cwd
                yield from self._line(line, PathContext(cwd, path_context.root, path_context.home), searched)
        elif kind:
            yield from self._files(action, path_context)

    # --- tools that name files
    # ---------------------------------------------------------------------------------------

    def _files(self, action: Action, path_context: PathContext) -> Iterator[GuardFinding]:
        policy = self.policy
        if not (policy.secrets or policy.directories or policy.outside or policy.written):
            return
        paths = _paths()
        files = paths.CallFiles(path_context, self.settings, known=self._reader.directories)
        if policy.secrets:
            found = paths.secret_in(policy, files, action)
            if found is not None:
                yield GuardFinding(found[0], found[1])
        if policy.directories and (directory := paths.deletes_directory(action)) is not None:
            yield GuardFinding(directory, "is a directory, which would be deleted with everything in it")
        for path in paths.written_by_tool(action):
            if (
                policy.outside
                and files.is_outside(path)
                and not (action.doubt == BY_NAMES and files.leads_nowhere(path))
            ):
                yield GuardFinding(path, OUTSIDE)
            if policy.written and _regex(policy.written).search(path):
                yield GuardFinding(path, f"would be written, which {policy.written_does}")

    # --- shell lines
    # -------------------------------------------------------------------------------------------------

    def _line(
        self,
        line: str,
        path_context: PathContext,
        searched: bool,
        run: Mapping[str, str] = NO_CONTENTS,
    ) -> Iterator[GuardFinding]:
        """Yield what a line does, with the text of the files that it runs."""
        if len(line) > LONGEST_LINE:
            yield GuardFinding("", "", f"the line is longer than {LONGEST_LINE} characters")
            return
        policy, read = self.policy, self._reader.read(line, run)
        if policy.flows or read.may_concern(policy.by_program):
            yield from self._run(read, read.text)
        if policy.written and "/" in read.text:
            yield from self._written(read.reading)
        if policy.secrets or policy.outside:
            yield from self._of_files(read, path_context, searched)
        if searched:
            yield from self._code(read.text, searched)
            return
        if read.may_hide:
            yield from self._hidden(read, path_context)
        if self._reads_files and read.may_run_files and not run:
            yield from self._in_files(self._files_run(line, path_context, read.reading), line, path_context)

    def _hidden(self, read: ReadLine, path_context: PathContext) -> Iterator[GuardFinding]:
        """Yield what is in code of other languages, and the doubts about a line."""
        for text in read.reading.foreign:
            yield from self._code(text)
        if self.policy.judges_code and read.may_hold_code:
            yield from self._shown(None, path_context, read.text, read.reading)
        if not read.programs.isdisjoint(NOT_READ):
            for text in _not_read(read.reading):
                for found in self._line(text, path_context, True):
                    yield found._replace(note=SEARCHED)
        if read.reading.uncertain is not None:
            yield GuardFinding("", "", read.reading.uncertain)

    def _written(self, reading: ShellReading) -> Iterator[GuardFinding]:
        """Yield the files that a line writes and the guard is about."""
        from hookline.shell.files.programs import files_of  # noqa: PLC0415 as above

        policy = self.policy
        written = (path for command in reading.commands for path in files_of(command.words).writes)
        for path in (*reading.writes, *written):
            if _regex(policy.written).search(path):
                yield GuardFinding(path, f"would be written, which {policy.written_does}")

    def _of_files(self, read: ReadLine, path_context: PathContext, searched: bool) -> Iterator[GuardFinding]:
        """Yield the files that a line reads or writes, if they are secret or outside."""
        policy, paths = self.policy, _paths()
        files = paths.CallFiles(path_context, self.settings, read.text, self._reader.directories)
        found = (
            _outside_of()(files, read.reading) if policy.outside else files.secrets_of(policy, read.reading)
        )
        named = paths.named_in(policy, files, read.text) if searched else ()
        yield from (GuardFinding(*one) for one in chain(found, named))

    def _files_run(self, line: str, path_context: PathContext, reading: ShellReading) -> Mapping[str, str]:
        """Return the text of the files that a line runs, read once for all guards."""
        key = line, path_context.cwd
        run = self._reader.run.get(key)
        if run is None:
            run = self._reader.run[key] = self._read_files(line, path_context, reading)
        return run

    def _in_files(
        self, run: Mapping[str, str], line: str, path_context: PathContext
    ) -> Iterator[GuardFinding]:
        """Yield what is in the files that a line runs. The user may have written them: so the user is asked."""
        short = {name: text for name, text in run.items() if len(text) <= _LONGEST_RUN}
        note = f"It is in {', '.join(run)}, which the line runs."
        for found in self._line(line, path_context, False, short) if short else ():
            if not found.doubt and (found.does != OUTSIDE or _is_named(found.seen, short.values())):
                yield found._replace(asks=True, note=note)
        for text in (text for name, text in run.items() if name not in short):
            yield from (
                each._replace(asks=True, note=note)
                for each in (*self._code(text), *self._shown((text,), path_context, ""))
            )

    def _read_files(self, line: str, path_context: PathContext, reading: ShellReading) -> Mapping[str, str]:
        """Return the text of the files that a line runs, and of those that they run."""
        places = [path_context.cwd]
        if any(command.does("enters") for command in reading.commands) or "chdir" in line:
            directories = _paths().CallFiles(path_context, self.settings, line).directories(reading)
            places = [*dict.fromkeys(each for _, entered in directories for each in entered)]
        run = self._reader.files.of_line(reading, places, path_context.home)
        for _ in range(_DEEPEST_RUN if run else 0):
            # A script may run another one.
            if sum(map(len, run.values())) > _LONGEST_RUN:
                break
            read = self._reader.read(line, run).reading
            more = self._reader.files.of_line(read, places, path_context.home)
            if more.keys() <= run.keys():
                break
            run = {**more, **run}
        return run

    def _run(self, read: ReadLine, text: str) -> Iterator[GuardFinding]:
        policy = self.policy
        concerns = read.may_concern(policy.by_program)
        flows_into = [flow for flow in policy.flows if _may_flow(flow, read)]
        flows = _data().flows_of(read.reading) if concerns or flows_into else ()
        if concerns:
            yield from self._commands(read, _texts_in(text, read.reading), flows)
        for flow in flows_into:
            yield from self._flows(flow, read, flows)

    def _commands(self, read: ReadLine, texts: Sequence[str], flows: "DataFlows") -> Iterator[GuardFinding]:
        index, reading = self.policy.by_program, read.reading
        # `cd x.git && git branch -f main`: where it runs.
        entered: list[str] = []
        for at, command in enumerate(reading.commands):
            if command.does("renames") and (hidden := _renamed(command.words, index)):
                yield GuardFinding(_shown(command.words), "", f"it gives {hidden} another name")
            for words, names in read.spelled[at]:
                rows = [row for row in rows_of(names, index) if self._in_force(row)]
                if not rows or self._is_allowed(command):
                    continue
                from hookline.guards.commands import hits, may_match_any  # noqa: PLC0415 most commands fit no row

                if not may_match_any(rows, words):
                    continue
                for hit in hits(words, rows, (*texts, *_fed_texts(at, reading, flows, texts, entered))):
                    yield GuardFinding(_shown(hit.words), hit.row.does, hit.doubt)
            if command.does("enters"):
                entered.append(command.words[-1])

    def _flows(self, flow: Flow, read: ReadLine, flows: "DataFlows") -> Iterator[GuardFinding]:
        sources, index, reading = flow.sources, flow.by_program, read.reading
        for at, command in enumerate(reading.commands if read.may_concern(index) else ()):
            rows = [row for row in rows_for(command.words, index) if self._in_force(row)]
            if not rows or self._is_allowed(command):
                continue
            fed_by = [
                reading.commands[source].words
                for source in _data().feeding(at, flows)
                if _is_source(flow, reading.commands[source].words)
            ]
            fed_by += [("<", file) for file in reading.reads if flow.takes(file)]
            for words in fed_by[:1]:
                from hookline.guards.commands import hits  # noqa: PLC0415 as above

                for hit in hits(command.words, rows, words):
                    yield GuardFinding(f"{_shown(words)} | {_shown(hit.words)}", hit.row.does)
        if flow.kept and not sources.isdisjoint(read.programs):
            yield from self._kept(sources, index, reading, flows)

    def _kept(
        self,
        sources: frozenset[str],
        index: Mapping[str, tuple[GuardedCommand, ...]],
        reading: ShellReading,
        flows: "DataFlows",
    ) -> Iterator[GuardFinding]:
        """Yield files that are fetched and run by the same line."""
        from hookline.shell.files.programs import files_of  # noqa: PLC0415 as above

        files: set[str] = set()
        for at, command in enumerate(reading.commands):
            words = command.words
            names = program_names(words[0])
            ran = {words[0], *files_of(words).reads} if any(name in index for name in names) else {words[0]}
            if any(os.path.normpath(each) in files for each in ran) and not self._is_allowed(command):
                yield GuardFinding(_shown(words), "runs what was just downloaded, unseen")
            fed = (
                name
                for each in _data().feeding(at, flows)
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

    def _shown(
        self,
        texts: Sequence[str] | None,
        path_context: PathContext,
        line: str,
        reading: ShellReading = _NO_READING,
    ) -> Iterator[GuardFinding]:
        """Yield what the text of code shows: these texts, or the code in a line."""
        if not self.policy.judges_code:
            return
        from hookline.guards.code import code_in, shown_in  # noqa: PLC0415 few lines hold code

        files = _paths().CallFiles(path_context, self.settings, line, self._reader.directories)
        for text in code_in(reading, line) if texts is None else texts:
            yield from (GuardFinding(*one, asks=True) for one in shown_in(self.policy, files, text))

    def _code(self, text: str, searched: bool = False) -> Iterator[GuardFinding]:
        policy = self.policy
        found = _regex(policy.code).search(text) if policy.code else None
        if found is None and policy.started:
            from hookline.shell.kinds.code import starts_programs  # noqa: PLC0415 few lines hold code

            found = _regex(policy.started).search(text)
            found = found if found is not None and (searched or starts_programs(text)) else None
        if found is not None:
            yield GuardFinding(one_line(found[0].strip("'\" "), _LONGEST_SHOWN), policy.code_does)


def _may_flow(flow: Flow, read: ReadLine) -> bool:
    """Return False if no program of a line takes what flows, or keeps it in a file."""
    return read.may_concern(flow.by_program) or (flow.kept and not flow.sources.isdisjoint(read.programs))


def _renamed(words: Sequence[str], index: Mapping[str, object]) -> str:
    """Return the program that gets another name, if it is one that the guard is about: `cp /usr/bin/git g`."""
    *sources, target = [word for word in words[1:] if word[:1] != "-"] or [""]
    for source in sources:
        name = base_name(source)
        if name in index and f"bin/{name}" in source and base_name(target) not in (name, "", ".", "bin"):
            return name
    return ""


def _is_named(path: str, texts: Iterable[str]) -> bool:
    """Return True if a text has this path as a whole word, not behind a variable: `$(TOP)/x` is not `/x`."""
    for text in texts:
        at = text.find(path)
        while at >= 0:
            before = text[at - 1 : at]
            if not before or not (before.isalnum() or before in "_)}/."):
                return True
            at = text.find(path, at + 1)
    return False


def _is_source(flow: Flow, words: Sequence[str]) -> bool:
    """Return True if the output of a command is what a flow is about: a file, or what one of its programs prints."""
    if not flow.sources.isdisjoint(program_names(words[0])):
        return True
    if "*" not in flow.sources or base_name(words[0]) in _data().MEASURES:
        return False
    from hookline.shell.files.programs import files_of  # noqa: PLC0415 as above

    files = files_of(tuple(words))
    # Code of another language reads a file that it names: `python3 -c 'print(open("notes.txt").read())'`.
    read = (*files.reads, *(name for text in files.code for name in re.findall(_OPENED, text)))
    return any(not flow.is_plain(file) for file in read)


def _patterns(allow: Sequence[str]) -> Iterator[Glob]:
    """Yield patterns of commands that are left alone, as they are written in rules: `git push -f fork *` is
    without words, too."""
    for pattern in allow:
        plain = " ".join(pattern.split())
        yield glob(plain)
        if plain.endswith((" *", ":*")):
            yield from (glob(plain[:-2]), glob(f"{plain[:-2]} *"))


def _texts_in(line: str, reading: ShellReading) -> Sequence[str]:
    """Return texts that any command of the line may get: here-documents, and arguments of functions."""
    texts = [line.partition("<<")[2]] if "<<" in line else []
    defines = "(" in line or "function" in line
    functions = {name for pair in re.findall(_FUNCTION, line) for name in pair} if defines else ()
    if functions:
        texts += [word for each in reading.commands if each.words[0] in functions for word in each.words[1:]]
    return texts


def _not_read(reading: ShellReading) -> Iterator[str]:
    """Yield lines of PowerShell that a command of the line runs."""
    for command in reading.commands:
        if not NOT_READ.isdisjoint(program_names(command.words[0])):
            words = command.words[1:]
            start = next((at + 1 for at, word in enumerate(words) if _regex(_COMMAND).fullmatch(word)), 0)
            yield " ".join(word for word in words[start:] if HOLE not in word)


def _fed_texts(
    at: int, reading: ShellReading, flows: "DataFlows", here: Sequence[str], entered: Sequence[str]
) -> Sequence[str]:
    """Return texts that a command may read: words of the commands that feed it, and here-documents."""
    # `date +%F`: a format, not what it prints.
    sources = [reading.commands[source] for source in _data().feeding(at, flows)]
    fed = [word for each in sources if each.words[0] != "date" for word in each.words]
    if any(each.does("decodes") for each in sources):
        fed += [
            *_data().decoded(
                (*fed, *(word for text in here for word in re.split(_BETWEEN_WORDS, text)[:_MOST_WORDS]))
            )
        ]
    fed += entered
    if not set(fed).isdisjoint(reading.writes):
        # `echo -f > x; git push $(cat x)`: a file that the line writes.
        fed += [word for each in reading.commands if each.does("prints") for word in each.words[1:]]
    return (*fed, *reading.foreign)


def _shown(words: Sequence[str]) -> str:
    return one_line(" ".join(words).replace(HOLE, "…"), _LONGEST_SHOWN)


@lru_cache(maxsize=256)
def _regex(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


# --- the guard's answer
# ------------------------------------------------------------------------------------------


def reason_for(policy: GuardSpec, finding: GuardFinding) -> str:
    """Return the reason for the model and the user: what was found, its effect, and what to do instead."""
    reason = _reason(policy, finding)
    if finding.doubt == BY_NAMES:
        reason = f"{reason} {_UNDECLARED}"
    return f"{reason} {finding.note}" if finding.note else reason


def _reason(policy: GuardSpec, finding: GuardFinding) -> str:
    if not finding.doubt or (finding.doubt == BY_NAMES and finding.does != OUTSIDE):
        seen = f"`{finding.seen}` {finding.does}" if finding.seen else finding.does
        return f"{seen.rstrip('.')}. {policy.instead}"
    if finding.does.startswith("holds"):
        return f"`{finding.seen}` {finding.does}, and this call may show them. {policy.instead}"
    if finding.does == OUTSIDE:
        return f"`{finding.seen}` is outside the project, and this call may write there. {policy.instead}"
    about = policy.title[:1].lower() + policy.title[1:]
    seen = f"`{finding.seen}`" if finding.seen else "this call"
    return f"{seen[:1].upper()}{seen[1:]} may be about {about}. Write it plainly, so that it can be judged."
