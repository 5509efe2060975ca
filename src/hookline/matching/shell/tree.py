"""Nodes of tree-sitter-bash: what hangs where, and where the grammar and a shell disagree."""

import re
from typing import Any

from hookline.matching.shell.names import HOLE
from hookline.matching.shell.words import word_text

WORD_NODES = frozenset(
    (
        "word", "number", "string", "raw_string", "ansi_c_string", "translated_string", "concatenation",
        "simple_expansion", "expansion", "command_substitution", "process_substitution",
        "arithmetic_expansion", "brace_expression", "regex", "extglob_pattern", "test_operator",
    )
)  # fmt: skip
REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))


def source(node: Any) -> str:
    return node.text.decode("utf-8", "replace")


def value(node: Any) -> str:
    text = source(node)
    return text.partition("=")[2] if node.type == "variable_assignment" else text


#: The end of a here-document as it is announced. The grammar takes more into it than a shell does.
_HERE_END = re.compile(rb"([\'\"]?)\\?[\w.+-]+\1")


def lost(node: Any) -> bool:
    """Whether the grammar lost its way without saying so."""
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
    """Whether a here-document is taken as it stands: its end is quoted where it is announced."""
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
    """The words a redirection swallowed: all but the one it redirects to."""
    words = [child for child in redirect.children if child.type in WORD_NODES]
    if redirect.type != "heredoc_redirect":
        return words[1:]
    inner = [child for child in redirect.children if child.type == "file_redirect"]
    return words + [word for each in inner for word in after_target(each)]


def keyword_words(node: Any) -> tuple[str, ...]:
    """`export A=b`, `unset x`, `[ -f x ]`: their words are no command to the grammar, but to a rule they are."""
    return tuple(word_text(c) if c.type in WORD_NODES else _plain(c) for c in node.children)


def _plain(node: Any) -> str:
    text = source(node)
    return HOLE if "$" in text or "`" in text else text
