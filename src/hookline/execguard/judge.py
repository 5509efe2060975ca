"""Judge an exec by the rules and guards that judge shell lines: the same rows and the same rule objects.

An argv is presented to them as a line that has been read already: one command, whose words are certain. It is
never written as text and parsed again.
"""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.action import Action, PathContext
from hookline.actions.kinds import KINDS
from hookline.execguard.facts import ExecFacts, Identity, UnreadableError, environment_of
from hookline.execguard.git_commands import GitCommand, may_depend, spelled_out
from hookline.guards.commands import head_of
from hookline.guards.git_settings import GitFiles
from hookline.guards.judge import GuardJudge, reason_for
from hookline.guards.rows import GuardLineReader
from hookline.guards.settings import read_settings
from hookline.guards.spec import SEVERAL, GuardSpec, policy_of
from hookline.matching.file_rules import FileArgument
from hookline.matching.shell_rules import ShellArgument
from hookline.model.safe_text import one_line
from hookline.permissions.facts import CallFacts
from hookline.permissions.rules import PermissionRule, RuleMatch, RuleReader, RuleSet, first_concerned
from hookline.shell import HOLE, ShellCommand, ShellReader, ShellReading, base_name
from hookline.shell.files.programs import may_use_files
from hookline.shell.found import Foreign, Inner
from hookline.shell.programs import row_of
from hookline.shell.reader import NO_CONTENTS
from hookline.shell.runs import forms_of, look_through, program_of

_TOOL: Final = "Bash"
_NOTHING: Final = ShellReading()
_SHELL: Final = KINDS["shell"]
_WIDEST_LINE: Final = 200
#: More names than this for one file: a program that contains many, and takes its job from its name.
_MOST_NAMES: Final = 8
_MANY_IN_ONE: Final = frozenset(("busybox", "toybox", "coreutils", "uutils", "sbase-box"))
#: Interpreters of interpreters: the kernel follows five.
_DEEPEST_SCRIPT: Final = 12
_LARGEST_COPY: Final = 64 << 20
_CHUNK: Final = 64 * 1024
#: Programs, and short commands, of which is remembered who can be about them.
_MOST_REMEMBERED: Final = 256
_LONGEST_REMEMBERED: Final = 1000
_EVERYDAY: Final = (
    "cat -n x", "git status", "git diff x", "git log -1", "true x", "sh -c true", "env true", "sed -n 1p x",
    "grep -r x .", "find . -name x", "make all", "python3 -m pytest", "node x.js", "npm test", "cc -c x.c", "cp a b",
    "rm -f x", "xargs x",
)  # fmt: skip


class GuardRow(Struct, frozen=True):
    """A built-in guard that is configured, with its options."""

    name: str
    args: tuple[str, ...] = ()


class RuleRow(Struct, frozen=True):
    """A deny or ask rule as it was written, and where."""

    text: str
    source: str = ""


class ExecRules(Struct, frozen=True, kw_only=True):
    """Everything that execs are judged by, in a form that can be sent to a supervisor."""

    deny: tuple[RuleRow, ...] = ()
    ask: tuple[RuleRow, ...] = ()
    guards: tuple[GuardRow, ...] = ()
    project: str = ""
    home: str = ""
    temporary: str = ""
    #: Where programs that rules name are looked for, to recognise them under other names.
    path: str = ""

    @property
    def says_something(self) -> bool:
        return bool(self.deny or self.ask or self.guards)


class ExecFinding(Struct, frozen=True):
    """A rule or guard that is about an exec."""

    answer: Literal["deny", "ask"]
    reason: str
    #: The rule as it was written, or the name of the guard; and where it is written.
    rule: str
    source: str = ""
    #: It is about files, whose use depends on the line around the command: `export $(cat .env)` shows nothing.
    in_context: bool = False


class ArgvReader(ShellReader, eq=False):
    """A reader that has read its line already."""

    reading: ShellReading = ShellReading()

    def read(self, line: str, files: Mapping[str, str] = NO_CONTENTS) -> ShellReading:
        del line, files
        return self.reading


class _Guard(NamedTuple):
    row: GuardRow
    policy: GuardSpec
    judge: GuardJudge


class _Concern(NamedTuple):
    """Which rules and guards can be about a command, as bits; and True if its program runs others."""

    judges: int
    runs: bool = True


class _Program(NamedTuple):
    """What is known of a program: its names, and if anything can be about it."""

    names: tuple[str, ...]
    is_git: bool
    is_concerned: bool


