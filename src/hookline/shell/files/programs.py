"""Find what a command does with files: by the row of its program, and by code where no row suffices."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from hookline.shell.files.by_row import (
    NOTHING,
    CommandFiles,
    FileUse,
    ParsedCommand,
    by_row,
    file_use,
    looks_recursive,
    marked_use,
    merged,
    named_by_options,
    paths_in,
    plain,
)
from hookline.shell.files.scripts import ScriptFiles, awk_script, sed_script
from hookline.shell.files.transfers import (
    copy_files,
    curl_files,
    httpie_files,
    install_files,
    is_remote,
    link_files,
    move_files,
    transfer_files,
    wget_files,
)
from hookline.shell.options import Options, read_options, readings, readings_with_words
from hookline.shell.placeholders import HOLE, Words, base_name, without_version
from hookline.shell.programs import row_with_files, table
from hookline.shell.runs import any_row, runs_on_found

#: The directory in which a command runs.
HERE = "."
#: Their input only changes the shell itself.
_SETS = frozenset(
    (
        "cd", "pushd", "popd", "export", "declare", "typeset", "local", "readonly", "set", "read", "mapfile",
        "readarray", "printf", "alias", "unset", "let", "getopts",
    )
)  # fmt: skip
#: They take a program from standard input when they are given none.
_READ_CODE = frozenset(
    (
        "python", "pypy", "perl", "ruby", "node", "nodejs", "bun", "php", "lua", "luajit", "tclsh", "r", "julia",
        "expect", "pwsh", "powershell",
    )
)  # fmt: skip


@lru_cache(maxsize=512)
def files_of(words: Words) -> CommandFiles:
    """Return the files of one command."""
    call, rest, around = _parsed(words)
    found = _files_by(call, rest)
    if call is None or call.use.key.endswith("*") or _row_below(call.use.key, call.given.operands):
        found = merged(found, _named_by_options(_key(words[0]), words[1:]))
    else:
        found = merged(found, _reordered(call))
    for other, other_rest in _other_uses_of(words):
        if other is not None:
            found = merged(found, _files_by(by_row(other, other_rest), other_rest))
    named = [place for place in changed_repositories(words) if place != HERE]
    return merged(around, merged(CommandFiles(writes=plain(named)), found) if named else found)


@lru_cache(maxsize=512)
def _parsed(words: Words) -> tuple[ParsedCommand | None, Words, CommandFiles]:
    """Return a command read by the row of its program or sub-command, if there is one; the words that the row is
    about; and the files of options before them."""
    use, rest, around = _use_of(words)
    return None if use is None else by_row(use, rest), rest, around


def _files_by(call: ParsedCommand | None, rest: Words) -> CommandFiles:
    if call is None:
        return CommandFiles(perhaps=paths_in(rest), whole=looks_recursive(rest))
    special = _SPECIAL.get(call.use.key)
    return special(call) if special is not None else call.found


def _reordered(call: ParsedCommand) -> CommandFiles:
    """Return the files that options name as their program reads them: `gcc @FILE`, `curl --expand-output FILE`."""
    order = call.use.row.ordered
    if order is None or _SPECIAL.get(call.use.key) is _tar:
        return NOTHING
    rest = order(call.rest, call.use.spec)
    return (
        NOTHING if rest == call.rest else named_by_options(call.use, rest, read_options(rest, call.use.spec))
    )


def _named_by_options(key: str, rest: Words, most: int | None = None) -> CommandFiles:
    """Return the files that options name, by the rows of sub-commands that are read with their program, or that say
    nothing of operands."""
    use = marked_use(key)
    if use is None:
        return NOTHING
    found = NOTHING
    for given, words in islice(readings_with_words(rest, use.spec), most):
        found = merged(found, named_by_options(use, words, given))
        if below := _row_below(key, given.operands):
            found = merged(found, _named_by_options(below, words[given.first + 1 :], 1))
    return found


def _row_below(key: str, operands: Words) -> str:
    """Return the key of the row of a sub-command, or nothing."""
    keys = (f"{key} {operands[0]}", f"{key} *") if operands and key in table().over else ()
    return next((each for each in keys if each in table()), "")


def parsed(words: Words) -> ParsedCommand | None:
    """Return a command read by the row of its program, or of its sub-command; None where there is none."""
    return _parsed(words)[0]


def has_option(words: Words, *names: str) -> bool:
    """Return True if a command has one of these options, by the row of its program."""
    call = parsed(words)
    return call is not None and call.given.has(*names)


def prints_nothing(words: Words) -> bool:
    """Return True if an option makes a command answer by its exit code alone. In doubt it prints."""
    call = parsed(words)
    if call is None or not call.use.row.silent or call.given.unknown:
        return False
    at = next((one.at for one in call.given.given if one.name in call.use.row.silent), None)
    # `grep $X -q f`: a word that only the shell knows may be an option that takes the next one as its value.
    return at is not None and not any(HOLE in word for word in call.rest[:at])


@lru_cache(maxsize=256)
def changed_repositories(words: Words) -> Words:
    """Return the directories in which a command of git changes files, commits or settings: those that its options
    name, or else where it runs."""
    is_git = "git" in words[0].casefold() and _key(words[0]) == "git"
    use = file_use("git") if is_git else None
    found: dict[str, None] = {}
    for read in readings(words[1:], use.spec) if use is not None else ():
        if not _changes_repository(read.operands):
            continue
        place = ""
        for option in read.given:
            if option.name == "-C":
                place = posixpath.join(place, option.value or "")
        named = read.values("--work-tree", "--git-dir")
        # A directory may be a link: then `-C a -C ../b` is not what it looks like.
        joined = [posixpath.join(place, one) for one in named]
        found.update(dict.fromkeys(plain([place, *joined, *read.values("-C"), *named]) or (HERE,)))
    return tuple(found)


def _changes_repository(words: Words) -> bool:
    key = "git"
    row = table().get(key)
    while row is not None and row.sub and words:
        below = f"{key} {words[0]}"
        key = below if below in table() else f"{key} *"
        row = table().get(key)
        words = words[1:]
        if row is not None and row.sub:
            words = read_options(words, row.spec_before_operands).operands
    if row is None or row.changes is None:
        return False
    given = read_options(words, row.spec)
    verbs = given.operands[:1]
    if given.has(*row.shows) or not set(verbs).isdisjoint(row.shows):
        return False
    least = next((len(one) for one in row.changes if one.strip("*") == ""), 0)
    by_operands = bool(least) and len(given.operands) >= least
    return not row.changes or by_operands or given.has(*row.changes) or not set(verbs).isdisjoint(row.changes)


def writes_by_option(words: Words) -> Words:
    """Return what makes a command write a file beyond its program's plain job, or nothing.

    A permission for `sort` is none for `sort -o file`; tar, cp and tee write files as their plain job.
    """
    return files_of(words).by_option


def is_reader(words: Words) -> bool:
    """Return True if the command reads files itself, and their content is not in the shell afterwards."""
    use = _use_of(words)[0]
    if use is None or use.row.runs or _key(words[0]) in _SETS:
        return False
    found = files_of(words)
    return not (found.writes or found.perhaps or found.links or found.code)


def may_use_files(head: Words, *, options: bool) -> bool | None:
    """Return False for a program or a sub-command whose operands are never files (`sleep`), unless it has `options`,
    which may name one, and does not change a repository; None where nothing is known of it."""
    key = _key(head[0])
    use = file_use(key)
    if use is not None and use.row.sub and head[1:] and not options:
        below = table().get(f"{key} {head[1]}")
        if below is not None and below.changes is not None:
            return True
        use = _sub_command(use, head[1])
    if use is None:
        return True if options and key in table() else None
    return options or bool(use.row.files or use.row.sub or use.row.default) or use.key in _SPECIAL


def read_operands(words: Words) -> Words:
    """Return the operands of a command that its row marks as read; not the values of its options."""
    use, rest, _ = _use_of(words)
    if use is None or not words:
        return ()
    call = by_row(use, rest)
    values = {option.value for option in call.given.given}
    return tuple(word for word in call.given.operands if word in call.found.reads and word not in values)


def runs_standard_input(words: Words) -> bool:
    """Return True if a command takes its program from standard input, so that a here-document is code."""
    program = _key(words[0])
    if program not in _READ_CODE:
        return program in {"patch", "ed", "ex"} or words[:2] == ("git", "apply")
    call = parsed(words)
    if call is None:
        return not [word for word in words[1:] if word[:1] != "-"]
    is_named = call.given.operands[:1] not in ((), ("-",))
    return not (is_named or call.found.code or call.given.has("-m"))


@lru_cache(maxsize=1024)
def _key(word: str) -> str:
    """Return the name of a program in the rows: `/usr/bin/Python3.12` is python, but md5 is md5."""
    name = base_name(word).casefold().removesuffix(".exe")
    return name if row_with_files(name) is not None else without_version(name)


def _use_of(words: Words) -> tuple[FileUse | None, Words, CommandFiles]:
    """Return the row of a command's files, the words it applies to, and the files of options before them."""
    return _descended(file_use(_key(words[0])), words[1:])


