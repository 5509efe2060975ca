"""Collect the commands of a line, and everything that they run: each finding waits to be walked over in turn."""

import re
from collections import Counter, deque
from itertools import chain, pairwise

from msgspec.structs import replace

from hookline.shell.environment import kind_of_variable, look_at_variable
from hookline.shell.found import Foreign, Found, Inner, Line, ShellDoubt, Stdin, Typed
from hookline.shell.grammar.limits import LONGEST_ARGUMENTS, LONGEST_CLUSTER
from hookline.shell.permitted import may_be_set
from hookline.shell.placeholders import HOLE, Words, base_name
from hookline.shell.runs import look_through, runs_on_found
from hookline.shell.walk.definitions import HERE_IN_ALIAS, ShellDefinitions
from hookline.shell.walk.draft import COST_OF_A_COMMAND, CommandContext, Draft
from hookline.shell.walk.evaluated import EVALUATING, EvaluatedText
from hookline.shell.walk.expand import Expander
from hookline.shell.walk.printed_arguments import PrintedWords
from hookline.shell.walk.variables import DECLARING, Variables

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class CommandWalk:
    """One reading in the making."""

    def __init__(self) -> None:
        self._draft = Draft()
        self._waiting: deque[tuple[Line | Inner, CommandContext]] = deque()
        self._variables = Variables()
        self._expander = Expander(self._variables, None, set())
        self._definitions = ShellDefinitions()
        self._evaluated = EvaluatedText()
        self._printed = PrintedWords()
        #: The line is being read as a shell other than bash would read it.
        self._posix = False
        #: `exec < file`: the inherited input is replaced.
        self._fed_anew = False

    def _command(self, words: Words, context: CommandContext, outer: Words) -> None:
        if not words:
            return
        self._draft.charge(COST_OF_A_COMMAND + len(words), 0)
        if self._draft.full():
            return
        program, limit = base_name(words[0]), _too_long(words)
        if limit:
            self._draft.doubt(f"what {program} is given is longer than {limit} characters")
            return
        at = self._emit(words, context, outer)
        self._printed.note(words)
        if " " in words[0]:
            self._draft.literal = False
        if program in EVALUATING:
            self._evaluated.happens()
        if program in DECLARING:
            self._declared(words, context)
        if program in {"set", "shift"}:
            # Where this is all that happens to them, they are known.
            known = (
                context.certain
                and not context.depth
                and words[:2] == ("set", "--")
                and HOLE not in "".join(words)
            )
            self._expander.forget_arguments(words[1:] if known else None)
            if program == "set" and _sets_arguments(words):
                self._definitions.sets_arguments()
        if self._fed_anew and context.stdin.kind != "unknown":
            context = replace(context, stdin=Stdin("unknown"))
        self._look_through(words, replace(context, by=at))

    def _look_through(self, words: Words, context: CommandContext) -> None:
        known = set(words)
        for found in chain(look_through(words, context.stdin), self._definitions.note(words, context.stdin)):
            if self._draft.full():
                return
            if isinstance(found, Inner) and _has_more_holes(found.words, words):
                # The input of xargs, the files that find comes upon.
                read = not runs_on_found(words[0])
                self._found(found, replace(context, made_up=True, read=read))
            else:
                self._found(found, context)
        if context.made_up:
            self._printed.give(words, context.stdin)
        if context.read and HOLE in known and runs_on_found(words[0]):
            self._draft.doubt("what find is to do comes from standard input")

    def _emit(self, words: Words, context: CommandContext, outer: Words) -> int:
        """Note a command; return its position."""
        commands = self._draft.commands
        if context.perhaps:
            if HOLE not in words[0]:
                self._draft.perhaps.add(base_name(words[0]))
            return context.by
        if self._posix and not self._definitions.calls(words[0]):
            same = (
                at for at, one in enumerate(commands) if one.away == context.away and _same(words, one.words)
            )
            known = next(same, None)
            if known is not None:
                return known
        self._draft.command(words, context, outer)
        return len(commands) - 1

    def _found(self, found: Found, context: CommandContext) -> None:
        if isinstance(found, ShellDoubt):
            self._draft.doubt(found.reason)
        elif isinstance(found, Typed):
            self._draft.typed = self._draft.typed or found.reason
        elif isinstance(found, Line) and HOLE in found.code and context.made_up:
            self._draft.doubt("a line of shell is put together at run time")
        elif isinstance(found, Foreign):
            self._draft.foreign(found.text)
        else:
            self._draft.charge(1, len(found.words) if isinstance(found, Inner) else len(found.code))
            context = replace(context, certain=False, away=context.away or found.away)
            if isinstance(found, Line):
                # The arguments of a function are not those of the code that it runs.
                stdin = Stdin("unknown") if found.fed else context.stdin
                context = replace(context, depth=context.depth + 1, function="", stdin=stdin, read=False)
            elif found.renamed and context.stdin.kind == "inherited":
                context = replace(context, stdin=Stdin("text"))
            self._waiting.append((found, context))

    def _declared(self, words: Words, context: CommandContext) -> None:
        """Handle `export 'NAME=value'`: words that are assignments, however they are quoted."""
        for name, equals, value in (word.partition("=") for word in words[1:]):
            if equals and _IDENTIFIER.fullmatch(name.rstrip("+")):
                self._draft.literal = self._draft.literal and may_be_set(name.rstrip("+"), prefix=False)
                self._set(name.rstrip("+"), value, context)

    def _set(self, name: str, value: str, context: CommandContext) -> None:
        if name in {"BASH_CMDS", "BASH_ALIASES"}:
            self._found(Line(value), context)
            if "<<" in value:
                self._found(HERE_IN_ALIAS, context)
        self._definitions.options.sets(name, value)
        if kind_of_variable(name) is not None:
            self._definitions.loads(value)
        for found in look_at_variable(name, value):
            # It is not known when it runs, or that it gets anything to read.
            self._found(found, replace(context, stdin=Stdin("text")))


def _too_long(words: Words) -> int:
    """Return the limit that a command exceeds, if it does: of all its words, or of options that are one word."""
    if sum(map(len, words)) > LONGEST_ARGUMENTS:
        return LONGEST_ARGUMENTS
    if max(map(len, words), default=0) <= LONGEST_CLUSTER:
        return 0
    is_long = any(len(word) > LONGEST_CLUSTER and word[0] == "-" != word[1] for word in words)
    return LONGEST_CLUSTER if is_long else 0


def _has_more_holes(inner: Words, words: Words) -> bool:
    """Return True if a command has unknown words that the one around it does not have."""
    more = [word for word in inner if HOLE in word]
    return bool(more) and bool(Counter(more) - Counter(words))


def _same(words: Words, known: Words) -> bool:
    """Return True if a command equals one that bash runs, but for braces and `$'…'`, which only bash knows."""
    return words == known or (
        words[0] == known[0]
        and any("{" in word or "$" in word for word in words)
        and all(word in known or "{" in word or "$" in word for word in words)
    )


def _sets_arguments(words: Words) -> bool:
    """Return True for `set -- a b` and `set a b`, but not `set -o pipefail`."""
    return "--" in words or any(
        word[:1] not in {"-", "+"} and not (before[:1] in {"-", "+"} and before.endswith("o"))
        for before, word in pairwise(words)
    )