class ExecJudge:
    """Rules and guards, ready to judge execs."""

    def __init__(self, rules: ExecRules) -> None:
        self._rules = rules
        self._reader = ArgvReader()
        self._rule_reader = RuleReader(shell=self._reader, home=rules.home)
        deny = _rule_set("deny", rules.deny, self._rule_reader).deny
        ask = _rule_set("ask", rules.ask, self._rule_reader).ask
        line_reader = GuardLineReader(self._reader)
        guards: list[_Guard] = []
        for row in rules.guards:
            policy = policy_of(row.name)
            settings = read_settings(policy, row.args)
            guards.append(_Guard(row, policy, GuardJudge(policy, settings, line_reader, reads_files=False)))
        # Each has a bit: those that cannot be about a program are not asked.
        bits = [1 << at for at in range(len(deny) + len(ask) + len(guards))]
        self._all = _Concern(sum(bits))
        self._deny, self._ask = [*zip(bits, deny, strict=False)], [*zip(bits[len(deny) :], ask, strict=False)]
        self._guards = [*zip(bits[len(deny) + len(ask) :], guards, strict=True)]
        names = self._named()
        self._known = _KnownPrograms(names, rules.path)
        self._about_git = "git" in names
        self._programs: dict[tuple[object, ...], _Program] = {}
        self._concerned_by = lru_cache(_MOST_REMEMBERED)(self._find_concern)
        self._short_ones = lru_cache(_MOST_REMEMBERED)(self._concerned_with)

    def rehearse(self) -> None:
        """Judge everyday commands: what they need is loaded then, and no exec has to wait for it."""
        for line in _EVERYDAY:
            words = tuple(line.split())
            facts = ExecFacts(words, "/", f"/usr/bin/{words[0]}", f"/usr/bin/{words[0]}")
            self.is_concerned(facts)
            self.finding(facts)

    def name_of(self, facts: ExecFacts) -> str:
        """Return the name of a program: that of its file, or of a link to it in a directory of PATH (`sh`)."""
        named = os.path.dirname(facts.path) in self._known.directories
        return os.path.basename(facts.path if named else facts.real)

    def is_concerned(self, facts: ExecFacts) -> bool:
        """Return False if nothing can be about a program, whatever directory it is started in.

        That may be more than `finding` asks.
        """
        text = " ".join(facts.argv[1:])
        return (
            self._program(facts, options=_may_have_options(text)).is_concerned
            or bool(facts.interpreter)
            or _may_hold_more(text)
        )

    def _program(self, facts: ExecFacts, *, options: bool = True) -> _Program:
        """Return what is known of a program. It is remembered of its names and its file."""
        key = facts.argv[:1], facts.path, facts.real, facts.identity, facts.interpreter, options
        found = self._programs.get(key)
        if found is None:
            names = self._names(facts)
            bases = {base_name(name) for name in (*names, facts.interpreter)}
            is_git = self._about_git and any(one == "git" or one.startswith("git-") for one in bases)
            concerned = is_git or any(any(self._concerned_by((name,), options)) for name in names)
            if len(self._programs) >= _MOST_REMEMBERED:
                self._programs.clear()
            found = self._programs[key] = _Program(names, is_git, concerned)
        return found

    def finding(self, facts: ExecFacts) -> ExecFinding | None:
        """Return the strongest rule or guard that is about this exec: a denial, else a question."""
        question: ExecFinding | None = None
        spelled = ((words, "") for words in self._spellings(facts))
        for words, why in chain(spelled, self._by_settings(facts) if self._about_git else ()):
            found = self._about(words, facts.cwd)
            if found is not None and why:
                found = replace(found, reason=f"{found.reason} By {why}.")
            if found is not None and found.answer == "deny":
                return found
            question = question or found
        return question

    def depends_on_surroundings(self, facts: ExecFacts) -> bool:
        """Return True for a program that is judged by more than its arguments: by variables and files."""
        return self._program(facts).is_git and may_depend(facts.argv)

    def finding_after(self, facts: ExecFacts) -> ExecFinding | None:
        """Judge a program that runs and is not the one that was judged: also as a script that the kernel gave to
        its interpreter, whose path is then among the first words."""
        found = self.finding(facts)
        for at in range(1, min(len(facts.argv), _DEEPEST_SCRIPT)):
            if found is not None:
                return found
            argv = facts.argv[at:]
            found = self.finding(ExecFacts(argv, facts.cwd, argv[0], argv[0])) if argv[0] else None
        return found

    def _about(self, words: tuple[str, ...], cwd: str) -> ExecFinding | None:
        """Judge one spelling of a command."""
        judges, reading = self.concerned(words)
        return self.judged_by(judges, reading, shlex.join(words), cwd) if judges else None

    def concerned(self, words: tuple[str, ...]) -> tuple[int, ShellReading]:
        """Return which rules and guards can be about a command or about what it runs, as bits; and what that is."""
        short = sum(map(len, words)) < _LONGEST_REMEMBERED
        return self._short_ones(words) if short else self._concerned_with(words)

    def _concerned_with(self, words: tuple[str, ...]) -> tuple[int, ShellReading]:
        judges, runs = self._concern(words)
        reading = reading_of(words) if judges or runs else _NOTHING
        for command in reading.commands[1:]:
            judges |= self._concern(command.words).judges
        return self._all.judges if reading.foreign else judges, reading

    def judged_by(self, judges: int, reading: ShellReading, line: str, cwd: str) -> ExecFinding | None:
        """Ask these rules and guards about a command."""
        self._reader.reading = reading
        call = CallFacts(_TOOL, {"command": line}, "run", cwd)
        denied = self._concerned([rule for bit, rule in self._deny if judges & bit], call)
        if denied is not None:
            return _by_rule("deny", denied, line)
        asked = self._concerned([rule for bit, rule in self._ask if judges & bit], call)
        question = _by_rule("ask", asked, line) if asked is not None else None
        place = PathContext(cwd, self._rules.project or cwd, self._rules.home, self._rules.temporary)
        actions = (Action(_SHELL, _TOOL, {"command": line}),)
        for bit, (row, policy, judge) in self._guards:
            found = judge.finding(actions, place) if judges & bit else None
            if found is None or found.doubt:
                continue
            answer = judge.settings.answer
            about_files = bool(policy.secrets or policy.outside)
            made = ExecFinding(answer, reason_for(policy, found), row.name, in_context=about_files)
            if answer == "deny":
                return made
            question = question or made
        return question

    def _concerned(self, rules: Sequence[PermissionRule], call: CallFacts) -> RuleMatch | None:
        found = first_concerned(rules, call, (self._rules.project,), self._rule_reader) if rules else None
        return found if found is not None and found.doubt is None else None

    def _concern(self, words: tuple[str, ...]) -> _Concern:
        text = " ".join(words[1:])
        if _may_hold_more(text):
            return self._all
        return self._concerned_by(head_of(words), _may_have_options(text))

    def _find_concern(self, head: tuple[str, ...], options: bool) -> _Concern:
        """Find which rules and guards can be about commands that begin with these words, and may have `options`."""
        found = 0
        for bit, rule in (*self._deny, *self._ask):
            found |= bit if _may_match(rule, head, options) else 0
        for bit, guard in self._guards:
            found |= bit if guard.judge.may_find(head, options=options) else 0
        return _Concern(found, row_of(program_of(head[0])) is not None)

    def _by_settings(self, facts: ExecFacts) -> Iterator[GitCommand]:
        """Yield a git command as its settings make it."""
        if not facts.tid or not self.depends_on_surroundings(facts):
            return
        try:
            env = environment_of(facts)
        except UnreadableError:
            yield GitCommand(("git", "push", "--mirror"), "variables that cannot be read")
            return
        view = GitFiles(f"/proc/{facts.tid}/root", f"/proc/{facts.tid}/cwd", env)
        yield from spelled_out(facts.argv, view)

    def _spellings(self, facts: ExecFacts) -> Iterator[tuple[str, ...]]:
        """Yield the command under every name that its program has."""
        rest = facts.argv[1:]
        for name in self._program(facts).names:
            yield (name, *rest)
        if facts.interpreter_argv:
            yield facts.interpreter_argv

    def _names(self, facts: ExecFacts) -> tuple[str, ...]:
        """Return the names of a program: as it was called, and those that its file has."""
        names = dict.fromkeys((*facts.argv[:1], facts.path, base_name(facts.real)))
        # Some programs are wrapped by a script of their name: valgrind.bin.
        names |= dict.fromkeys(name.removesuffix(".bin") for name in [*names])
        if facts.identity is not None:
            names |= dict.fromkeys(self._known.names(facts.identity, facts.where))
        by_base: dict[str, str] = {}
        for name in filter(None, names):
            by_base.setdefault(base_name(name), name)
        return (*by_base.values(),)

    def _named(self) -> set[str]:
        """Return the programs that rules and guards name."""
        found: set[str] = set()
        for _bit, rule in (*self._deny, *self._ask):
            for reading in rule.readings:
                if isinstance(reading.argument, ShellArgument):
                    first = base_name(reading.argument.pattern.removesuffix(":*").partition(" ")[0])
                    found |= {first} if first and "*" not in first else set()
        for _bit, guard in self._guards:
            for flow in guard.policy.flows:
                found.update(flow.by_program)
            found.update(guard.policy.by_program)
        return {name for name in found if name != SEVERAL and "*" not in name}