def _descended(use: FileUse | None, rest: Words) -> tuple[FileUse | None, Words, CommandFiles]:
    around = NOTHING
    while use is not None and use.row.sub:
        call = by_row(use, rest)
        around, first = merged(around, call.found), call.given.first
        if first >= len(rest):
            return use, (), around
        use, rest = _sub_command(use, rest[first]), rest[first + 1 :]
    return use, rest, around


def _other_uses_of(words: Words) -> Iterator[tuple[FileUse | None, Words]]:
    """Yield the same where the first operand is the value of an unknown option."""
    use = file_use(_key(words[0]))
    if use is None or (use.row.files or "")[1:] == "*":
        # For a program that treats all operands alike it is one more file.
        return
    given = read_options(words[1:], use.spec)
    if given.first not in given.perhaps_values:
        return
    for read, rest in islice(readings_with_words(words[1:], use.spec), 1, None):
        if not use.row.sub:
            yield use, rest
        elif read.operands:
            yield _descended(_sub_command(use, read.operands[0]), read.operands[1:])[:2]


def _sub_command(use: FileUse, name: str) -> FileUse | None:
    return file_use(f"{use.key} {name}") or file_use(f"{use.key} *")


def option_values(words: Words) -> frozenset[int]:
    """Return the positions of option values that the command's row knows."""
    use, found, begin = file_use(_key(words[0])), set[int](), 1
    while use is not None:
        given = by_row(use, words[begin:]).given
        for option in given.given:
            # A placeholder in the option itself may be its value; then the next word is not.
            at = begin + option.at
            if (
                option.value is not None
                and not {HOLE, "="} & set(words[at])
                and words[at + 1 : at + 2] == (option.value,)
            ):
                found.add(at + 1)
        begin += given.first + 1
        if not use.row.sub or begin > len(words):
            break
        use = _sub_command(use, words[begin - 1])
    return frozenset(found)


