"""Find everything a shell line may run: walk over the parsed line, and over every line found inside it."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from hookline.shell.found import Foreign, Line, Stdin
from hookline.shell.grammar.limits import has_bash_syntax, unreadable
from hookline.shell.grammar.parser import CannotParseError, Parser, TooMuchError, UnclearError
from hookline.shell.grammar.plain_parser import plain_list
from hookline.shell.grammar.syntax import (
    Arithmetic,
    Block,
    List,
    Node,
    Parameter,
    Pipeline,
    Simple,
    Substitution,
    Test,
    Text,
)
from hookline.shell.placeholders import HOLE, Words, base_name
from hookline.shell.programs import row_of, row_with_files
from hookline.shell.reader import ShellReading
from hookline.shell.runs import does, program_of
from hookline.shell.walk.draft import COST_OF_A_COMMAND, COST_OF_A_PART, MANY_PARTS, CommandContext
from hookline.shell.walk.empty_expansions import emptied, may_be_glued
from hookline.shell.walk.evaluated import EVALUATING
from hookline.shell.walk.expand import Expander
from hookline.shell.walk.simple import SimpleWalk, is_argument, may_drop_patterns
from hookline.shell.walk.streams import INPUT, OUTPUT, printed, redirected
from hookline.shell.walk.variables import (
    has_names,
    is_positional,
    may_assign,
    nodes_of,
    parts_of,
    plain,
    words_of,
)

#: How deep lines found inside lines are read.
DEEPEST_EVALUATION = 5
#: The most calls of functions that are followed.
_MOST_CALLS = 40
_COMPARISONS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"))


def read_line(line: str, files: Mapping[str, str]) -> ShellReading:
    try:
        return LineWalk().reading(line, files)
    except RecursionError:
        # The caller's own stack was almost full.
        return ShellReading(doubts=("it is nested too deep",))


_REPEATS = re.compile(r"\b(?:while|until|for|select|function)\b|\(\s*\)")


class LineWalk(SimpleWalk):
    def __init__(self) -> None:
        super().__init__()
        self._seen: set[tuple[str, bool, bool]] = set()
        #: Functions that give their arguments to programs that may run them, and the calls that were
        #: followed.
        self._bodies: dict[str, list[tuple[Block, CommandContext]]] = {}
        self._followed: set[tuple[int, Words]] = set()
        #: False while a line of plain commands is read, which holds nothing that is expanded.
        self._may_expand = True

    def reading(self, line: str, files: Mapping[str, str]) -> ShellReading:
        self._waiting.append((Line(line), CommandContext()))
        for found in (
            found for file, text in files.items() for found in self._definitions.script(file, text)
        ):
            self._found(found, CommandContext(depth=1, certain=False))
        while self._waiting or self._called() or self._evaluates():
            found, context = self._waiting.popleft()
            if self._draft.full():
                break
            if isinstance(found, Line):
                self._line(found, context)
            else:
                if HOLE in base_name(found.words[0]):
                    self._draft.doubt("what a command runs is known only when it runs")
                self._command(found.words, context, found.outer)
        for program in sorted(
            self._draft.perhaps - {base_name(one.words[0]) for one in self._draft.commands}
        ):
            self._draft.doubt(f"{program} is run where what is not known is empty")
        for danger in self._printed.dangers(self._affords):
            self._draft.doubt(danger)
        return self._draft.reading(self._definitions.contents())

    def _affords(self, words: Words) -> bool:
        self._draft.charge(COST_OF_A_COMMAND // 2 + len(words) // 4, 0)
        return not self._draft.full()

    # Lines

    def _line(self, found: Line, context: CommandContext) -> None:
        code = found.code
        problem = unreadable(code) if context.depth == 0 else None
        if problem is None and context.depth > DEEPEST_EVALUATION:
            problem = f"lines of shell are nested more than {DEEPEST_EVALUATION} deep"
        if problem is not None:
            self._draft.doubt(problem)
            return
        for bash in (True, False) if has_bash_syntax(code) else (True,):
            seen = (code, bash, context.away)
            if seen not in self._seen or found.args:
                self._seen.add(seen)
                self._read(found, context, bash)

    def _read(self, found: Line, context: CommandContext, bash: bool) -> None:
        self._drops_patterns = self._drops_patterns or may_drop_patterns(found.code)
        simple = plain_list(found.code, self._draft.steps)
        parsed = simple or self._parsed(found.code, bash)
        if parsed is None:
            return
        self._may_expand = simple is None or "$" in found.code or "`" in found.code
        used = frozenset(self._variables.used)
        assigns = simple is None or may_assign(simple)
        changed = self._variables.collect(parsed) & used if assigns else frozenset[str]()
        without = emptied(parsed) if may_be_glued(found.code) else None
        if without is not None:
            self._variables.collect(without)
        if changed and (bash or context.depth):
            # The line itself, read once more as another shell does, was not judged by any of this before.
            name = min(changed)
            does = f"defines {name}" if name.endswith("()") else f"assigns ${name}"
            self._draft.doubt(f"code that is made up by the line {does}")
        self._posix = not bash
        # A variable that bash has certainly assigned may be unset in another shell.
        assured = self._assured = set[str]()
        self._expander = Expander(self._variables, found.args or None, assured, braces=bash)
        self._list(parsed, context)
        if without is not None:
            self._list(without, replace(context, perhaps=True))
        if found.args and self._expander.forgot_arguments and _REPEATS.search(found.code):
            # When it runs again, the text before `shift` comes after it.
            self._expander = Expander(self._variables, None, assured, braces=bash)
            self._list(parsed, context)
        self._posix = False
        self._may_expand = True

    def _parsed(self, code: str, bash: bool) -> List | None:
        """Parse the line as far as possible; None if that would cost too much."""
        parser = Parser(code, bash, steps=self._draft.steps)
        try:
            return parser.parse()
        except TooMuchError as error:
            self._draft.doubt(f"the line cannot be parsed: {error}")
            return None
        except CannotParseError as error:
            # A shell has run the text before its mistake. To other shells than bash it may well be a
            # mistake.
            if bash or isinstance(error, UnclearError):
                self._draft.doubt(f"the line cannot be parsed: {error}")
            return List(tuple(parser.done))

    def _list(self, found: List, context: CommandContext) -> None:
        for item in found.items:
            certain = context.certain and item.after == ";" and not item.background
            self._draft.literal = self._draft.literal and not item.background
            self._node(
                item.node, context if certain == context.certain else replace(context, certain=certain)
            )

    def _node(self, node: Node, context: CommandContext) -> None:
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

    def _pipeline(self, node: Pipeline, context: CommandContext) -> None:
        stdin, before = context.stdin, 0
        for command in node.commands:
            stage = self._draft.stage(after=before)
            self._node(command, replace(context, stages=(*context.stages, stage), stdin=stdin, certain=False))
            stdin, before = printed(command, self._expander), stage

    # Compound commands

    def _block(self, node: Block, context: CommandContext) -> None:
        stage = self._draft.stage()
        context = replace(
            context,
            stages=(*context.stages, stage),
            stdin=redirected(node.redirects, context.stdin, self._expander),
        )
        self._inside(node, context, stage)
        self._redirects(node.redirects, context)
        self._written(node.redirects, Stdin("unknown"), context)
        context = replace(context, fed=context.fed or any(one.operator in INPUT for one in node.redirects))
        if node.kind == "function":
            # It may replace a program that a rule allows.
            self._draft.literal = False
            context = replace(context, function=node.name, certain=False, stdin=Stdin("unknown"))
        elif node.kind != "group":
            context = replace(context, certain=False)
        if node.kind == "coproc":
            self._draft.literal = False
            context = replace(context, stdin=Stdin("unknown"))
        loops = node.kind == "loop" and node.name and node.name not in self._assured
        if loops:
            self._assured.add(node.name)
        outer = self._expander
        if node.kind == "function":
            if _passes_arguments(node):
                self._bodies.setdefault(node.name, []).append((node, context))
            # It has its own arguments.
            self._expander = Expander(self._variables, None, outer.assured, braces=not self._posix)
        for body in node.bodies:
            self._list(body, context)
        self._expander = outer
        if loops:
            self._assured.discard(node.name)

    def _test(self, node: Test, context: CommandContext) -> None:
        stage = self._draft.stage()
        self._inside(node, replace(context, stages=(*context.stages, stage)), stage)
        self._redirects(node.redirects, context)
        if node.arithmetic:
            self._draft.literal = False
            self._evaluated.happens(has_names(node.words))
            return
        texts = [plain(word) for word in node.words]
        self._evaluated.happens(not _COMPARISONS.isdisjoint(text or "" for text in texts))
        words = tuple(HOLE if text is None else text for text in texts)
        if HOLE in words and not _COMPARISONS.isdisjoint(words):
            self._draft.literal = False
        self._emit(("[[", *words, "]]"), replace(context, stages=(*context.stages, stage)), ())

    def _inside(self, node: Node, context: CommandContext, stage: int) -> None:
        """Run the substitutions in the words of a command; their output goes there."""
        if not self._may_expand and isinstance(node, Simple) and len(node.words) <= MANY_PARTS:
            return
        parts = parts_of(node)
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
                    replace(context, stages=(*context.stages[:-1], inner), stdin=stdin, certain=False),
                )
            elif isinstance(part, Arithmetic):
                # Text put into arithmetic is evaluated, the output of a command as well.
                named = has_names((part.parts,))
                known = not named and all(isinstance(each, Text) for each in part.parts)
                self._draft.literal = self._draft.literal and known
                self._evaluated.happens(named)
                self._evaluated.hide(part.parts)
            elif isinstance(part, Parameter):
                self._draft.uses(part.name, stage)
                self._parameter(part)
            else:
                self._evaluated.hide_text(part.text)
        for word in words_of(node):
            self._evaluated.hide(word)

    def _parameter(self, part: Parameter) -> None:
        subscript = part.subscript or ()
        if part.indirect or part.operator == ":" or has_names((subscript,)):
            self._evaluated.happens()
            self._draft.literal = False
        elif not all(isinstance(each, Text) for each in subscript):
            self._draft.literal = False
        if part.operator == "@P":
            self._evaluated.happens()
            self._draft.literal = False
            values = self._expander.texts((Parameter(part.name, quoted=True),))
            for value, _origin in values:
                if HOLE in value:
                    self._draft.doubt(f"${part.name} is expanded as a prompt, which may run commands")

    # Definitions and evaluations of the line

    def _called(self) -> bool:
        """Follow calls of definitions of the line; return True when there is more to read."""
        for at, found in self._definitions.called(self._draft.commands):
            if isinstance(found, Foreign):
                self._draft.foreign(found.text)
            else:
                self._found(found, CommandContext(1, self._draft.stages[at], Stdin("unknown"), certain=False))
        at = 0
        while self._bodies and at < len(self._draft.commands):
            self._follow(self._draft.commands[at].words)
            at += 1
        return bool(self._waiting)

    def _follow(self, words: Words) -> None:
        """Follow a function call with these arguments: `f() { timeout "$@"; }; f 5 rm y`."""
        for node, context in self._bodies.get(words[0], ()):
            if (id(node), words) in self._followed:
                continue
            self._followed.add((id(node), words))
            if len(self._followed) > _MOST_CALLS:
                self._draft.doubt(f"{words[0]} is called too often to follow every call")
                return
            self._expander = Expander(self._variables, words, set())
            for body in node.bodies:
                self._list(body, context)

    def _evaluates(self) -> bool:
        """Read quoted text that holds substitutions, in a line that evaluates text."""
        for found in self._evaluated.found(self._draft.steps):
            self._found(found, CommandContext(depth=1, certain=False))
        return bool(self._waiting)


def _writes(program: str) -> bool:
    """Return True if a program plainly writes or deletes the files that it is given."""
    row = row_with_files(program)
    return does(program, "renames") or (row is not None and not {">", "=", "$"}.isdisjoint(row.files or ""))


def _passes_arguments(function: Block) -> bool:
    """Return True if a program in it that may run others gets arguments of the function, or is one of them."""
    for node in (node for body in function.bodies for node in nodes_of(body)):
        if not isinstance(node, Simple) or not node.words:
            continue
        written = (one.target for one in node.redirects if one.operator in OUTPUT)
        if (is_argument(node.words[0]) and node.words[1:]) or any(map(is_argument, written)):
            return True
        name = plain(node.words[0])
        if name is not None and (name in EVALUATING or not (row_of(key := program_of(name)) or _writes(key))):
            continue
        if any(isinstance(part, Parameter) and is_positional(part.name) for part in parts_of(node)):
            return True
    return False
