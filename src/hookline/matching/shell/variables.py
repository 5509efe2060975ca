"""What the variables of a line may hold, as far as the line itself shows it.

The order of commands does not count: a variable may hold everything that is assigned to it anywhere in the line. What
comes from outside (the environment, the output of a command, input) is a hole.
"""

import re
from collections.abc import Iterable, Iterator

from hookline.matching.shell.syntax import (
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

#: A value that only the shell will know.
UNKNOWN_VALUE: tuple[Word, ...] = ((Parameter("", quoted=True),),)
_ASSIGNS = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNED_IN_ARITHMETIC = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:\+\+|--)"
)
_DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly"))
#: Builtins that fill the variables they are given: all operands, the last one, or the value of an option.
_READS_INTO = {
    "read": "all",
    "mapfile": "all",
    "readarray": "all",
    "getopts": "all",
    "unset": "all",
    "vared": "all",
}
_OPTION_NAMES = {"printf": "-v", "wait": "-p"}


class Variables:
    """All that is assigned in a line, the lines inside it included."""

    def __init__(self) -> None:
        #: Every value that a variable may have; each a tuple of words, of which an array has many.
        self.values: dict[str, list[tuple[Word, ...]]] = {}
        #: Some variable is assigned, and which one only the shell knows.
        self.any_name = False
        #: Names whose values a judgement was based on.
        self.used: set[str] = set()
        self.functions: set[str] = set()

    def may_change(self, name: str) -> bool:
        return name in self.values or self.any_name

    def collect(self, found: List) -> frozenset[str]:
        """Adds what is assigned in this code. Returns the names that have got new values."""
        changed: set[str] = set()
        for name, value in _assigned(found, self):
            values = self.values.setdefault(name, [])
            if value not in values:
                values.append(value)
                changed.add(name)
        return frozenset(changed)


def _assigned(found: List, variables: Variables) -> Iterator[tuple[str, tuple[Word, ...]]]:
    for node in nodes_of(found):
        if isinstance(node, Simple):
            for assignment in node.assignments:
                yield assignment.name, _value(assignment)
            yield from _by_builtin(node, variables)
        elif isinstance(node, Block):
            if node.kind == "function":
                variables.functions.add(node.name)
            elif node.kind == "coproc":
                yield node.name or "COPROC", UNKNOWN_VALUE
            elif node.name:
                yield from ((node.name, (word,)) for word in node.words or UNKNOWN_VALUE)
        for redirect in getattr(node, "redirects", ()):
            if redirect.variable:
                yield redirect.variable, UNKNOWN_VALUE
        yield from _in_words(node)


def _value(assignment: Assignment) -> tuple[Word, ...]:
    if assignment.append or assignment.subscript is not None:
        return UNKNOWN_VALUE
    return assignment.elements if assignment.elements is not None else (assignment.value,)


def _in_words(node: Node) -> Iterator[tuple[str, tuple[Word, ...]]]:
    """`${x:=value}` and arithmetic assign, too."""
    for part in parts_of(node):
        if isinstance(part, Parameter) and part.operator in {"=", ":="}:
            yield part.name, (part.word,)
        elif isinstance(part, Arithmetic):
            yield from ((name, UNKNOWN_VALUE) for name in _set_by_arithmetic(part.parts))
    if isinstance(node, Test) and node.arithmetic:
        for word in node.words:
            yield from ((name, UNKNOWN_VALUE) for name in _set_by_arithmetic(word))


def _set_by_arithmetic(parts: Word) -> Iterator[str]:
    text = "".join(part.text if isinstance(part, Text) else " " for part in parts)
    for names in _ASSIGNED_IN_ARITHMETIC.findall(text):
        yield next(filter(None, names))