# Files that no row can describe

#: The most pairs of directories and names in them that are combined.
_MOST_PAIRS = 400


def _mode(call: ParsedCommand) -> CommandFiles:
    """Handle `chmod -x file`: a mode may look like an option."""
    return call.found._replace(writes=plain(call.given.operands)) if call.given.unknown else call.found


def _cloud(call: ParsedCommand) -> CommandFiles:
    """Handle `file://x`: as a value it is the content of a file."""
    files = [word.partition("://")[2] for word in call.rest if word.startswith(("file://", "fileb://"))]
    return call.found._replace(
        reads=plain([*call.found.reads, *files]), sends=plain([*call.found.sends, *files])
    )


def _split(call: ParsedCommand) -> CommandFiles:
    """Return names that begin like the second operand."""
    return call.found._replace(writes=plain(call.given.operands[1:2] or ("x",)))


def _csplit(call: ParsedCommand) -> CommandFiles:
    return call.found._replace(writes=plain(call.given.values("-f", "--prefix")[-1:] or ("xx",)))


def _file(call: ParsedCommand) -> CommandFiles:
    compiles = call.given.has("-C", "--compile")
    return call.found._replace(writes=(*call.found.writes, "magic.mgc")) if compiles else call.found


def _dd(call: ParsedCommand) -> CommandFiles:
    def named(name: str) -> Words:
        return plain(word.removeprefix(name) for word in call.rest if word.startswith(name))

    hidden = plain(word for word in call.rest if HOLE in word and "=" not in word)
    return CommandFiles(reads=named("if="), writes=named("of=") + hidden)


