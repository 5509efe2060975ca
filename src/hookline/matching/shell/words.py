"""Nodes of tree-sitter-bash as words, as the shell would see them, and where grammar and shell disagree.

Quotes are removed; what only the shell knows becomes a hole.
"""

import re
from itertools import pairwise
from typing import Any

from hookline.matching.shell.holes import HOLE

_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))", re.DOTALL
)
_NAMED = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "?": "?"}
#: Unquoted, these make a word into other words.
_UNQUOTED_MAGIC = re.compile(r"[*?\[]|\{.*(?:,|\.\.)|^~[^/]*$|[@!+]\(", re.DOTALL)
_BRACES = re.compile(r"\{.*(?:,|\.\.)", re.DOTALL)
_BACKSLASHED = re.compile(r"\\(\n|.)", re.DOTALL)


def word_text(node: Any) -> str:
    """The text of a word node; every part that is not literal becomes a hole."""
    reader = _LITERAL.get(node.type)
    return HOLE if reader is None else reader(node)


def _source(node: Any) -> str:
    return node.text.decode("utf-8", "replace")


def _bare(node: Any) -> str:
    source = _source(node)
    if "\\" in source:
        if _UNQUOTED_MAGIC.search(_BACKSLASHED.sub("", source)):
            return HOLE
        return _BACKSLASHED.sub(lambda found: "" if found[1] == "\n" else found[1], source)
    return HOLE if _UNQUOTED_MAGIC.search(source) else source


def _string(node: Any) -> str:
    if any(child.type not in {'"', "string_content"} for child in node.children):
        return _string_with_holes(node)
    # Whole, not by its children: the grammar leaves blanks between them out.
    return _double_quoted(_source(node)[1:-1])


def _double_quoted(inner: str) -> str:
    return re.sub(r'\\([$`"\\\n])', lambda found: "" if found[1] == "\n" else found[1], inner)


def _string_with_holes(node: Any) -> str:
    parts = [_double_quoted(_source(c)) if c.type == "string_content" else HOLE for c in node.children[1:-1]]
    return "".join(parts)


def _raw(node: Any) -> str:
    return _source(node)[1:-1]


def _ansi(node: Any) -> str:
    return _ESCAPE.sub(_unescaped, _source(node)[2:-1])


def _unescaped(found: re.Match[str]) -> str:
    octal, two, four, eight, other = found.groups()
    if other is not None:
        return _NAMED.get(other, HOLE)
    number = int(octal, 8) & 0xFF if octal is not None else int(two or four or eight, 16)
    # Bytes past ASCII and characters that end or garble a word are left to the shell.
    return chr(number) if 0x20 <= number < 0x7F else HOLE


def _translated(node: Any) -> str:
    return _string(node.children[-1])


def _together(node: Any) -> str:
    source = _source(node)
    # Brackets are words of their own to the grammar: only the whole shows that they expand.
    marks = {_source(child) for child in node.children if child.type == "word"}
    if "[" in marks or ("{" in marks and _BRACES.search(source)):
        return HOLE
    if _glued(node):
        return HOLE if "\\\n" in source else "".join(word_text(child) for child in node.children)
    return HOLE


def _glued(node: Any) -> bool:
    return all(left.end_byte == right.start_byte for left, right in pairwise(node.children))


_LITERAL: dict[str, Any] = {
    "word": _bare,
    "number": _bare,
    "string": _string,
    "raw_string": _raw,
    "ansi_c_string": _ansi,
    "translated_string": _translated,
    "concatenation": _together,
}


WORD_NODES = frozenset(
    (
        "word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation",
        "simple_expansion", "expansion", "command_substitution", "process_substitution",
        "arithmetic_expansion", "brace_expression", "regex", "extglob_pattern", "test_operator",
    )
)  # fmt: skip
REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
WRITING = frozenset((">", ">>", ">|", ">&", "&>", "&>>", "<>"))


def source(node: Any) -> str:
    return node.text.decode("utf-8", "replace")


def value(node: Any) -> str:
    text = source(node)
    return text.partition("=")[2] if node.type == "variable_assignment" else text


#: The end of a here-document as it is announced. The grammar takes more into it than a shell does.
_HERE_END = re.compile(rb"([\'\"]?)\\?[\w.+-]+\1")


def lost(node: Any) -> bool:
    """Whether the grammar misparsed the line without an error node."""
    if node.type in {"regex", "extglob_pattern"}:
        return b"\n" in node.text
    if node.type == "word":
        return b"\n" in node.text or (node.text == b"{" and node.parent.type == "command")
    if node.type == "compound_statement":
        return node.text[:1] == b"{" and not node.text[1:2].isspace()
    return node.type == "heredoc_start" and _HERE_END.fullmatch(node.text) is None


def apart(code: bytes, left: Any, right: Any) -> bool:
    """Whether a shell, too, takes these for two words of one command: blanks between them and no new line."""
    gap = code[left.end_byte : right.start_byte]
    return bool(gap) and b"\n" not in gap.replace(b"\\\n", b"")


def quoted_here(node: Any) -> bool:
    """Whether a here-document is taken literally: its delimiter is quoted."""
    announced = [c for c in node.parent.children if c.type == "heredoc_start"]
    return any(quote in source(each) for each in announced for quote in "\\'\"")


def hides_code(node: Any) -> bool:
    """Whether there is a substitution that the grammar made no node of."""
    left = node.text
    stack = list(node.children)
    while stack:
        child = stack.pop()
        if child.type == "command_substitution":
            left = left.replace(child.text, b"", 1)
        else:
            stack.extend(child.children)
    return b"`" in left or b"$(" in left.replace(b"$((", b"")


def last_command(node: Any) -> Any:
    while node.type in {"list", "pipeline", "negated_command"} and node.named_children:
        node = node.named_children[-1]
    return node if node.type == "command" else None


def after_target(redirect: Any) -> list[Any]:
    """The words that the grammar puts into a redirection: all but its target."""
    words = [child for child in redirect.children if child.type in WORD_NODES]
    if redirect.type != "heredoc_redirect":
        return words[1:]
    inner = [child for child in redirect.children if child.type == "file_redirect"]
    return words + [word for each in inner for word in after_target(each)]


def written_file(redirect: Any) -> str | None:
    """The file that a redirection opens for writing; None for one that only reads, or joins two streams."""
    if not any(child.type in WRITING for child in redirect.children):
        return None
    target = next((child for child in redirect.children if child.type in WORD_NODES), None)
    # `2>&1` and `>&-`: the stream, not a file.
    return None if target is None or target.type == "number" else word_text(target)


def keyword_words(node: Any) -> tuple[str, ...]:
    """`export A=b`, `unset x`, `[ -f x ]`: their words are no command to the grammar, but to a rule they are."""
    return tuple(word_text(c) if c.type in WORD_NODES else _plain(c) for c in node.children)


def _plain(node: Any) -> str:
    text = source(node)
    return HOLE if "$" in text or "`" in text else text
