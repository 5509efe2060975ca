"""Check if a permission may apply: text only the shell knows must not make a program exceed its plain job.

An unknown part of a word may be anything, an option included. That is harmless for a program whose options
are all harmless, and where the word cannot be taken for an option.
"""

import re
from collections.abc import Sequence

from hookline.shell.environment import is_harmless
from hookline.shell.placeholders import HOLE, Words, base_name
from hookline.shell.walk.fields import ShellField

#: With any arguments they only print, wait, or make and copy the files that they are given.
_ANY_WORDS = frozenset(
    (
        "echo", "cat", "ls", "head", "tail", "wc", "grep", "egrep", "fgrep", "cut", "tr", "nl", "rev", "tac", "cmp",
        "comm", "join", "paste", "fold", "fmt", "expand", "diff", "pwd", "cd", "seq", "sleep", "true", "false", ":",
        "which", "basename", "dirname", "readlink", "realpath", "stat", "du", "df", "jq", "column", "od", "strings",
        "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "base64", "mkdir", "touch", "cp", "id", "whoami",
        "uname", "hostname", "nproc", "ps", "exit", "return", "break", "continue", "shift", "sum",
    )
)  # fmt: skip
#: For these standard input is data as well.
_READS_DATA = _ANY_WORDS | {"sort", "uniq", "xxd", "hexdump", "tee", "read", "test", "[", "printf"}
_READING_COMMANDS = frozenset(("git commit", "git tag", "git stripspace", "gh pr", "gh issue"))
#: They need no permission: they run nothing, change nothing, and end or continue the line.
_NEEDLESS = frozenset(("break", "continue", "exit", "return", ":", "true", "false", "[[", "[", "test"))
#: Names of variables that programs take code, options or paths of code from; compiled when a line sets one.
_TAKEN = (
    r"^(?:LD|DYLD|GIT|BASH|PYTHON|NODE|NPM|PERL|RUBY|JAVA|MAKE|GNUMAKE|CARGO|RUST|GO[A-Z]|LESS|MAN|TAR|ZIP|UNZIP|PIP|UV"
    r"|GH|SSH|RSYNC|DOCKER|KUBE|XDG|GCC|CC|CXX|CPP|AWK|PS\d|IFS|ENV|PROMPT|HIST|FCEDIT|TERMINFO|RIPGREP|LOCPATH|NLSPATH"
    r"|POSIX|GLOB|SHELLOPTS|OPT|RANDOM|SECONDS|LINENO)"
    r"|(?:PATH|HOME|OPTS|OPTIONS|FLAGS|PAGER|EDITOR|VISUAL|SHELL|BROWSER|COMMAND|PRELOAD|ASKPASS|RC|TMPDIR|ADDOPTS)$"
)
#: `--format=…`: an option, whatever its value is.
_NAMED_OPTION = re.compile(r"--[\w-]+=")
#: Operators of `test` that take a text or a file, and those that compare two texts or files.
_UNARY = frozenset("-" + letter for letter in "nzfderwxsLhpSbcgkuGONt")
_BINARY = frozenset(
    ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
)


def unsettled(fields: Sequence[ShellField]) -> bool:
    """Return True if a word of a command may turn out to be something that a permission should not cover."""
    first = fields[0].text
    if HOLE in first:
        return True
    program = base_name(first)
    if program in _ANY_WORDS or not any(HOLE in field.text for field in fields):
        return False
    words = tuple(field.text for field in fields)
    if program in {"test", "[", "[["}:
        return not _is_plain_test(words[1:-1] if program != "test" else words[1:])
    if program == "printf":
        # Its only option comes first.
        return len(words) > 1 and _may_be_option(fields[1])
    from hookline.shell.files import option_values  # noqa: PLC0415 few lines have such words

    values = option_values(words)
    end = words.index("--") if "--" in words else len(words)
    return any(
        HOLE in field.text and (field.splits or (at < end and at not in values and _may_be_option(field)))
        for at, field in enumerate(fields)
    )


def _may_be_option(field: ShellField) -> bool:
    known, hole, _rest = field.text.partition(HOLE)
    if not hole:
        return False
    if field.splits or not known:
        return True
    return known[0] == "-" and _NAMED_OPTION.match(known) is None


def _is_plain_test(words: Words) -> bool:
    """Return False for `test -v name` and unknown operators, which evaluate their arguments."""
    words = words[1:] if words[:1] == ("!",) else words
    if len(words) == 1:
        return True
    if len(words) == 2:
        return words[0] in _UNARY
    return len(words) == 3 and words[1] in _BINARY


def may_be_set(name: str, *, prefix: bool) -> bool:
    """Return True if a variable may have any value. `prefix`: a program gets it, so it must be known to be
    harmless.

    Other variables stay in the shell, unless the environment has the same name.
    """
    return is_harmless(name) or (not prefix and re.search(_TAKEN, name, re.IGNORECASE) is None)


def takes_data(words: Words) -> bool:
    """Return True if standard input is nothing but data to this command."""
    return base_name(words[0]) in _READS_DATA or " ".join(words[:2]) in _READING_COMMANDS


def needs_permission(words: Words) -> bool:
    """Return True if the command itself does anything that a rule would have to allow."""
    first, *rest = words
    if first == "time" and rest:
        # A word of the shell, as far as it has no options. The command it times is listed separately.
        return rest[0][:1] == "-" and rest[0] != "-p"
    return first not in _NEEDLESS