def _scripted(call: ParsedCommand, options: Words, read: Callable[[str], ScriptFiles]) -> CommandFiles:
    """Read a program of sed or awk, in options or in the first operand; its file names are the command's, too."""
    texts = call.given.values(*options)
    others = call.given.has(*call.use.row.instead)
    texts = texts or (() if others else call.given.operands[:1])
    script = read("\n".join(texts))
    found = call.found._replace(
        reads=plain([*call.found.reads, *script.reads]), writes=plain([*call.found.writes, *script.writes])
    )
    # An unreadable program may name a file in an unknown way.
    found = found._replace(code=() if script.sure else texts)
    return found._replace(by_option=(*found.by_option, *(texts if script.writes else ())))


def _sed(call: ParsedCommand) -> CommandFiles:
    return _scripted(call, ("-e", "--expression"), sed_script)._replace(whole=False)


def _awk(call: ParsedCommand) -> CommandFiles:
    found = _scripted(call, ("-e", "--source"), awk_script)
    found = found._replace(reads=plain(word for word in found.reads if not re.match(r"[A-Za-z_]\w*=", word)))
    if "inplace" in call.given.values("-i", "--include"):
        written = plain([*found.writes, *found.reads])
        return found._replace(writes=written, by_option=(*found.by_option, "-i"))
    return found


def _jq(call: ParsedCommand) -> CommandFiles:
    """Handle jq: words behind `--args` are values; the first operand is the program all the same."""
    at = next((one.at for one in call.given.given if one.name in {"--args", "--jsonargs"}), None)
    return call.found if at is None else by_row(call.use, call.rest[:at]).found


def _tar(call: ParsedCommand) -> CommandFiles:
    """Handle tar: packed files are read, unless they are removed afterwards; the archive is written."""
    ordered = call.use.row.ordered
    call = by_row(call.use, call.rest if ordered is None else ordered(call.rest, call.use.spec))
    given = call.given
    archives = given.values("-f", "--file")
    directories = given.values("-C", "--directory")
    members = _below(directories, given.operands) or given.operands
    lists = given.values("-T", "--files-from", "-X", "--exclude-from", "--owner-map", "--group-map")
    lists += given.values("--add-file")
    marked = {*given.values("-g", "--listed-incremental", "--index-file", "--volno-file")}
    base = call.found._replace(reads=plain(lists), writes=plain(marked), whole=False)
    if given.has("-x", "--extract", "--get"):
        written = (*base.writes, *(directories or (".",)), *members)
        return base._replace(reads=plain((*base.reads, *archives)), writes=plain(written))
    if given.has("-t", "--list", "-d", "--diff", "--compare", "--test-label"):
        return base._replace(reads=plain((*base.reads, *archives)))
    removes = given.has("--remove-files", "--delete")
    local = tuple(word for word in archives if not is_remote(word))
    return base._replace(
        reads=plain((*base.reads, *members)),
        writes=plain((*base.writes, *local, *(members if removes else ()))),
        sends=plain(members) if len(local) < len(archives) else (),
        whole=removes,
    )


