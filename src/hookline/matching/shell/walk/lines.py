"""Everything a shell line may run: a walk over the parsed line, and over every line found inside it."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise, product
from typing import NamedTuple

from hookline.matching.shell.environment import (
    CONVENTION,
    kind_of_variable,
    look_at_variable,
    prints_settings,
)
from hookline.matching.shell.found import Doubt, Foreign, Found, Inner, Line, Stdin
from hookline.matching.shell.grammar.limits import LONGEST_ARGUMENTS, has_bash_syntax, unreadable
from hookline.matching.shell.grammar.parser import CannotParseError, Parser, TooMuchError, UnclearError
from hookline.matching.shell.grammar.syntax import (
    Arithmetic,
    Assignment,
    Block,
    List,
    Node,
    Parameter,
    Part,
    Pipeline,
    Redirect,
    Simple,
    Substitution,
    Test,
    Text,
    Word,
)
from hookline.matching.shell.holes import HOLE, Words, base_name
from hookline.matching.shell.permitted import may_be_set, takes_data, unsettled
from hookline.matching.shell.programs import row_of
from hookline.matching.shell.reader import ShellReading
from hookline.matching.shell.runs import is_program_pattern, look_through, program_of
from hookline.matching.shell.walk.definitions import HERE_IN_ALIAS, Definitions
from hookline.matching.shell.walk.draft import COST_OF_A_COMMAND, COST_OF_A_PART, MANY_PARTS, Draft, Stages
from hookline.matching.shell.walk.expand import Expander, Field, Fields
from hookline.matching.shell.walk.streams import INPUT, OUTPUT, printed, redirected
from hookline.matching.shell.walk.variables import (
    DECLARING,
    Variables,
    first_text,
    nodes_of,
    parts_of,
    plain,
    words_of,
)

#: How often a line found inside a line is read again.
DEEPEST_EVALUATION = 5
_MOST_VARIANTS = 12
#: How many calls of functions are followed.
_MOST_CALLS = 40

#: Text that becomes code when it is evaluated as arithmetic or as a prompt.
_HIDDEN_CODE = re.compile(r"\$\(|`|\[\$")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_CODE = re.compile(r"\\[^A-Za-z0-9\n]")
#: Ends the here-document as which such text is read.
_END = "_END_OF_TEXT_"
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: Builtins that evaluate the subscripts and expressions in their words.
_EVALUATING = frozenset(
    (
        "let", "test", "[", "printf", "read", "unset", "declare", "typeset", "local", "export", "readonly",
        "mapfile", "readarray", "wait", "getopts",
    )
)  # fmt: skip
#: Variables whose values bash evaluates as arithmetic.
_INTEGERS = frozenset(
    ("RANDOM", "SECONDS", "LINENO", "OPTIND", "EPOCHSECONDS", "BASH_ARGV0", "SRANDOM", "HISTCMD")
)
_HARMLESS_TARGETS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))
_COMPARISONS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"))


class _Context(NamedTuple):
    """Where a command is."""

    depth: int = 0
    #: The parts of pipelines and substitutions it belongs to.
    stages: Stages = ()
    stdin: Stdin = Stdin()
    #: It is run for sure, once, by the shell of the line itself.
    certain: bool = True
    #: A redirection around it is its standard input.
    fed: bool = False
    #: The function whose body it is in.
    function: str = ""
    #: Words of the command hold what the line itself may have made up: code put together from them is not known.
    made_up: bool = False


def read_line(line: str) -> ShellReading:
    try:
        return Walk().reading(line)
    except RecursionError:
        # The caller's own stack was almost full.
        return ShellReading(doubts=("it is nested too deep",))


class Walk:
    """One reading in the making."""

    def __init__(self) -> None:
        self._draft = Draft()
        self._waiting: deque[tuple[Line | Inner, _Context]] = deque()
        self._seen: set[tuple[str, bool]] = set()
        self._variables = Variables()
        self._assured: set[str] = set()
        self._expander = Expander(self._variables, None, self._assured)
        #: The line is being read as a shell other than bash would read it.
        self._posix = False
        self._definitions = Definitions()
        self._hidden: dict[str, None] = {}
        self._told: set[str] = set()
        self._evaluates = False
        #: `exec < file`: what was inherited is no longer.
        self._fed_anew = False
        #: Functions that give their arguments to programs that may run them, and the calls that were followed.
        self._bodies: dict[str, list[tuple[Block, _Context]]] = {}
        self._followed: set[tuple[int, Words]] = set()
        #: Bash is told to drop a word that is a pattern of no file.
        self._drops_patterns = False

    def reading(self, line: str) -> ShellReading:
        self._waiting.append((Line(line), _Context()))
        while self._waiting or self._called() or self._evaluated():
            found, context = self._waiting.popleft()
            if self._draft.full():
                break
            if isinstance(found, Line):
                self._line(found, context)
            else:
                if HOLE in base_name(found.words[0]):
                    self._draft.doubt("what a command runs is known only when it runs")
                self._command(found.words, context, found.outer)
        return self._draft.reading()

    # Lines

    def _line(self, found: Line, context: _Context) -> None:
        code = found.code
        problem = unreadable(code) if context.depth == 0 else None
        if problem is None and context.depth > DEEPEST_EVALUATION:
            problem = f"lines of shell are nested more than {DEEPEST_EVALUATION} deep"
        if problem is not None:
            self._draft.doubt(problem)
            return
        for bash in (True, False) if has_bash_syntax(code) else (True,):
            if (code, bash) not in self._seen or found.args:
                self._seen.add((code, bash))
                self._read(found, context, bash)

    def _read(self, found: Line, context: _Context, bash: bool) -> None:
        self._drops_patterns = self._drops_patterns or "nullglob" in found.code
        parser = Parser(found.code, bash, steps=self._draft.steps)
        try:
            parsed = parser.parse()
        except TooMuchError as error:
            self._draft.doubt(f"the line cannot be parsed: {error}")
            return
        except CannotParseError as error:
            # A shell has run what comes before its mistake. To other shells than bash it may well be one.
            parsed = List(tuple(parser.done))
            if bash or isinstance(error, UnclearError):
                self._draft.doubt(f"the line cannot be parsed: {error}")
        used = frozenset(self._variables.used)
        changed = self._variables.collect(parsed) & used
        if changed and (bash or context.depth):
            # The line itself, read once more as another shell does, was not judged by any of this before.
            name = min(changed)
            does = f"defines {name}" if name.endswith("()") else f"assigns ${name}"
            self._draft.doubt(f"code that is made up by the line {does}")
        self._posix = not bash
        # What bash has assigned for sure, another shell may not have.
        assured = self._assured = set[str]()
        self._expander = Expander(self._variables, found.args or None, assured, braces=bash)
        self._list(parsed, context)
        self._posix = False

    def _list(self, found: List, context: _Context) -> None:
        for item in found.items:
            certain = context.certain and item.after == ";" and not item.background
            self._draft.literal = self._draft.literal and not item.background
            self._node(item.node, context._replace(certain=certain))

    def _node(self, node: Node, context: _Context) -> None:
        if self._draft.full():
            return
        if isinstance(node, Simple):
            self._simple(node, context)
        elif isinstance(node, Pipeline):
            self._pipeline(node, context)
        elif isinstance(node, List):
            self._list(node, context)
        elif isinstance(node, Block):
            self._block(node, context)
        else:
            self._test(node, context)

    def _pipeline(self, node: Pipeline, context: _Context) -> None:
        stdin, before = context.stdin, 0
        for command in node.commands:
            stage = self._draft.stage(after=before)
            self._node(command, context._replace(stages=(*context.stages, stage), stdin=stdin, certain=False))
            stdin, before = printed(command, self._expander), stage

    # Compound commands

    def _block(self, node: Block, context: _Context) -> None:
        stage = self._draft.stage()
        context = context._replace(
            stages=(*context.stages, stage), stdin=redirected(node.redirects, context.stdin, self._expander)
        )
        self._inside(node, context, stage)
        self._redirects(node.redirects)
        self._written(node.redirects, Stdin("unknown"), context)
        context = context._replace(fed=context.fed or any(one.operator in INPUT for one in node.redirects))
        if node.kind == "function":
            # It may replace a program that a rule allows.
            self._draft.literal = False
            context = context._replace(function=node.name, certain=False, stdin=Stdin("unknown"))
        elif node.kind != "group":
            context = context._replace(certain=False)
        if node.kind == "coproc":
            self._draft.literal = False
            context = context._replace(stdin=Stdin("unknown"))
        loops = node.kind == "loop" and node.name and node.name not in self._assured
        if loops:
            self._assured.add(node.name)
        outer = self._expander
        if node.kind == "function":
            if _passes_arguments(node):
                self._bodies.setdefault(node.name, []).append((node, context))
            # It has arguments of its own.
            self._expander = Expander(self._variables, None, outer.assured, braces=not self._posix)
        for body in node.bodies:
            self._list(body, context)
        self._expander = outer
        if loops:
            self._assured.discard(node.name)

    def _test(self, node: Test, context: _Context) -> None:
        stage = self._draft.stage()
        self._inside(node, context._replace(stages=(*context.stages, stage)), stage)
        self._redirects(node.redirects)
        if node.arithmetic:
            self._draft.literal = False
            self._evaluates = self._evaluates or _has_names(node.words)
            return
        texts = [plain(word) for word in node.words]
        self._evaluates = self._evaluates or not _COMPARISONS.isdisjoint(text or "" for text in texts)
        words = tuple(HOLE if text is None else text for text in texts)
        if HOLE in words and not _COMPARISONS.isdisjoint(words):
            self._draft.literal = False
        self._emit(("[[", *words, "]]"), (*context.stages, stage), ())

    def _inside(self, node: Node, context: _Context, stage: int) -> None:
        """What is substituted in the words of a command is run, and its output goes there."""
        parts = tuple(parts_of(node))
        if len(parts) > MANY_PARTS:
            self._draft.charge(COST_OF_A_PART * (len(parts) - MANY_PARTS), 0)
            if self._draft.full():
                return
        for part in parts:
            if isinstance(part, Substitution):
                inner = (
                    self._draft.stage(after=stage)
                    if part.direction == ">"
                    else self._draft.stage(before=stage)
                )
                stdin = Stdin("unknown") if part.direction == ">" else context.stdin
                self._list(
                    part.body,
                    context._replace(stages=(*context.stages[:-1], inner), stdin=stdin, certain=False),
                )
            elif isinstance(part, Arithmetic):
                # What is put into arithmetic is evaluated, the output of a command as well.
                named = _has_names((part.parts,))
                known = not named and all(isinstance(each, Text) for each in part.parts)
                self._draft.literal = self._draft.literal and known
                self._evaluates = self._evaluates or named
                self._hide(part.parts)
            elif isinstance(part, Parameter):
                self._draft.uses(part.name, stage)
                self._parameter(part)
            elif _HIDDEN_CODE.search(part.text):
                self._hidden[part.text] = None
        for word in words_of(node):
            self._hide(word)

    def _hide(self, word: Iterable[Part]) -> None:
        """Remembers quoted text that holds substitutions, should the line evaluate it."""
        text = "".join(part.text if isinstance(part, Text) else " " for part in word)
        if _HIDDEN_CODE.search(text):
            self._hidden[text] = None

    def _parameter(self, part: Parameter) -> None:
        subscript = part.subscript or ()
        if part.indirect or part.operator == ":" or _has_names((subscript,)):
            self._evaluates, self._draft.literal = True, False
        elif not all(isinstance(each, Text) for each in subscript):
            self._draft.literal = False
        if part.operator == "@P":
            self._evaluates, self._draft.literal = True, False
            values = self._expander.texts((Parameter(part.name, quoted=True),))
            for value, _origin in values:
                if HOLE in value:
                    self._draft.doubt(f"${part.name} is expanded as a prompt, which may run commands")

    # Simple commands

    def _simple(self, node: Simple, context: _Context) -> None:
        stage = self._draft.stage()
        context = context._replace(
            stages=(*context.stages, stage), stdin=redirected(node.redirects, context.stdin, self._expander)
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
        self._redirects(node.redirects)
        if any(redirect.operator in OUTPUT for redirect in node.redirects):
            self._written(node.redirects, printed(node, self._expander), context)
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
            context = context._replace(made_up=made_up)
            self._command(words, context, ())
            fewer = _without_empty(fields, self._drops_patterns)
            if fewer not in {(), words}:
                self._look_through(fewer, context)
            if self._drops_patterns and _may_shift(fields):
                self._draft.doubt("words of a command may be dropped as patterns of no file")

    def _assignment(self, assignment: Assignment, context: _Context, node: Simple) -> None:
        name, prefix = assignment.name, bool(node.words)
        reads = prefix and plain(node.words[0]) == "read"
        if not may_be_set(name, prefix=prefix) and not (name == "IFS" and reads):
            self._draft.literal = False
        if name in _INTEGERS:
            self._evaluates = True
        if assignment.subscript is not None:
            self._draft.literal = False
            self._evaluates = self._evaluates or _has_names((assignment.subscript,))
        words = assignment.elements if assignment.elements is not None else (assignment.value,)
        # `a=([i]=1)`
        self._evaluates = self._evaluates or any(
            first_text(word)[:1] == "[" for word in assignment.elements or ()
        )
        for value, _origin in (text for word in words for text in self._expander.texts(word)):
            self._set(name, value, context)

    def _set(self, name: str, value: str, context: _Context) -> None:
        if name in {"BASH_CMDS", "BASH_ALIASES"}:
            self._found(Line(value), context)
            if "<<" in value:
                self._found(HERE_IN_ALIAS, context)
        if kind_of_variable(name) is not None:
            self._definitions.loads(value)
        for found in look_at_variable(name, value):
            # Nobody says when it runs, or that it gets anything to read.
            self._found(found, context._replace(stdin=Stdin("text")))

    def _declared(self, words: Words, context: _Context) -> None:
        """`export 'NAME=value'`: words that are assignments, however they are quoted."""
        for name, equals, value in (word.partition("=") for word in words[1:]):
            if equals and _IDENTIFIER.fullmatch(name.rstrip("+")):
                self._draft.literal = self._draft.literal and may_be_set(name.rstrip("+"), prefix=False)
                self._set(name.rstrip("+"), value, context)

    def _redirects(self, redirects: Iterable[Redirect]) -> None:
        for redirect in redirects:
            if redirect.body is not None or redirect.operator == "<<<":
                continue
            for fields in self._expander.fields(redirect.target):
                file = " ".join(field.text for field in fields)
                self._draft.charge(1, len(file))
                if redirect.operator == "<":
                    self._draft.reads.append(file)
                    self._draft.literal = self._draft.literal and HOLE not in file
                elif redirect.operator in {"<&", ">&"} and (file.rstrip("-").isdigit() or file == "-"):
                    continue
                else:
                    self._draft.writes.append(file)
                    self._draft.literal = self._draft.literal and file in _HARMLESS_TARGETS

    def _written(self, redirects: Iterable[Redirect], content: Stdin, context: _Context) -> None:
        """`cat > x.sh <<E`, `echo 'rm y' > x.sh`: the file may be run later in the line."""
        targets = [redirect.target for redirect in redirects if redirect.operator in OUTPUT]
        known = content.text if content.kind == "text" and len(targets) == 1 else None
        for fields in (fields for target in targets for fields in self._expander.fields(target)):
            for found in self._definitions.script(" ".join(field.text for field in fields), known):
                self._found(found, context)

    def _variants(self, node: Simple, context: _Context) -> Iterator[Fields]:
        """The words of a command, once for each set of values that its variables may have."""
        every = [self._expander.fields(word) for word in self._without_settings(node.words)]
        count = 1
        for at, alternatives in enumerate(every):
            count *= len(alternatives)
            if count > _MOST_VARIANTS:
                every[at] = [(Field(HOLE, "unknown", splits=True),)]
                count //= len(alternatives)
        every[0] = [one for fields in every[0] for one in self._first(fields, node.words[0])]
        for chosen in dict.fromkeys(product(*every)):
            fields = tuple(field for word in chosen for field in word)
            if not fields or (
                not chosen[0] and HOLE in fields[0].text and not is_program_pattern(fields[0].text)
            ):
                # The first word may be empty; that the next one is then the command is far-fetched when it is no name.
                continue
            if context.function and HOLE in fields[0].text and _is_argument(node.words[0]):
                self._definitions.runs_arguments(context.function)
                if self._variables.may_change("IFS"):
                    self._draft.doubt(f"what {context.function} is given is split into other words")
                continue
            self._draft.literal = self._draft.literal and not unsettled(fields)
            self._name(fields[0], node)
            yield fields

    def _without_settings(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        """`eval "$(ssh-agent -s)"`, `source <(kubectl completion bash)`: settings that run nothing more."""
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
        """The command itself. Some variables hold programs by convention; unquoted they may also hold nothing."""
        self._variables.used.update(part.name for part in word if isinstance(part, Parameter))
        part = word[0]
        if len(word) > 1 and word[0] == Text("", quoted=True) and len(word) == 2:
            part = word[1]
        elif len(word) > 1:
            return [fields]
        if not isinstance(part, Parameter) or not fields or fields[0].origin != "environment":
            return [fields]
        program = CONVENTION.get(part.name)
        if program is None or fields[0].text != HOLE:
            return [fields]
        # Good enough not to take it for any other program, not good enough to permit it.
        self._draft.literal = False
        return [(Field(program),)] if part.quoted else [(Field(program),), ()]

    def _name(self, field: Field, node: Simple) -> None:
        if field.text != "~" and (HOLE not in field.text or _known_name(field)):
            return
        if self._posix and field.origin != "unknown":
            return
        self._draft.doubt(f"what `{shown(node.words[0])}` runs is known only to the shell")

    # Commands, and what they run

    def _command(self, words: Words, context: _Context, outer: Words) -> None:
        if not words:
            return
        self._draft.charge(COST_OF_A_COMMAND + len(words), 0)
        if self._draft.full():
            return
        self._emit(words, context.stages, outer)
        if " " in words[0]:
            self._draft.literal = False
        program = base_name(words[0])
        if program in _EVALUATING:
            self._evaluates = True
        if sum(map(len, words)) > LONGEST_ARGUMENTS:
            self._draft.doubt(f"the arguments of {program} are longer than {LONGEST_ARGUMENTS} characters")
            return
        if program in DECLARING:
            self._declared(words, context)
        if program in {"set", "shift"}:
            self._expander.forget_arguments()
            if program == "set" and _sets_arguments(words):
                self._definitions.sets_arguments()
        if self._fed_anew and context.stdin.kind != "unknown":
            context = context._replace(stdin=Stdin("unknown"))
        self._look_through(words, context)

    def _look_through(self, words: Words, context: _Context) -> None:
        known = set(words)
        for found in chain(look_through(words, context.stdin), self._definitions.note(words, context.stdin)):
            if self._draft.full():
                return
            if (
                isinstance(found, Inner)
                and not known.issuperset(found.words)
                and any(HOLE in word for word in set(found.words) - known)
            ):
                # The input of xargs, the files that find comes upon.
                self._found(found, context._replace(made_up=True))
            else:
                self._found(found, context)

    def _emit(self, words: Words, stages: Stages, outer: Words) -> None:
        anew = not self._posix or self._definitions.calls(words[0])
        if anew or not any(_same(words, one.words) for one in self._draft.commands):
            self._draft.command(words, stages, outer)

    def _found(self, found: Found, context: _Context) -> None:
        if isinstance(found, Doubt):
            self._draft.doubt(found.reason)
        elif isinstance(found, Line) and HOLE in found.code and context.made_up:
            self._draft.doubt("a line of shell is put together at run time")
        elif isinstance(found, Foreign):
            self._draft.foreign(found.text)
        else:
            self._draft.charge(1, len(found.words) if isinstance(found, Inner) else len(found.code))
            context = context._replace(certain=False)
            if isinstance(found, Line):
                # The arguments of a function are not those of the code that it runs.
                stdin = Stdin("unknown") if found.fed else context.stdin
                context = context._replace(depth=context.depth + 1, function="", stdin=stdin)
            self._waiting.append((found, context))

    def _called(self) -> bool:
        """Calls of what the line itself defines. True when there is more to read."""
        for at, found in self._definitions.called(self._draft.commands):
            if isinstance(found, Foreign):
                self._draft.foreign(found.text)
            else:
                self._found(found, _Context(1, self._draft.stages[at], Stdin("unknown"), certain=False))
        at = 0
        while self._bodies and at < len(self._draft.commands):
            self._follow(self._draft.commands[at].words)
            at += 1
        return bool(self._waiting)

    def _follow(self, words: Words) -> None:
        """`f() { timeout "$@"; }; f 5 rm y`: what a function does with these arguments."""
        for node, context in self._bodies.get(words[0], ()):
            if len(words) == 1 or (id(node), words) in self._followed:
                continue
            self._followed.add((id(node), words))
            if len(self._followed) > _MOST_CALLS:
                self._draft.doubt(f"{words[0]} is called too often to follow every call")
                return
            self._expander = Expander(self._variables, words, set())
            for body in node.bodies:
                self._list(body, context)

    def _evaluated(self) -> bool:
        """Quoted text that holds substitutions, in a line that evaluates text."""
        if not self._evaluates or not self._hidden:
            return False
        # `read` takes backslashes out.
        every = chain(self._hidden, (_ESCAPED.sub(r"\1", one) for one in self._hidden if "\\" in one))
        texts = [text for text in dict.fromkeys(one.rstrip("\n") for one in every) if text not in self._told]
        self._hidden = {}
        self._told.update(texts)
        for text in texts:
            if _ESCAPED_CODE.search(text):
                self._draft.doubt("quoted text that holds substitutions is evaluated more than once")
            try:
                Parser(text, steps=self._draft.steps).expanded(text)
            except CannotParseError as error:
                self._draft.foreign(text)
                if isinstance(error, UnclearError):
                    self._draft.doubt(f"text that is evaluated cannot be parsed: {error}")
            else:
                # As a here-document it is read like any other line, with what it assigns and defines.
                self._found(Line(f"<<{_END}\n{text}\n{_END}"), _Context(depth=1, certain=False))
        return bool(self._waiting)


def _same(words: Words, known: Words) -> bool:
    """Whether a command is but for braces and `$'…'`, which only bash knows, one that bash runs."""
    return words == known or (
        words[0] == known[0]
        and any("{" in word or "$" in word for word in words)
        and all(word in known or "{" in word or "$" in word for word in words)
    )


def _without_empty(fields: Fields, drops_patterns: bool) -> Words:
    """The words as they are where what fills their holes is empty: `-k$X 5 rm` is `-k 5 rm`."""
    kept = (field for field in fields if not field.splits or field.text.strip(HOLE))
    if drops_patterns:
        kept = (field for field in kept if field.origin != "glob")
    return tuple(
        field.text if _is_pattern(field) else field.text.replace(HOLE, "") or field.text for field in kept
    )


def _may_shift(fields: Fields) -> bool:
    """Whether which word is the command depends on what patterns find, more than can be tried."""
    count = sum(field.origin == "glob" for field in fields)
    return fields[0].origin == "glob" or (count > 1 and row_of(program_of(fields[0].text)) is not None)


def _is_pattern(field: Field) -> bool:
    """Whether its holes may be what the shell finds, which is never nothing."""
    return field.origin == "glob" or ("/" in field.text and HOLE in base_name(field.text))


def _sets_arguments(words: Words) -> bool:
    """`set -- a b` and `set a b`, but not `set -o pipefail`."""
    return "--" in words or any(
        word[:1] not in {"-", "+"} and not (before[:1] in {"-", "+"} and before.endswith("o"))
        for before, word in pairwise(words)
    )


def _passes_arguments(function: Block) -> bool:
    """Whether a program in it that may run others is given arguments of the function."""
    for node in (node for body in function.bodies for node in nodes_of(body)):
        if not isinstance(node, Simple) or not node.words:
            continue
        name = plain(node.words[0])
        if name is None or name in _EVALUATING or row_of(program_of(name)) is None:
            continue
        if any(isinstance(part, Parameter) and _is_positional(part.name) for part in parts_of(node)):
            return True
    return False


def _is_positional(name: str) -> bool:
    return name in {"@", "*"} or (name.isdigit() and name != "0")


def _has_names(words: Iterable[Iterable[Part]]) -> bool:
    """Whether arithmetic refers to variables, whose text is evaluated in its turn."""
    for word in words:
        for part in word:
            if isinstance(part, Parameter) or (isinstance(part, Text) and _IDENTIFIER.search(part.text)):
                return True
    return False


def _known_name(field: Field) -> bool:
    """Whether the name of the program is plain, though not the directory that it is in."""
    directory, slash, name = field.text.rpartition("/")
    if not slash or HOLE in name or not name:
        return False
    return not field.splits or field.origin in {"glob", "environment"} or directory.startswith("/")


def _is_argument(word: Word) -> bool:
    named = [part for part in word if part != Text("", quoted=True)]
    return len(named) == 1 and isinstance(named[0], Parameter) and _is_positional(named[0].name)


def shown(word: Word) -> str:
    """A word as it may be quoted in a reason."""
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
