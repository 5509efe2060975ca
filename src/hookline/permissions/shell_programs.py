"""Which words of a command name files that it may write, as rows per program.

A program that is not listed may write every file it is given: only what is known to read is not asked about.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hookline.matching.shell import HOLE, base_name, tables
from hookline.matching.shell.wrappers import program_of

Words = Sequence[str]


class Written(NamedTuple):
    """What a command may write."""

    #: Words that name files, or hold one after = or an option's letter.
    words: Words = ()
    #: A directory among them is written with all it holds.
    whole: bool = False
    #: The last word may be a directory into which the others go under their own names.
    into: Words = ()
    #: Directories whose contents go into another one under their own names.
    contents: Sequence[tuple[str, str]] = ()
    #: Code in another language, in which a file can only be searched for.
    code: Words = ()


NOTHING = Written()

#: They only read the files they are given, or none at all.
_READERS = frozenset(
    (
        "cat", "tac", "head", "tail", "more", "bat", "batcat", "zcat", "grep", "egrep", "fgrep", "zgrep",
        "rg", "ag", "ack", "ls", "ll", "dir", "exa", "eza", "wc", "diff", "colordiff", "cmp", "comm",
        "delta", "file", "stat", "du", "df", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha512sum", "shasum",
        "md5", "cksum", "b2sum", "readlink", "realpath", "basename", "dirname", "echo", "printf", "test", "[", "[[",
        "true", "false", ":", "cd", "pushd", "popd", "dirs", "pwd", "which", "type", "whereis", "whatis", "hash",
        "cut", "tr", "nl", "od", "hexdump", "strings", "column", "paste", "fold", "fmt", "join", "expand", "rev",
        "jq", "gron", "export", "declare", "typeset", "local", "readonly", "unset", "set",
        "shift", "return", "exit", "break", "continue", "let", "read", "mapfile", "readarray", "getopts", "wait",
        "sleep", "date", "env", "printenv", "id", "whoami", "uname", "hostname", "ps", "kill", "seq", "yes",
        "shellcheck", "pyright", "tokei", "locate", "fd", "fdfind",
        "umask", "ulimit", "alias", "compgen", "man", "info", "apropos", "open", "xdg-open", "code",
    )
)  # fmt: skip

#: Sub-commands of git that change no file of the working tree.
_GIT_READS = frozenset(
    (
        "add", "blame", "branch", "cat-file", "check-attr", "check-ignore", "commit", "describe", "diff",
        "diff-files", "diff-index", "diff-tree", "fetch", "for-each-ref", "fsck", "grep", "hash-object", "help", "log",
        "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "notes", "push", "range-diff", "reflog",
        "remote", "reset", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "status", "tag", "var", "version",
        "whatchanged",
    )
)  # fmt: skip
#: Those that take a directory for everything in it.
_GIT_WHOLE = frozenset(("checkout", "clean", "mv", "restore", "rm", "stash"))

#: Sub-commands of Hookline that change which hooks are in force or trusted, and the words with which they do not.
#: A call of `hook` in the agent's place would tell Hookline about a session what the agent did not.
_HOOKLINE_WRITES = frozenset(("hook", "init", "install", "rule", "trust"))
_HOOKLINE_SHOWS = frozenset(("--list", "--diff", "--dry-run", "--print-config", "--help", "-h"))
_HOOKLINE_YES = frozenset(("--yes", "-y"))

#: What they read comes to nothing: it changes the shell itself.
_SETS = frozenset(
    (
        "cd", "pushd", "popd", "export", "declare", "typeset", "local", "readonly", "set", "read", "mapfile",
        "readarray", "printf", "alias", "unset", "let", "getopts",
    )
)  # fmt: skip

_SED_WRITES = re.compile(r"w\s*[\w./~]")
_AWK_WRITES = re.compile(r"[>|]|system")
#: Where the options of find end and its tests begin.
_FIND_TEST = re.compile(r"[-(!,]")
_FIND_NAMES = frozenset(
    ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex")
)
_FIND_FILES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
_FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


def written_by(words: Words) -> Written:
    """What one command may write, of what its words show."""
    program = program_of(words[0])
    rest = words[1:]
    special = _SPECIAL.get(program)
    if special is not None:
        return special(rest)
    if program in _READERS or _only_runs(program, rest):
        return NOTHING
    if (
        program in tables.INTERPRETERS
        and tables.INTERPRETERS[program]
        and program in tables.STDIN_INTERPRETERS
    ):
        return _interpreter(program, rest)
    # What is not a path in the arguments of vim, sqlite or m4 is code.
    return Written(rest, whole=_recursive(rest), code=rest if program in tables.INTERPRETERS else ())


def is_reader(words: Words) -> bool:
    """Whether the command reads files itself, and nothing it read is in the shell afterwards."""
    program = program_of(words[0])
    if program in _SETS or _only_runs(program, words[1:]):
        return False
    return written_by(words) == NOTHING


def changes_hookline(words: Words) -> str | None:
    """The command as it is shown, if it runs Hookline to change which hooks are in force or trusted."""
    rest = list(words)
    if program_of(rest[0]) in {"python", "pypy"} and "hookline" in rest:
        # Options of the interpreter may be before the module.
        at = rest.index("hookline")
        rest = rest[at:] if rest[at - 1].endswith("m") else rest
    named = base_name(rest[0]).casefold()
    if named != "hookline" and HOLE not in named:
        return None
    if _HOOKLINE_SHOWS & {*rest} and not _HOOKLINE_YES & {*rest}:
        return None
    # An option may have a value before the sub-command.
    sub = next((word for word in rest[1:4] if word in _HOOKLINE_WRITES), "")
    return f"hookline {sub}" if sub else None


def _only_runs(program: str, rest: Words) -> bool:
    """Whether all it does is to run a command, which the reading lists as well."""
    if program in tables.WRAPPERS or program in tables.SHELLS or program in {"eval", "trap", "source", "."}:
        return True
    triggers = tables.LOOSE.get(program)
    return triggers is not None and (not triggers or any(word in triggers for word in rest))


def _recursive(rest: Words) -> bool:
    long = {"--recursive", "--archive", "--delete", "--delete-after", "--mirror"}
    return not long.isdisjoint(rest) or _has_letter(rest, "rR")


def _has_letter(rest: Words, letters: str) -> bool:
    """Whether an option of single letters has one of these."""
    return any(word[:1] == "-" and word[:2] != "--" and not set(letters).isdisjoint(word) for word in rest)


def _operands(rest: Words) -> list[str]:
    """Words that are no options; all after --."""
    if "--" in rest:
        at = list(rest).index("--")
        return [word for word in rest[:at] if word[:1] != "-"] + list(rest[at + 1 :])
    return [word for word in rest if word[:1] != "-" or word == "-"]


def _values(rest: Words, short: str, long: tuple[str, ...]) -> list[str]:
    """The values of an option: in the next word, behind = or behind the letter."""
    found: list[str] = []
    for at, word in enumerate(rest):
        name, equals, value = word.partition("=")
        if name in long:
            found += [value] if equals else list(rest[at + 1 : at + 2])
        elif short and word[:1] == "-" and word[:2] != "--" and short in word[1:]:
            behind = word.partition(short)[2]
            found += [behind] if behind else list(rest[at + 1 : at + 2])
    return found


def _copy(rest: Words) -> Written:
    """The last operand is written, unless an option names the directory. A link is as good as the file itself."""
    links = "--link" in rest or "--symbolic-link" in rest or _has_letter(rest, "ls")
    folders = _recursive(rest) or _has_letter(rest, "a")
    operands = _operands(rest)
    target = _target(rest, operands)
    return Written(
        [*operands, *target] if links else target,
        into=_into(target, operands),
        contents=[(each, one) for one in target for each in operands if each != one] if folders else (),
    )


def _sync(rest: Words) -> Written:
    operands = _operands(rest)
    contents = [(each, operands[-1]) for each in operands[:-1] if each.endswith("/")]
    return Written(
        operands if "--remove-source-files" in rest else operands[-1:],
        whole=any(word.startswith("--del") for word in rest),
        into=_into(operands[-1:], operands[:-1]),
        contents=contents,
    )


def _move(rest: Words) -> Written:
    operands = _operands(rest)
    target = _target(rest, operands)
    return Written([*operands, *target], whole=True, into=_into(target, operands))


def _target(rest: Words, operands: Words) -> Words:
    return _values(rest, "t", ("--target-directory",)) or operands[-1:]


def _into(target: Words, operands: Words) -> Words:
    return [f"{one}/{base_name(each.rstrip('/'))}" for one in target for each in operands if each != one]


def _link(rest: Words) -> Written:
    """A link to a protected file is a way around every check of its name."""
    return Written(_operands(rest), into=_move(rest).into)


def _dd(rest: Words) -> Written:
    return Written([word.removeprefix("of=") for word in rest if word.startswith("of=") or HOLE in word])


def _sed(rest: Words) -> Written:
    if any(word.startswith("--in-place") for word in rest) or _has_letter(rest, "i"):
        return Written(rest)
    code = [word for word in rest if _SED_WRITES.search(word) and " " in word.strip()]
    return Written(code=code) if code else NOTHING


def _awk(rest: Words) -> Written:
    if "inplace" in rest:
        return Written(rest)
    code = [word for word in rest if _AWK_WRITES.search(word)]
    return Written(code=code) if code else NOTHING


def _yq(rest: Words) -> Written:
    return Written(rest) if "--inplace" in rest or _has_letter(rest, "i") else NOTHING


def _second(rest: Words) -> Written:
    """What is read comes first, what is written second."""
    found = _operands(rest)[1:2]
    return Written(found) if found else NOTHING


def _option(short: str, *long: str) -> Callable[[Words], Written]:
    def written(rest: Words) -> Written:
        found = _values(rest, short, long)
        return Written(found) if found else NOTHING

    return written


def _report(rest: Words) -> Written:
    """Options that name a report: --output=x, --junitxml x."""
    found: list[str] = []
    for at, word in enumerate(rest):
        name, equals, value = word.partition("=")
        if name.startswith("--") and any(each in name for each in ("out", "report", "xml", "log", "file")):
            found += [value] if equals else list(rest[at + 1 : at + 2])
    return Written(found) if found else NOTHING


def _lint(rest: Words) -> Written:
    """A linter changes files only if it is told to."""
    fixes = any(word.startswith(("--fix", "--write", "--unsafe-fix")) or word == "format" for word in rest)
    return Written(rest, whole=True) if fixes else _report(rest)


def _format(rest: Words) -> Written:
    """A formatter changes files unless it is told to look only."""
    looks = {"--check", "--diff", "-c", "-l", "--list-different"} & {*rest}
    return NOTHING if looks and "--write" not in rest else Written(rest)


def _mentions(rest: Words) -> Written:
    """Programs that run another one, but also write files named in ways of their own."""
    return Written(code=rest)


def _tar(rest: Words) -> Written:
    """What is packed is read, unless it is removed afterwards; the archive is written."""
    first = rest[0] if rest else ""
    letters = "".join(word for word in rest if word[:1] == "-" and word[:2] != "--")
    letters += first if first[:1] != "-" else ""
    if "x" in letters or {"--extract", "--get", "--remove-files", "--delete"} & set(rest):
        return Written(rest)
    if "t" in letters or "--list" in rest:
        return NOTHING
    archive = _values(rest, "f", ("--file",)) or [word for word in rest[1:2] if "f" in first]
    return Written(archive) if archive else NOTHING


def _archive(rest: Words) -> Written:
    found = _operands(rest)[:1]
    return Written(rest if "-m" in rest else found) if found else NOTHING


def _find(rest: Words) -> Written:
    files = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in _FIND_FILES]
    return Written(files) if files else NOTHING


def found_by_find(rest: Words) -> tuple[list[str], list[tuple[str, str]], bool]:
    """Where a find starts, its tests of names with their patterns, and whether it changes what it finds."""
    tests = next((at for at, word in enumerate(rest) if _FIND_TEST.match(word)), len(rest))
    named = [(word, rest[at + 1]) for at, word in enumerate(rest[:-1]) if word in _FIND_NAMES]
    runs = [list(rest[at + 1 : at + 3]) for at, word in enumerate(rest[:-1]) if word in _FIND_RUNS]
    changes = "-delete" in rest or any(words and not is_reader(words) for words in runs)
    return list(rest[:tests]) or ["."], named, changes


def _git(rest: Words) -> Written:
    valued = tables.GLOBAL_VALUED["git"]
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in valued else 1
    sub, after = (rest[at] if at < len(rest) else "", rest[at + 1 :])
    if not sub or sub in _GIT_READS:
        found = _values(after, "", ("--output",))
        return Written(found) if found else NOTHING
    index_only = (sub == "restore" and "--staged" in after and "--worktree" not in after) or (
        sub == "rm" and "--cached" in after
    )
    if index_only:
        return NOTHING
    if sub == "clean":
        dry = any(word in {"-n", "--dry-run"} for word in after)
        return NOTHING if dry else Written(_operands(after) or ["."], whole=True)
    return Written(after, whole=sub in _GIT_WHOLE)


def _interpreter(program: str, rest: Words) -> Written:
    """A script is run, not written; what it is given it may write."""
    if rest[:1] == ("-m",) and len(rest) > 1:
        module = rest[1]
        return _second(rest[2:]) if module == "json.tool" else written_by(rest[1:])
    code = _values(rest, "", tables.INTERPRETERS[program])
    letters = [option[1] for option in tables.INTERPRETERS[program] if len(option) == 2]
    for letter in letters:
        code += _values(rest, letter, ())
    operands = _operands(rest)
    if code:
        return Written([word for word in operands if word not in code], code=code)
    return Written(operands[1:]) if operands[1:] else NOTHING


def runs_standard_input(words: Words) -> bool:
    """Whether a command takes its program from standard input, so that a here-document is code."""
    program = program_of(words[0])
    if program not in tables.STDIN_INTERPRETERS:
        return program in {"patch", "ed", "ex"} or tuple(words[:2]) == ("git", "apply")
    return not [word for word in words[1:] if word[:1] != "-"]


_SPECIAL: Mapping[str, Callable[[Words], Written]] = MappingProxyType(
    {
        **dict.fromkeys(("cp", "gcp", "install", "ginstall"), _copy),
        **dict.fromkeys(("rsync", "scp"), _sync),
        **dict.fromkeys(("mv", "gmv"), _move),
        **dict.fromkeys(("ln", "gln"), _link),
        "dd": _dd,
        **dict.fromkeys(("sed", "gsed"), _sed),
        **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
        **dict.fromkeys(("yq", "tomlq", "xq"), _yq),
        **dict.fromkeys(("tree", "xmllint", "sdiff", "less"), _option("o", "--output", "--log-file")),
        **dict.fromkeys(("pytest", "mypy", "flake8", "pylint", "tsc", "cloc"), _report),
        **dict.fromkeys(("ruff", "eslint", "biome"), _lint),
        **dict.fromkeys(("prettier", "black", "isort", "shfmt"), _format),
        **dict.fromkeys(("script", "socat", "nc", "ncat", "flock", "gdb", "lldb"), _mentions),
        **dict.fromkeys(("uniq", "xxd"), _second),
        **dict.fromkeys(("sort", "gsort"), _option("o", "--output")),
        "curl": _option("o", "--output", "--output-dir", "--dump-header", "--cookie-jar"),
        "wget": _option("O", "--output-document", "--directory-prefix", "-P"),
        **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
        "zip": _archive,
        **dict.fromkeys(("find", "gfind"), _find),
        "git": _git,
    }
)