def _below(directories: Words, names: Words) -> Words:
    """Return each of the names in each of the directories; where these are too many, the directories and the
    names."""
    if len(directories) * len(names) > _MOST_PAIRS:
        return (*directories, *names)
    return tuple(f"{directory.rstrip('/')}/{name}" for directory in directories for name in names)


_FIND_SIGNS = frozenset("-(!,")
_FIND_NAMES = frozenset(
    ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex")
)
_FIND_FILES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
_FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


class Finder(NamedTuple):
    """The files that a command finds."""

    starts: Words
    #: Tests of their names, with patterns: one of them is enough. Without any, all are found.
    tests: tuple[tuple[str, str], ...]
    #: It changes what it finds.
    changes: bool = False
    #: It finds names that begin with a dot.
    hidden: bool = True


def finder_of(words: Words) -> Finder | None:
    """Return what a program finds that runs commands on it; None for any other program."""
    row = any_row(words[0]) if runs_on_found(words[0]) else None
    if row is None:
        return None
    rest = words[1:]
    read = read_options(rest, row.spec)
    if row.style == "glued":
        changes = "-delete" in rest or any(_may_change(each) for each in _find_runs(rest, read))
        return Finder(tuple(_find_starts(rest)), tuple(_find_names(read)), changes)
    given = read.given
    at = next((one.at for one in given if row.kinds.get(one.name) == "exec"), len(rest))
    read = read_options(rest[:at], row.spec)
    starts = (*read.operands[1:], *read.values("--search-path", "--base-directory")) or (".",)
    patterns = [f"*.{ending}" for ending in read.values("-e", "--extension")]
    patterns += [_searched_for(one) for one in read.operands[:1] if not patterns]
    tests = tuple(("-iname", pattern) for pattern in patterns if pattern.strip("*"))
    run = tuple(HOLE if "{" in word else word for word in rest[at + 1 :])
    run = (*run, HOLE) if run and HOLE not in run else run
    hidden = row.hidden is None or any(one.name in row.hidden for one in given if one.at <= at)
    return Finder(starts, tests, bool(run) and _may_change(run), hidden)


def _searched_for(expression: str) -> str:
    """Return the names that a regular expression finds, as a pattern; HOLE where that is not plain."""
    if not re.fullmatch(r"\^?(?:[\w-]|\\?\.)*\$?", expression):
        return HOLE
    name = expression.strip("^$").replace("\\.", "\0").replace(".", "?").replace("\0", ".")
    return f"{'' if expression[:1] == '^' else '*'}{name}{'' if expression[-1:] == '$' else '*'}"


def _may_change(words: Words) -> bool:
    use = _use_of(words)[0]
    return use is None or use.row.holds or not is_reader(words)


def _find_starts(rest: Words) -> list[str]:
    # `-D tree` has a value.
    rest = rest[
        next((at for at, word in enumerate(rest) if not _is_before(rest[at - 1 : at], word)), len(rest)) :
    ]
    tests = next((at for at, word in enumerate(rest) if word[:1] in _FIND_SIGNS), len(rest))
    return list(rest[:tests]) or ["."]


def _is_before(previous: Words, word: str) -> bool:
    """Return True for an option of find that comes before its starting points, or for its value."""
    return previous == ("-D",) or word == "-D" or re.fullmatch(r"-(?:O\d*|[HLPEXdsx]+)", word) is not None


def _find_names(given: Options | None) -> list[tuple[str, str]]:
    return (
        [(one.name, one.value) for one in given.given if one.name in _FIND_NAMES and one.value]
        if given
        else []
    )


