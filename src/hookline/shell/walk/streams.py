"""Find what commands print into pipes and files, and their standard input, where the line shows it."""

import re
from collections.abc import Iterable
from itertools import dropwhile

from hookline.shell.found import Stdin
from hookline.shell.grammar.syntax import Node, Redirect, Simple
from hookline.shell.kinds.commands import is_stdin
from hookline.shell.placeholders import HOLE
from hookline.shell.walk.expand import Expander
from hookline.shell.walk.variables import plain

#: Redirections that feed a command, and those that take what it prints.
INPUT = frozenset(("<", "<<", "<<<", "<>", "<&"))
OUTPUT = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
#: The descriptors that everybody uses for output.
_OUTPUTS = frozenset(("1", "2"))
_UNKNOWN = Stdin("unknown")
#: They print the content of a file, or a dump of a database.
_PRINT_FILES = frozenset(
    (
        "cat", "zcat", "gzcat", "bzcat", "xzcat", "zstdcat", "gunzip", "gzip", "bunzip2", "unxz", "xz", "zstd", "pv",
        "pg_dump", "pg_dumpall", "pg_restore", "mysqldump", "mariadb-dump",
    )
)  # fmt: skip
_KNOWN_OUTPUT = _PRINT_FILES | {"echo", "printf"}
#: Prefixes with which a command prints the same as without them.
_PREFIXES = frozenset(("exec", "command", "builtin"))
_ECHO_OPTION = re.compile(r"-[neE]+")


def printed(node: Node, expander: Expander) -> Stdin:
    """Return the output of a command, where its words are the text."""
    if not isinstance(node, Simple):
        return _UNKNOWN
    words = tuple(dropwhile(lambda word: plain(word) in _PREFIXES, node.words))
    if not words:
        return _UNKNOWN
    program = plain(words[0])
    if program is None or program not in _KNOWN_OUTPUT or expander.replaced(program):
        return _UNKNOWN
    if program in _PRINT_FILES:
        return _files(node, expander)
    every = [expander.fields(word) for word in words[1:]]
    texts = [field.text for alternatives in every for field in alternatives[0]]
    if any(len(alternatives) > 1 for alternatives in every) or any(HOLE in text for text in texts):
        return _UNKNOWN
    return _echoed(texts) if program == "echo" else _formatted(texts)


def _files(node: Simple, expander: Expander) -> Stdin:
    """Return the content of a file; not text that the line itself puts together."""
    words = [plain(word) for word in node.words[1:]]
    fed = redirected(node.redirects, Stdin(), expander)
    names = [word for word in words if word and (word[:1] != "-" or word == "-")]
    if None in words or fed.kind == "text" or any(map(is_stdin, names)):
        return _cat(node, expander)
    return Stdin("unknown", file="\n".join(names)) if names else fed if fed.file else _cat(node, expander)


def _cat(node: Simple, expander: Expander) -> Stdin:
    """Handle `cat <<E`."""
    fed = tuple(redirect for redirect in node.redirects if redirect.operator in INPUT)
    alone = plain(node.words[0]) == "cat" and len(node.words) == 1 and len(fed) == 1
    return redirected(fed, _UNKNOWN, expander) if alone else _UNKNOWN


def _echoed(texts: list[str]) -> Stdin:
    # Shells disagree about backslashes.
    if not texts or any("\\" in text for text in texts):
        return _UNKNOWN
    return Stdin("text", " ".join(dropwhile(_ECHO_OPTION.fullmatch, texts)) + "\n")


def _formatted(texts: list[str]) -> Stdin:
    """Return the output of printf, where the first word is all that it prints."""
    if not texts or texts[0][:1] == "-":
        return _UNKNOWN
    from hookline.shell.walk.edited_text import unescaped  # noqa: PLC0415 few lines need it

    text = unescaped(*texts)
    return _UNKNOWN if text is None else Stdin("text", text)


def redirected(redirects: Iterable[Redirect], stdin: Stdin, expander: Expander) -> Stdin:
    """Return a command's standard input after its redirections."""
    for redirect in redirects:
        if redirect.number in _OUTPUTS and redirect.operator in OUTPUT:
            continue
        if redirect.variable or redirect.number not in {"", "0"}:
            # Its use is unknown.
            stdin = _UNKNOWN
        elif redirect.body is not None or redirect.operator == "<<<":
            texts = expander.texts(redirect.body if redirect.body is not None else redirect.target)
            known = len(texts) == 1 and HOLE not in texts[0][0]
            stdin = Stdin("text", texts[0][0]) if known else _UNKNOWN
        elif redirect.operator in {"<", "<>", "<&"} or redirect.number == "0":
            file = plain(redirect.target) or ""
            named = redirect.operator == "<" and file and not is_stdin(file)
            stdin = Stdin("unknown", file=file) if named else _UNKNOWN
            stdin = Stdin("text") if file == "/dev/null" else stdin
    return stdin
