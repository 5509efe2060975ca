"""Judge what a line writes outside the project: by its commands, redirections and code, and by lists that flow."""

import re
from collections.abc import Iterator, Mapping, Sequence

from hookline.guards.flows import flows_of
from hookline.guards.paths import SEARCHES, CallFiles, Found, shown
from hookline.guards.spec import OUTSIDE
from hookline.shell import HOLE, ShellCommand, ShellReading, base_name
from hookline.shell.files.programs import HERE, changed_repositories, files_of, has_option
from hookline.shell.placeholders import Words
from hookline.shell.programs import table
from hookline.shell.runs import does

#: Files that code of other languages opens to write.
_CODE_WRITES = re.compile(
    r"open\(\s*['\"]([/~.][^'\"]{0,500})['\"]\s*,\s*['\"][wax]|"
    r"(?:writeFile|appendFile|File\.write|file_put_contents)(?:Sync)?\(\s*['\"]([/~.][^'\"]{0,500})['\"]|"
    r"Path\(\s*['\"]([/~.][^'\"]{0,500})['\"]\)[\w.()]{0,50}\.(?:write_|touch|mkdir|unlink|rename)|"
    r"shutil\.(?:copy\w*|move)\([^\n)]{0,200},\s*['\"]([/~.][^'\"]{0,500})['\"]"
)
_MOST_HOPS = 4
#: With these a search prints the names of files.
_NAMES_ONLY = ("-l", "-L", "--files-with-matches", "--files-without-match", "--files")


def outside_of(files: CallFiles, reading: ShellReading) -> Iterator[Found]:
    """Yield the paths outside the project that a line writes to."""
    every: list[str] = []
    files.follow_links(reading)
    # `"$OUT/$name"` is read with and without values: such a path does not mean the root.
    spread = any(HOLE in "".join(command.words) for command in reading.commands)
    listed = _listed_outside(files, reading)
    for at, directories in files.directories(reading):
        every += [each for each in directories if each not in every]
        command = reading.commands[at] if at < len(reading.commands) else None
        if command is not None and command.words and not command.away:
            yield from _outside_of_command(files, command, directories, listed.get(at, ""), spread=spread)
    in_code = [
        path for text in reading.foreign for found in _CODE_WRITES.findall(text) for path in found if path
    ]
    here = [word for word in reading.writes if word not in reading.writes_away]
    for word in (*here, *in_code):
        if any(files.is_outside(word, directory) for directory in every):
            yield shown(word), OUTSIDE, ""
        elif word[:1] == HOLE:
            yield from _unknown_outside(files, every[-1:], next(iter(listed.values()), ""))


def _outside_of_command(
    files: CallFiles, command: ShellCommand, directories: Sequence[str], listed: str, *, spread: bool
) -> Iterator[Found]:
    found, links = files_of(command.words), command.does("links")
    for word in found.writes:
        if spread and not word.strip("/"):
            continue
        if any(files.is_outside(word, directory, followed=not links) for directory in directories):
            yield shown(word), OUTSIDE, ""
        elif word[:1] == HOLE:
            yield from _unknown_outside(files, directories, listed)
    # Where it may run in several directories it is not known which repository that is.
    if HERE in changed_repositories(command.words):
        outside = [directory for directory in directories if files.is_outside(".", directory)]
        if outside and len(outside) == len(directories):
            yield shown(directories[-1]), OUTSIDE, ""
    for word in found.links if found.links and _is_hard(command.words) else ():
        if any(files.is_outside(word, directory) for directory in directories):
            yield (
                shown(word),
                "is outside the project and gets a name in it, under which it can be changed",
                "",
            )


def _unknown_outside(files: CallFiles, directories: Sequence[str], listed: str) -> Iterator[Found]:
    """Yield a path that only the shell knows, where it comes from a list of files outside, or begins outside."""
    if listed:
        yield listed, OUTSIDE, ""
    elif directories and all(files.is_outside(".", directory) for directory in directories):
        yield directories[0], OUTSIDE, "only the shell knows which file there is written"


def _listed_outside(files: CallFiles, reading: ShellReading) -> Mapping[int, str]:
    """Return the commands that get names of files outside from others: `find ~/other | xargs truncate`."""
    flows = flows_of(reading)
    if not flows and not any(command.does("lists") for command in reading.commands):
        return {}
    starts = {at for at, command in enumerate(reading.commands) if _runs_on_files(command.words)}
    places = dict(files.directories(reading)) if flows or starts else {}
    found: dict[int, str] = {}
    for source in sorted({source for source, _ in flows} | starts):
        for word in _lists(reading.commands[source].words):
            if any(files.is_outside(word, directory) for directory in places[source]):
                found[source] = shown(word)
    for _ in range(_MOST_HOPS if found else 0):
        for source, target in flows:
            if source in found:
                found.setdefault(target, found[source])
    return found


def _runs_on_files(words: Words) -> bool:
    """Return True if a program runs a command on each file that it finds: find, fd."""
    row = table().get(base_name(words[0])) if does(words[0], "lists") else None
    return row is not None and "exec" in row.kinds.values()


def _lists(words: Words) -> Words:
    """Return the files and directories whose names a command prints."""
    files = files_of(words)
    if _runs_on_files(words):
        return (*files.names, *files.reads, *files.perhaps)
    names_only = base_name(words[0]) in SEARCHES and has_option(words, *_NAMES_ONLY)
    return (*files.names, *files.reads) if names_only else files.names


def _is_hard(words: Words) -> bool:
    """Return True if a command makes links that are the files themselves."""
    return not has_option(words, "-s", "--symbolic", "--symbolic-link")