def _find_runs(rest: Words, given: Options | None) -> list[Words]:
    """Return the commands it runs, with placeholders for the files."""
    found: list[Words] = []
    end = -1
    for option in given.given if given is not None else ():
        if option.name not in _FIND_RUNS or option.at < end:
            continue
        after = rest[option.at + 1 :]
        size = next((at for at, word in enumerate(after) if word == ";" or (word == "+" and at)), len(after))
        end = option.at + 1 + size
        found.append(tuple(word.replace("{}", HOLE) for word in after[:size]))
    return [each for each in found if each]


def _find(call: ParsedCommand) -> CommandFiles:
    """Handle find: found files have the names it searches for, anywhere below its start."""
    starts = tuple(_find_starts(call.rest))
    tests = _find_names(call.given)
    named = tuple(pattern for test, pattern in tests if test in {"-name", "-iname"})
    paths = (pattern for test, pattern in tests if "path" in test or "whole" in test)
    files = plain((*_below(starts, named), *paths)) or starts
    listed = [call.rest[at + 1] for at, word in enumerate(call.rest[:-1]) if word in _FIND_FILES]
    inner = [_files_inside(words) for words in _find_runs(call.rest, call.given)]
    changed = "-delete" in call.rest or any(HOLE in word for one in inner for word in one.writes)
    perhaps = files if any(HOLE in word for one in inner for word in one.perhaps) else ()
    return CommandFiles(
        reads=files if any(HOLE in word for one in inner for word in one.reads) else (),
        writes=plain([*listed, *(files if changed else ())]),
        perhaps=perhaps,
        names=files,
        by_option=tuple(word for word in call.rest if word in _FIND_FILES or word == "-delete"),
    )


def _files_inside(words: Words) -> CommandFiles:
    """Return the files of a command inside another one. Commands inside that are not read again."""
    use = _use_of(words)[0]
    if use is None or use.row.holds:
        return CommandFiles(perhaps=paths_in(words[1:]))
    return files_of(words)


def _revisions(call: ParsedCommand) -> CommandFiles:
    """Handle `HEAD:.env`, a file of a commit."""
    words = (
        word.partition(":")[2] if ":" in word and word[:1] not in {"/", "."} else word
        for word in call.found.reads
    )
    return call.found._replace(reads=plain(words))


def _git_paths(call: ParsedCommand) -> CommandFiles:
    """Handle git paths: words before `--` are a commit."""
    if "--" not in call.rest:
        return call.found
    paths = call.rest[call.rest.index("--") + 1 :]
    return call.found._replace(writes=plain(paths))


def _git_restore(call: ParsedCommand) -> CommandFiles:
    index_only = call.given.has("-S", "--staged") and not call.given.has("-W", "--worktree")
    return NOTHING if index_only else _git_paths(call)


def _interpreter(call: ParsedCommand) -> CommandFiles:
    """Handle an interpreter: the script is run, not written; its arguments it may write."""
    given, found = call.given, call.found
    module = next((one for one in given.given if one.name == "-m" and one.value), None)
    if module is not None and call.use.key in {"python", "pypy"}:
        glued = call.rest[module.at] != "-m" and call.rest[module.at].endswith(module.value or "")
        after = call.rest[module.at + (1 if glued else 2) :]
        return _files_inside((module.value or "", *after))
    operands = given.operands
    if found.code and given.has("-i"):
        return found._replace(reads=plain(operands), writes=plain(operands))
    if found.code and given.has("-n", "-p") and call.use.key in {"perl", "ruby"}:
        return found._replace(reads=plain([*found.reads, *operands]))
    if found.code:
        return found._replace(perhaps=plain(operands))
    return found._replace(reads=plain([*found.reads, *operands[:1]]), perhaps=paths_in(operands[1:]))


def _shell(call: ParsedCommand) -> CommandFiles:
    """Return the script; the reading lists it as a command with its words."""
    if call.given.has("-c", "-s"):
        return call.found
    return call.found._replace(reads=plain([*call.found.reads, *call.given.operands[:1]]))


