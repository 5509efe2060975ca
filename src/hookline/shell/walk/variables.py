"""Find the values that variables of a line may have, as far as the line itself shows it.

The order of commands is ignored: a variable may have every value that is assigned to it anywhere in the line.
Values from outside (the environment, the output of a command, input) are placeholders.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from hookline.shell.grammar.syntax import (
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
from hookline.shell.placeholders import base_name

#: A value that only the shell will know.
_UNKNOWN = Parameter("", quoted=True)
UNKNOWN_VALUE: tuple[Word, ...] = ((_UNKNOWN,),)
_ASSIGNS = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNED_IN_ARITHMETIC = (
    r"(?<!\w)([A-Za-z_]\w*+)(?:\[[^\[\]]*+\])?\s*+(?:[-+*/%&|^]|<<|>>)?=(?!=)"
    r"|(?:\+\+|--)\s*+([A-Za-z_]\w*+)|(?<!\w)([A-Za-z_]\w*+)\s*+(?:\+\+|--)"
)
#: Redirections that make a file.
_WRITES = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly"))
#: Commands that make a local variable in a function.
_HIDING = frozenset(("declare", "typeset", "local"))
_PREFIXES = frozenset(("command", "builtin", "env", "sudo", "eval"))
#: Builtins that fill the variables they are given, and the one they fill when they are given none.
_READING = {"read": "REPLY", "mapfile": "MAPFILE", "readarray": "MAPFILE", "getopts": "OPTARG", "unset": "_"}
_FORMAT = re.compile(r"[%\\]")
#: The option whose value names a variable.
_OPTION_NAMES = {"printf": "-v", "wait": "-p"}


#: The first words of commands that may assign something.
_ASSIGNING = DECLARING | _PREFIXES | _READING.keys() | _OPTION_NAMES.keys() | {"alias", "let"}

#: A name, and the words of its value.
_Assigned = tuple[str, tuple[Word, ...]]


class Elements(tuple[Word, ...]):
    """The words of an array, which are expanded like those of a command: `A=({rm,y})` has two elements."""

    __slots__ = ()


class Variables:
    """All that is assigned in a line, the lines inside it included."""

    def __init__(self) -> None:
        #: Every value that a variable may have; each a tuple of words, of which an array has many.
        self.values: dict[str, list[tuple[Word, ...]]] = {}
        #: Words that a loop goes over, which are expanded like those of a command.
        self.loops: dict[str, list[Word]] = {}
        #: Some variable is assigned, and which one only the shell knows.
        self.any_name = False
        #: Names whose values a judgement used.
        self.used: set[str] = set()
        #: Names of functions, aliases and files that the line makes: they may replace programs. None is a
        #: name that only the shell knows.
        self.made: set[str | None] = set()
        #: An assignment may be refused, or a line abandoned, and bash continues with the next one.
        self.may_fail = False
        self._loop_words: list[tuple[str, Word]] = []

    def goes_over(self, name: str, words: tuple[Word, ...]) -> None:
        """Note the words of a loop."""
        self._loop_words.extend((name, word) for word in words)

    def may_change(self, name: str) -> bool:
        return name in self.values or name in self.loops or self.any_name

    def may_replace(self, program: str) -> bool:
        """Return True if something that the line makes may run instead of this program, whose output is taken
        for known."""
        self.used.add(f"{program}()")
        return program in self.made or None in self.made

    def collect(self, found: List) -> frozenset[str]:
        """Add the assignments in this code. Return the names that have got new values."""
        changed: set[str] = set()
        known = frozenset(self.made)
        for name, value in _assigned(found, self):
            values = self.values.setdefault(name, [])
            if not any(one == value and type(one) is type(value) for one in values):
                values.append(value)
                changed.add(name)
        for name, word in self._loop_words:
            words = self.loops.setdefault(name, [])
            if word not in words:
                words.append(word)
                changed.add(name)
        self._loop_words.clear()
        changed.update(f"{name}()" for name in self.made - known if name is not None)
        return frozenset(changed)


def may_assign(found: List) -> bool:
    """Return False if a list of plain commands, without anything to expand or to redirect, assigns nothing."""
    nodes = (
        node
        for item in found.items
        for node in (item.node.commands if isinstance(item.node, Pipeline) else (item.node,))
    )
    return any(not isinstance(node, Simple) or first_text(node.words[0]) in _ASSIGNING for node in nodes)


def _assigned(found: List, variables: Variables) -> Iterator[_Assigned]:
    for node, parts in nodes_and_parts(found):
        if isinstance(node, Simple):
            for assignment in node.assignments:
                yield assignment.name, _value(assignment)
                if assignment.name in {"BASH_ALIASES", "BASH_CMDS"}:
                    variables.made.add(plain(assignment.subscript or (_UNKNOWN,)))
            yield from _by_builtin(node, variables)
        elif isinstance(node, Block):
            yield from _by_block(node, variables)
        for redirect in redirects_of(node):
            if redirect.variable:
                yield redirect.variable, UNKNOWN_VALUE
            if redirect.operator in _WRITES and (file := plain(redirect.target)):
                variables.made.add(base_name(file))
        yield from _in_words(node, parts, variables)


def _by_block(node: Block, variables: Variables) -> Iterator[_Assigned]:
    if node.kind == "coproc":
        yield node.name or "COPROC", UNKNOWN_VALUE
    elif node.kind == "function":
        variables.made.add(node.name)
    elif node.kind == "loop" and node.name:
        if node.words is None:
            yield node.name, UNKNOWN_VALUE
        variables.goes_over(
            node.name, ((Parameter("@", quoted=True),),) if node.words is None else node.words
        )


def _value(assignment: Assignment) -> tuple[Word, ...]:
    if assignment.append or assignment.subscript is not None:
        return UNKNOWN_VALUE
    return Elements(assignment.elements) if assignment.elements is not None else (assignment.value,)


def _in_words(node: Node, parts: list[Part], variables: Variables) -> Iterator[_Assigned]:
    """Yield assignments of `${x:=value}` and arithmetic."""
    for part in parts:
        if isinstance(part, Parameter):
            variables.may_fail = variables.may_fail or part.subscript is not None or part.operator == ":"
            if part.operator in {"=", ":="}:
                yield part.name, (part.word,)
        elif isinstance(part, Arithmetic):
            variables.may_fail = True
            yield from ((name, UNKNOWN_VALUE) for name in _set_by_arithmetic(part.parts))
    if isinstance(node, Test) and node.arithmetic:
        variables.may_fail = True
        for word in node.words:
            yield from ((name, UNKNOWN_VALUE) for name in _set_by_arithmetic(word))


def _set_by_arithmetic(parts: Word) -> Iterator[str]:
    text = "".join(part.text if isinstance(part, Text) else " " for part in parts)
    for names in re.findall(_ASSIGNED_IN_ARITHMETIC, text):
        yield next(filter(None, names))


def _by_builtin(node: Simple, variables: Variables) -> Iterator[_Assigned]:
    words = node.words
    while words and ((first := plain(words[0])) in _PREFIXES or _ASSIGNS.match(first or "")):
        if first not in _PREFIXES:  # `env F=-f sh -c 'git push $F'`
            yield from _by_declaration(words[:1], False, variables)
        words = words[1:]
    program = plain(words[0]) if words else None
    if program in DECLARING:
        variables.may_fail = variables.may_fail or program == "readonly"
        yield from _by_declaration(words[1:], program in _HIDING, variables)
    elif program in _READING:
        named = [
            *_by_reading([plain(word) for word in words[1:]], variables),
            (_READING[program], UNKNOWN_VALUE),
        ]
        yield from named
        # `read x <<< text`: which of the names gets which part of the text is unknown.
        known = [Elements(each) for text in _fed(node) for each in ((text,), _split(text))]
        yield from ((name, value) for name, _ in named for value in known)
    elif program in _OPTION_NAMES:
        for name, value in _option_value(
            _OPTION_NAMES[program], [plain(word) for word in words[1:]], variables
        ):
            # `printf -v x %s text`
            last = plain(words[-1])
            is_text = last is None or not _FORMAT.search(last)
            yield from ((name, each) for each in ((value, (words[-1],)) if is_text else (value,)))
    elif program == "alias":
        variables.made.update(_alias_of(word) for word in words[1:])
    elif program == "let":
        for word in words[1:]:
            yield from ((name, UNKNOWN_VALUE) for name in _set_by_arithmetic(word))


def _fed(node: Simple) -> Iterator[Word]:
    """Yield the text of `<<< text`, and of `< <(echo text)` what is printed."""
    for one in node.redirects:
        inner = [
            part._replace(direction="", quoted=True) for part in one.target if isinstance(part, Substitution)
        ]
        if one.operator == "<<<" or (one.operator == "<" and inner):
            yield one.target if one.operator == "<<<" else tuple(inner)


def _split(text: Word) -> tuple[Word, ...]:
    """Return the parts of a text that `read -a` makes the elements of an array."""
    return tuple((Text(part, quoted=True),) for part in (plain(text) or "").split())


def _alias_of(word: Word) -> str | None:
    name, equals, _value = first_text(word).partition("=")
    return name if equals else plain(word)


def _by_declaration(words: tuple[Word, ...], hides: bool, variables: Variables) -> Iterator[_Assigned]:
    """Yield assignments of `export A=b`; with -n one name refers to another variable. In a function `local A`
    hides the value of A."""
    for word in words:
        text = first_text(word)
        found = _ASSIGNS.match(text)
        if found is not None:
            # `declare -a 'x=(a b)'` is an array, too.
            plain_value = not found[2] and not found[3] and not text[found.end() :].startswith("(")
            yield found[1], (_after(word, found.end()),) if plain_value else UNKNOWN_VALUE
        elif text[:1] == "-":
            variables.any_name = variables.any_name or "n" in text
            variables.may_fail = variables.may_fail or "r" in text or "i" in text
        elif plain(word) is None:
            variables.any_name = True
        elif hides:
            yield text, ((),)


def _by_reading(texts: list[str | None], variables: Variables) -> Iterator[_Assigned]:
    for text in texts:
        if text is None:
            variables.any_name = True
        elif text[:1] == "-" and _NAME.match(text[2:]):  # `read -ax`
            yield text[2:], UNKNOWN_VALUE
        elif _NAME.match(text):
            yield text.partition("[")[0], UNKNOWN_VALUE


def _option_value(option: str, texts: list[str | None], variables: Variables) -> Iterator[_Assigned]:
    for at, text in enumerate(texts):
        if text is None or not text.startswith(option):
            continue
        name = text[2:] or (texts[at + 1] if at + 1 < len(texts) else "")
        if name is None:
            variables.any_name = True
        else:
            yield name.partition("[")[0], UNKNOWN_VALUE
    if texts and texts[0] is None:
        variables.any_name = True


def first_text(word: Word) -> str:
    """Return the text that a word begins with."""
    found: list[str] = []
    for part in word:
        if not isinstance(part, Text):
            break
        found.append(part.text)
    return "".join(found)


def _after(word: Word, count: int) -> Word:
    """Return the word without its first characters, which are all text."""
    parts = list(word)
    while parts and count and isinstance(part := parts[0], Text):
        parts[:1] = [Text(part.text[count:], part.quoted)] if len(part.text) > count else []
        count -= min(count, len(part.text))
    return tuple(parts)


def plain(word: Word) -> str | None:
    """Return the text of a word without expansions; None for any other."""
    if len(word) == 1 and isinstance(word[0], Text):
        return word[0].text
    texts = [part.text for part in word if isinstance(part, Text)]
    return "".join(texts) if len(texts) == len(word) else None


def is_positional(name: str) -> bool:
    """Return True for `$1`, `$@`, `$*`."""
    return name in {"@", "*"} or (name.isdigit() and name != "0")


def has_names(words: Iterable[Iterable[Part]]) -> bool:
    """Return True if arithmetic refers to variables, whose text is evaluated in its turn."""
    for word in words:
        for part in word:
            if isinstance(part, Parameter) or (isinstance(part, Text) and _NAME.search(part.text)):
                return True
    return False


# Walking over everything that was parsed


def nodes_of(found: List) -> Iterator[Node]:
    """Yield every command, also inside substitutions."""
    return (node for node, _parts in nodes_and_parts(found))


def nodes_and_parts(found: List) -> Iterator[tuple[Node, list[Part]]]:
    """Yield every command with its parts. No recursion: a hostile line can be deep."""
    stack: list[Node] = [found]
    while stack:
        node = stack.pop()
        parts = parts_of(node)
        yield node, parts
        if isinstance(node, List):
            stack.extend(item.node for item in reversed(node.items))
        elif isinstance(node, Pipeline):
            stack.extend(reversed(node.commands))
        elif isinstance(node, Block):
            stack.extend(reversed(node.bodies))
        stack += [part.body for part in parts if isinstance(part, Substitution)]


def parts_of(node: Node) -> list[Part]:
    """Return all parts of the words of one command, also those inside other parts. No recursion, as above."""
    stack: list[Part] = []
    for word in words_of(node):
        stack += word
    found: list[Part] = []
    while stack:
        part = stack.pop()
        found.append(part)
        if isinstance(part, Parameter):
            stack += part.word
            stack += part.subscript or ()
        elif isinstance(part, Arithmetic):
            stack += part.parts
    return found


def words_of(node: Node) -> list[Sequence[Part]]:
    found: list[Sequence[Part]] = []
    if isinstance(node, Simple):
        found += node.words
        for assignment in node.assignments:
            found += (assignment.value, assignment.subscript or (), *(assignment.elements or ()))
    elif isinstance(node, Block):
        found += node.words or ()
    elif isinstance(node, Test):
        found += node.words
    for redirect in redirects_of(node):
        found += (redirect.target, redirect.body or ())
    return found


def redirects_of(node: Node) -> tuple[Redirect, ...]:
    return () if isinstance(node, List | Pipeline) else node.redirects