def _may_have_options(text: str) -> bool:
    return "-" in text or "+" in text or HOLE in text


def _may_hold_more(text: str) -> bool:
    """Return True if a word may be code, or name files in its lines."""
    return "\n" in text or "#include" in text


def _may_match(rule: PermissionRule, head: tuple[str, ...], options: bool) -> bool:
    """Return False if a rule cannot match a command that begins with these words for sure."""
    return any(
        reading.argument.may_name(head)
        if isinstance(reading.argument, ShellArgument)
        else may_use_files(head, options=options) is not False
        if isinstance(reading.argument, FileArgument)
        else reading.names_tool(_TOOL)
        for reading in rule.readings
    )


def reading_of(words: tuple[str, ...]) -> ShellReading:
    """Return an argv as a line that was read: the command, and those that its program runs without an exec."""
    commands = [_command(words)]
    foreign: list[str] = []
    for found in look_through(words):
        if isinstance(found, Inner) and found.words and found.words[0]:
            commands.append(_command(found.words))
        elif isinstance(found, Foreign):
            foreign.append(found.text)
    return ShellReading(tuple(commands), tuple(foreign))


def _command(words: tuple[str, ...]) -> ShellCommand:
    return ShellCommand(words, base_name(words[0]), forms_of(words))


def _rule_set(behavior: Literal["deny", "ask"], rows: Iterable[RuleRow], reader: RuleReader) -> RuleSet:
    made = RuleSet(reader=reader)
    for row in rows:
        rule, _problem = made.read(behavior, row.text, row.source)
        made = made.with_rule(rule) if rule is not None else made
    return made