def _pytest(call: ParsedCommand) -> CommandFiles:
    """Handle `--cov-report=xml:FILE`."""
    reports = [value.partition(":")[2] for value in call.given.values("--cov-report")]
    return call.found._replace(writes=plain([*call.found.writes, *reports]))


def _container(call: ParsedCommand) -> CommandFiles:
    """Handle mounts: the program in the container may read and write them."""
    places = [word.partition(":")[0] for word in call.given.values("-v", "--volume") if ":" in word]
    for word in call.given.values("--mount", "--secret"):
        fields = [part.partition("=") for part in word.split(",")]
        places += [value for name, _equals, value in fields if name in {"src", "source"}]
    files = plain(word for word in places if word[:1] in {"/", ".", "~", HOLE})
    return call.found._replace(perhaps=(*call.found.perhaps, *files))


def _kube(call: ParsedCommand) -> CommandFiles:
    if call.given.operands[:1] == ("cp",):
        return transfer_files(call._replace(given=call.given._replace(operands=call.given.operands[1:])))
    named = [word.rpartition("=")[2] for word in call.given.values("--from-file")]
    reads = [word for word in call.found.reads if not is_remote(word)]
    return call.found._replace(reads=plain([*reads, *named]))


def _unpack(call: ParsedCommand) -> CommandFiles:
    if call.given.has("-l", "-t", "-v", "-p", "-Z", "-z"):
        return call.found
    return call.found._replace(writes=call.found.writes or (".",))


_SPECIAL: Mapping[str, Callable[[ParsedCommand], CommandFiles]] = MappingProxyType(
    {
        **dict.fromkeys(("cp", "gcp"), copy_files),
        **dict.fromkeys(("install", "ginstall"), install_files),
        **dict.fromkeys(("mv", "gmv"), move_files),
        **dict.fromkeys(("ln", "gln"), link_files),
        **dict.fromkeys(("scp", "rsync", "gsutil cp", "gsutil mv", "gsutil rsync"), transfer_files),
        **{
            f"rclone {name}": transfer_files
            for name in ("copy", "copyto", "move", "moveto", "sync", "bisync")
        },
        **dict.fromkeys(("aws s3 cp", "aws s3 mv", "aws s3 sync"), transfer_files),
        **dict.fromkeys(("docker cp", "podman cp", "nerdctl cp"), transfer_files),
        "aws *": _cloud,
        **dict.fromkeys(("chmod", "gchmod"), _mode),
        **dict.fromkeys(("dd", "gdd"), _dd),
        **dict.fromkeys(("split", "gsplit"), _split),
        "csplit": _csplit,
        "file": _file,
        **dict.fromkeys(("sed", "gsed"), _sed),
        **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
        **dict.fromkeys(("jq", "jaq", "gojq", "yq", "tomlq", "xq"), _jq),
        **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
        **dict.fromkeys(("unzip", "bsdunzip"), _unpack),
        **dict.fromkeys(("find", "gfind", "bfs"), _find),
        **dict.fromkeys(("git diff", "git show", "git log", "git cat-file", "git blame"), _revisions),
        **dict.fromkeys(("git checkout", "git stash"), _git_paths),
        "git restore": _git_restore,
        **dict.fromkeys(("python", "pypy", "perl", "ruby", "node", "nodejs", "bun", "php"), _interpreter),
        **dict.fromkeys(("lua", "luajit", "julia", "tclsh", "wish", "rscript", "r", "guile"), _interpreter),
        **dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "yash"), _shell),
        "pytest": _pytest,
        "curl": curl_files,
        "wget": wget_files,
        **dict.fromkeys(("http", "https", "xh"), httpie_files),
        **dict.fromkeys(
            ("docker run", "podman run", "docker create", "podman create", "docker build"), _container
        ),
        **dict.fromkeys(("kubectl", "oc"), _kube),
    }
)
