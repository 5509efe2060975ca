"""Walk over simple commands: their assignments, redirections and words, as the shell would expand them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import product

from msgspec.structs import replace

from hookline.shell.environment import prints_settings, program_in
from hookline.shell.found import Stdin
from hookline.shell.grammar.syntax import (
    Arithmetic,
    Assignment,
    Node,
    Parameter,
    Part,
    Redirect,
    Simple,
    Substitution,
    Text,
    Word,
)
from hookline.shell.permitted import may_be_set, takes_data, unsettled
from hookline.shell.placeholders import HOLE, Words, base_name
from hookline.shell.programs import row_of
from hookline.shell.runs import is_program_pattern, program_of
from hookline.shell.walk.commands import CommandWalk
from hookline.shell.walk.draft import CommandContext
from hookline.shell.walk.evaluated import INTEGERS
from hookline.shell.walk.fields import Fields, ShellField
from hookline.shell.walk.streams import INPUT, OUTPUT, printed, redirected
from hookline.shell.walk.variables import first_text, has_names, is_positional, plain

_MOST_VARIANTS = 12
QUOTES = str.maketrans("", "", "'\"\\")
SETS_OPTIONS = re.compile(r"nullglob|shopt|BASHOPTS|bash\b(?:(?!bash\b)[^\n;|&])*?\s[-+]\w*O")
#: Without one of these it finds nothing.
_OPTION_WORDS = ("nullglob", "shopt", "BASHOPTS", "bash")
_HARMLESS_TARGETS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))


class SimpleWalk(CommandWalk, ABC):
    def __init__(self) -> None:
        super().__init__()
        #: Variables that have certainly been assigned.
        self._assured: set[str] = set()
        #: Bash is set to drop a word that is a pattern of no file.
        self._drops_patterns = False

    @abstractmethod
    def _inside(self, node: Node, context: CommandContext, stage: int) -> None:
        """Walk over the substitutions in the words of a command."""

    def _simple(self, node: Simple, context: CommandContext) -> None:
        stage = self._draft.stage()
        context = replace(
            context,
            stages=(*context.stages, stage),
            stdin=redirected(node.redirects, context.stdin, self._expander),
        )
        self._inside(node, context, stage)
        for assignment in node.assignments:
            self._draft.charge(2, 0)
            if self._draft.full():
                return
            self._draft.keeps(assignment.name, stage)
            self._assignment(assignment, context, node)
        if self._draft.full():
            return
        if node.redirects:
            self._redirected(node, context)
        if not node.words:
            if context.certain and not node.redirects:
                self._assured.update(one.name for one in node.assignments)
            return
        fed = context.fed or any(redirect.operator in INPUT for redirect in node.redirects)
        for fields in self._variants(node, context):
            made_up = any(field.origin == "unknown" for field in fields)
            words = tuple(field.text for field in fields)
            self._fed_anew = self._fed_anew or (fed and base_name(words[0]) == "exec")
            self._draft.literal = self._draft.literal and (not fed or takes_data(words))
            context = context if made_up == context.made_up else replace(context, made_up=made_up)
            self._command(words, context, ())
            fewer = _without_empty(fields, words, self._drops_patterns)
            if fewer not in {(), words}:
                self._look_through(fewer, context)
            if self._drops_patterns and _may_shift(fields):
                self._draft.doubt("words of a command may be dropped as patterns of no file")

    def _assignment(self, assignment: Assignment, context: CommandContext, node: Simple) -> None:
        name, prefix = assignment.name, bool(node.words)
        reads = prefix and plain(node.words[0]) == "read"
        if not may_be_set(name, prefix=prefix) and not (name == "IFS" and reads):
            self._draft.literal = False
        if name in INTEGERS:
            self._evaluated.happens()
        if assignment.subscript is not None:
            self._draft.literal = False
            self._evaluated.happens(has_names((assignment.subscript,)))
        words = assignment.elements if assignment.elements is not None else (assignment.value,)
        # `a=([i]=1)`
        self._evaluated.happens(any(first_text(word)[:1] == "[" for word in assignment.elements or ()))
        for value, _origin in (text for word in words for text in self._expander.texts(word)):
            self._set(name, value, context)

    def _redirects(self, redirects: Iterable[Redirect], context: CommandContext) -> None:
        for redirect in redirects:
            if redirect.body is not None or redirect.operator == "<<<":
                for text, _origin in self._expander.texts(redirect.body or redirect.target):
                    self._printed.prints(text)
                continue
            for fields in self._expander.fields(redirect.target):
                file = " ".join(field.text for field in fields)
                self._draft.charge(1, len(file))
                if redirect.operator in {"<", "<>"}:
                    self._draft.reads.append(file)
                    self._draft.literal = self._draft.literal and HOLE not in file
                if redirect.operator == "<":
                    continue
                if redirect.operator in {"<&", ">&"} and (file.rstrip("-").isdigit() or file == "-"):
                    continue
                self._draft.writes.append(file)
                if not context.away:
                    self._draft.writes_here.add(file)
                self._draft.literal = self._draft.literal and file in _HARMLESS_TARGETS

    def _redirected(self, node: Simple, context: CommandContext) -> None:
        self._redirects(node.redirects, context)
        if any(redirect.operator in OUTPUT for redirect in node.redirects):
            self._written(node.redirects, printed(node, self._expander), context)

    def _written(self, redirects: Iterable[Redirect], content: Stdin, context: CommandContext) -> None:
        """Note writes such as `cat > x.sh <<E` and `echo 'rm y' > x.sh`: the file may be run later in the line."""
        targets = [redirect.target for redirect in redirects if redirect.operator in OUTPUT]
        known = content.text if content.kind == "text" and len(targets) == 1 else None
        for fields in (fields for target in targets for fields in self._expander.fields(target)):
            for found in self._definitions.script(" ".join(field.text for field in fields), known):
                self._found(found, context)

    def _variants(self, node: Simple, context: CommandContext) -> Iterator[Fields]:
        """Yield the words of a command, once for each set of values that its variables may have."""
        every = [self._expander.fields(word) for word in self._without_settings(node.words)]
        count = 1
        for at, alternatives in enumerate(every):
            count *= len(alternatives)
            if count > _MOST_VARIANTS:
                every[at] = [(ShellField(HOLE, "unknown", splits=True),)]
                count //= len(alternatives)
        every[0] = [one for fields in every[0] for one in self._first(fields, node.words[0])]
        alone = sum(map(len, every)) == len(every) and all(every)
        for chosen in ([one for (one,) in every],) if alone else dict.fromkeys(product(*every)):
            fields = tuple(field for word in chosen for field in word)
            if not fields or (not chosen[0] and len(every[0]) > 1 and _is_far_fetched(fields[0])):
                # The first word may be empty; that the next one is then the command is far-fetched when it
                # is not a name.
                continue
            if context.function and chosen[0] and HOLE in fields[0].text and is_argument(node.words[0]):
                self._definitions.runs_arguments(context.function)
                if self._variables.may_change("IFS"):
                    self._draft.doubt(f"what {context.function} is given is split into other words")
                continue
            self._draft.literal = self._draft.literal and not unsettled(fields)
            self._name(fields[0], node)
            yield fields

    def _without_settings(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        """Drop settings that run nothing more: `eval "$(ssh-agent -s)"`, `source <(kubectl completion bash)`."""
        evaluates = plain(words[0])
        if evaluates not in {"eval", "source", "."}:
            return words
        instead = () if evaluates == "eval" else (Text("/dev/null", quoted=True),)
        found = tuple(
            tuple(each for part in word for each in (instead if self._is_settings(part) else (part,)))
            for word in words
        )
        self._draft.literal = self._draft.literal and found == words
        return found

    def _is_settings(self, part: Part) -> bool:
        items = part.body.items if isinstance(part, Substitution) and part.direction != ">" else ()
        node = items[0].node if len(items) == 1 else None
        if not isinstance(node, Simple) or node.assignments or not node.words:
            return False
        words = [plain(word) for word in node.words]
        known = tuple(word for word in words if word is not None)
        if len(known) < len(words) or any(one.operator in INPUT for one in node.redirects):
            return False
        name = base_name(known[0])
        replaced = self._variables.may_replace(name) or self._definitions.replaces(name)
        return not replaced and prints_settings(known)

    def _first(self, fields: Fields, word: Word) -> list[Fields]:
        """Return the command itself. Some variables hold programs by convention; unquoted they may also be empty."""
        self._variables.used.update(part.name for part in word if isinstance(part, Parameter))
        part = word[0]
        if len(word) > 1 and word[0] == Text("", quoted=True) and len(word) == 2:
            part = word[1]
        elif len(word) > 1:
            return [fields]
        if not isinstance(part, Parameter) or not fields or fields[0].origin != "environment":
            return [fields]
        program = program_in(part.name)
        if program is None or fields[0].text != HOLE:
            return [fields]
        # Good enough not to take it for any other program, not good enough to permit it.
        self._draft.literal = False
        return [(ShellField(program),)] if part.quoted else [(ShellField(program),), ()]

    def _name(self, field: ShellField, node: Simple) -> None:
        if field.text != "~" and (HOLE not in field.text or _known_name(field)):
            return
        if self._posix and field.origin != "unknown":
            return
        self._draft.doubt(f"what `{shown(node.words[0])}` runs is known only to the shell")


def may_drop_patterns(line: str) -> bool:
    """Return True if a line may set `nullglob`, however it is written there: by shopt, bash -O or a variable."""
    text = line.translate(QUOTES)
    return any(word in text for word in _OPTION_WORDS) and SETS_OPTIONS.search(text) is not None


def _without_empty(fields: Fields, words: Words, drops_patterns: bool) -> Words:
    """Return the words with their placeholders assumed empty: `-k$X 5 rm` is `-k 5 rm`."""
    if "" not in words and HOLE not in "".join(words):
        return words
    kept = (field for field in fields if not field.splits or field.text.strip(HOLE))
    if drops_patterns:
        kept = (field for field in kept if not _may_be_dropped(field))
    return tuple(
        field.text if _is_pattern(field) else field.text.replace(HOLE, "") or field.text for field in kept
    )


def _may_be_dropped(field: ShellField) -> bool:
    """Return True if it is a pattern, or holds a value that may be one."""
    return HOLE in field.text


def _may_shift(fields: Fields) -> bool:
    """Return True if the matches of patterns decide which word is the command, in more ways than can be tried."""
    count = sum(map(_may_be_dropped, fields))
    return _may_be_dropped(fields[0]) or (count > 1 and row_of(program_of(fields[0].text)) is not None)


def _is_pattern(field: ShellField) -> bool:
    """Return True if its placeholders may be files that the shell matches, which is never nothing."""
    return field.origin == "glob" or ("/" in field.text and HOLE in base_name(field.text))


def _known_name(field: ShellField) -> bool:
    """Return True if the name of the program is plain, though not its directory."""
    directory, slash, name = field.text.rpartition("/")
    if not slash or HOLE in name or not name:
        return False
    return not field.splits or field.origin in {"glob", "environment"} or directory.startswith("/")


def _is_far_fetched(field: ShellField) -> bool:
    return HOLE in field.text and field.origin == "environment" and not is_program_pattern(field.text)


def is_argument(word: Word) -> bool:
    """Return True if it is nothing but arguments of a function: `"$@"`, `$1`."""
    named = [part for part in word if part != Text("", quoted=True)]
    return len(named) == 1 and isinstance(named[0], Parameter) and is_positional(named[0].name)


def shown(word: Word) -> str:
    """Return a word as it may be quoted in a reason."""
    return "".join(_shown(part) for part in word)[:80]


def _shown(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Parameter):
        name = ("!" if part.indirect else "") + part.name
        if part.operator or part.subscript:
            return f"${{{name}{part.operator}…}}"
        return f"${{{name}}}" if part.indirect else f"${name}"
    return "$((…))" if isinstance(part, Arithmetic) else "$(…)"