def _by_builtin(node: Simple, variables: Variables) -> Iterator[tuple[str, tuple[Word, ...]]]:
    texts = [plain(word) for word in node.words]
    while texts and texts[0] in {"command", "builtin", "sudo", "env"}:
        texts = texts[1:]
    program = texts[0] if texts else None
    words = node.words[len(node.words) - len(texts) :]
    if program in _DECLARING:
        if (
            any(text is not None and text[:1] == "-" and "n" in text for text in texts[1:])
            and program != "export"
        ):
            variables.any_name = True
        for word, text in zip(words[1:], texts[1:], strict=True):
            found = _ASSIGNS.match(first_text(word))
            if found is not None:
                value = (_after(word, found.end()),) if not found[2] and not found[3] else UNKNOWN_VALUE
                yield found[1], value
            elif text is None and not _plainly_an_option(word):
                variables.any_name = True
    elif program in _READS_INTO:
        for text in texts[1:]:
            if text is None:
                variables.any_name = True
            elif _NAME.match(text):
                yield text.partition("[")[0], UNKNOWN_VALUE
        if program in {"read", "mapfile", "readarray"}:
            yield {"read": "REPLY"}.get(program, "MAPFILE"), UNKNOWN_VALUE
        for text in texts[1:]:  # `read -ax`
            if text is not None and text[:1] == "-" and _NAME.match(text[2:]):
                yield text[2:], UNKNOWN_VALUE
    elif program in _OPTION_NAMES:
        yield from _option_value(_OPTION_NAMES[program], texts[1:], variables)
    elif program == "let":
        for text in texts[1:]:
            yield from ((name, UNKNOWN_VALUE) for name in _set_by_arithmetic((Text(text or "", True),)))


def _option_value(
    option: str, texts: list[str | None], variables: Variables
) -> Iterator[tuple[str, tuple[Word, ...]]]:
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


def _plainly_an_option(word: Word) -> bool:
    return first_text(word)[:1] == "-"


def first_text(word: Word) -> str:
    """The text that a word begins with."""
    found: list[str] = []
    for part in word:
        if not isinstance(part, Text):
            break
        found.append(part.text)
    return "".join(found)


def _after(word: Word, count: int) -> Word:
    """The word without its first characters, which are all text."""
    parts = list(word)
    while parts and count:
        part = parts.pop(0)
        assert isinstance(part, Text)
        if len(part.text) > count:
            parts.insert(0, Text(part.text[count:], part.quoted))
        count -= min(count, len(part.text))
    return tuple(parts)


def plain(word: Word) -> str | None:
    """The text of a word without expansions; None for any other."""
    if len(word) == 1 and isinstance(word[0], Text):
        return word[0].text
    texts = [part.text for part in word if isinstance(part, Text)]
    return "".join(texts) if len(texts) == len(word) else None


# Walking over everything that was parsed


def nodes_of(found: List) -> Iterator[Node]:
    """Every command, also inside substitutions. No recursion: a hostile line can be deep."""
    stack: list[Node] = [found]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, List):
            stack.extend(item.node for item in reversed(node.items))
        elif isinstance(node, Pipeline):
            stack.extend(reversed(node.commands))
        elif isinstance(node, Block):
            stack.extend(reversed(node.bodies))
        stack.extend(part.body for part in parts_of(node) if isinstance(part, Substitution))


def parts_of(node: Node) -> Iterator[Part]:
    """All parts of the words of one command, also those inside other parts."""
    stack: list[Part] = []
    for word in words_of(node):
        stack.extend(word)
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, Parameter):
            stack.extend(part.word)
            stack.extend(part.subscript or ())
        elif isinstance(part, Arithmetic):
            stack.extend(part.parts)


def words_of(node: Node) -> Iterator[Iterable[Part]]:
    if isinstance(node, Simple):
        yield from node.words
        for assignment in node.assignments:
            yield assignment.value
            yield assignment.subscript or ()
            yield from assignment.elements or ()
    elif isinstance(node, Block):
        yield from node.words or ()
    elif isinstance(node, Test):
        yield from node.words
    for redirect in getattr(node, "redirects", ()):
        assert isinstance(redirect, Redirect)
        yield redirect.target
        yield redirect.body or ()