def _by_rule(answer: Literal["deny", "ask"], found: RuleMatch, line: str) -> ExecFinding:
    rule = found.rule
    shown = one_line(line, _WIDEST_LINE)
    source = f" ({rule.origin})" if rule.source else ""
    text = "was denied by the rule" if answer == "deny" else "needs approval because of the rule"
    return ExecFinding(answer, f"`{shown}` {text} {rule.shown}{source}.", rule.shown, rule.origin)


class _KnownPrograms:
    """The files of programs that rules name, to recognise them by another name, linked or copied."""

    def __init__(self, names: Iterable[str], path: str) -> None:
        self._by_file: dict[tuple[int, int], dict[str, None]] = {}
        self._by_size: dict[int, list[tuple[str, str]]] = {}
        self._checked: dict[Identity, tuple[str, ...]] = {}
        usual = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
        self.directories = dict.fromkeys((*filter(os.path.isabs, path.split(":")), *usual))
        for name in names:
            for directory in self.directories:
                self._add(name, os.path.join(directory, name))

    def _add(self, name: str, file: str) -> None:
        try:
            found = os.stat(file)
        except (OSError, ValueError):
            return
        if os.path.basename(os.path.realpath(file)) in _MANY_IN_ONE:
            return
        self._by_file.setdefault((found.st_dev, found.st_ino), {})[name] = None
        self._by_size.setdefault(found.st_size, []).append((name, file))

    def names(self, identity: Identity, where: str) -> tuple[str, ...]:
        """Return the names of interest under which this file is known, by its inode or its content."""
        known = self._checked.get(identity)
        if known is None:
            known = self._checked[identity] = tuple(self._found(identity, where))
        return known

    def _found(self, identity: Identity, where: str) -> Iterator[str]:
        same = self._by_file.get(identity[:2], {})
        if same:
            yield from same if len(same) <= _MOST_NAMES else ()
            return
        candidates = self._by_size.get(identity[2], ())
        if not candidates or identity[2] > _LARGEST_COPY:
            return
        for name, file in candidates:
            if _is_copy(where, file):
                yield name


def _is_copy(one: str, other: str) -> bool:
    """Return True if two files have the same content. Most programs of one size differ at their beginning."""
    try:
        with open(one, "rb", buffering=0) as first, open(other, "rb", buffering=0) as second:
            while (part := first.read(_CHUNK)) == second.read(_CHUNK):
                if not part:
                    return True
    except OSError:
        pass
    return False
