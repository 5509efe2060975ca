"""Read what a call does to files beside those that it names: by the line of a shell, or by code.

Hooks and rules about files are asked about these actions, too (`engine/follow_actions.py`). Only what the text
shows is read: a file that a script or a variable names is not known here.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from glob import iglob
from itertools import islice
from typing import Any, Literal

from hookline.actions.action import Action, PathContext
from hookline.actions.kinds import KINDS
from hookline.actions.patches import files_named
from hookline.actions.tool import NOTHING
from hookline.guards.code import changes_files, paths_in
from hookline.guards.paths import CallFiles
from hookline.guards.settings import GuardSettings
from hookline.matching.patterns import LONGEST_PATH
from hookline.model.safe_text import one_line
from hookline.shell import HOLE, ShellReader, ShellReading, base_name
from hookline.shell.files.programs import files_of
from hookline.shell.grammar.limits import LONGEST_LINE
from hookline.shell.placeholders import Words

FileUse = Literal["read", "write", "edit", "delete"]

#: More files of one call than this are not listed one by one.
MOST_FILES = 100
#: How far a directory that is searched or deleted as a whole is looked through.
_MOST_BELOW = 2000
_MOST_SAMPLES = 20
_LONGEST_SHOWN = 80
_LONGEST_CODE = 64 * 1024
_DOES = {"read": "reads", "write": "writes", "edit": "writes", "delete": "deletes"}


def file_actions(actions: Iterable[Action], context: PathContext, reader: ShellReader) -> tuple[Action, ...]:
    """Return what the lines and the code of these actions do to files, each file and use once."""
    found: dict[tuple[str, str], Action] = {}
    for action in actions:
        line = action.line
        if line is None or action.kind is None or action.kind.name == "shell_input":
            continue
        cwd = os.path.join(context.cwd, action.cwd) if action.cwd else context.cwd
        files = _Files(PathContext(cwd, context.root, context.home, context.temporary), line, action.called)
        uses = files.of_code(line, "the code") if action.kind.name == "code" else files.of_line(reader)
        for one in uses:
            found.setdefault((one.tool_name, one.arguments["file_path"]), one)
            if len(found) >= MOST_FILES:
                return tuple(found.values())
    return tuple(found.values())


def typed_lines(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return what is typed into running shells as the lines that those will run."""
    return tuple(
        Action(
            KINDS["shell"],
            KINDS["shell"].tool,
            {"command": line},
            implied=True,
            irreversible="it is typed into a running program",
            because=f"`{_shown(line)}` is typed into a running program",
        )
        for action in actions
        if action.kind is not None and action.kind.name == "shell_input" and (line := action.line)
    )


class _Files(CallFiles):
    """The files of one line."""

    def __init__(self, context: PathContext, line: str, called: str) -> None:
        super().__init__(context, GuardSettings(), line)
        self._text = line
        self._called = called
        self._cwd = context.cwd

    def of_line(self, reader: ShellReader) -> Iterator[Action]:
        if len(self._text) > LONGEST_LINE:
            return
        reading = reader.read(self._text)
        every: list[str] = []
        # A redirection belongs to no command of the reading. Most lines enter a directory first, if at all.
        enters = [at for at, one in enumerate(reading.commands) if one.does("enters")]
        for at, directories in self.directories(reading):
            if at or enters != [0]:
                every += [each for each in directories if each not in every]
            if at < len(reading.commands):
                yield from self._of_command(at, directories, reading)
        line = _shown(self._text)
        for word in reading.writes:
            yield from self._actions("write", word, line, every, reading)
        for word in reading.reads:
            yield from self._actions("read", word, line, every, reading)
        for text in reading.foreign:
            yield from self.of_code(text, line)
        for file in files_named(self._text) if "\n" in self._text else ():
            yield from self._actions("edit", file, line, every, reading)

    def _of_command(self, at: int, directories: Sequence[str], reading: ShellReading) -> Iterator[Action]:
        command = reading.commands[at]
        words = command.words
        if not words:
            return
        files, by, deletes = files_of(words), _shown(" ".join(words)), command.does("deletes")
        written = dict.fromkeys((*files.writes, *files.links))
        for word in written:
            use: FileUse = "delete" if deletes else "edit" if word in files.reads else "write"
            for each in self._named_by(word, at, reading):
                yield from self._actions(use, each, by, directories, reading, files.whole)
        if files.into:
            # Below an existing directory the copies have names of their own.
            for word in files.into:
                if any(os.path.isdir(self.whole(os.path.dirname(word), each) or "") for each in directories):
                    yield from self._actions("write", word, by, directories, reading)
        perhaps = [word for word in files.perhaps if "/" in word or word[:1] == "."]
        for word in dict.fromkeys((*files.reads, *files.sends, *perhaps)):
            for each in self._named_by(word, at, reading):
                yield from self._actions("read", each, by, directories, reading, files.whole)

    @staticmethod
    def _named_by(word: str, at: int, reading: ShellReading) -> Words:
        """Return the word; for one that another command prints, the files that that one lists."""
        if word.strip(HOLE):
            return (word,)
        found: list[str] = []
        flows: Sequence[tuple[int, int]] = reading.flows
        for source in (source for source, target in flows if target == at):
            command = reading.commands[source]
            files = files_of(command.words)
            # Words that are printed are text that another command may take for files.
            names = files.names if command.does("prints") else (*files.names, *files.reads)
            # `find src -name '*.py'` looks at all levels below.
            found += [
                f"{os.path.dirname(each) or '.'}/**" if "*" in base_name(each) else each for each in names
            ]
        return tuple(dict.fromkeys(each for each in found if each.strip(HOLE)))

    def of_code(self, text: str, by: str) -> Iterator[Action]:
        """Yield files that code of another language plainly names, and that it may write if it writes any."""
        if len(text) > _LONGEST_CODE:
            return
        use: FileUse = "write" if changes_files(text) else "read"
        for path in paths_in(text):
            yield from self._actions(use, path, by, (self._cwd,), None)

    def _actions(
        self,
        use: FileUse,
        word: str,
        by: str,
        directories: Iterable[str],
        reading: ShellReading | None,
        whole_directory: bool = False,
    ) -> Iterator[Action]:
        if not word or word == "-" or word.startswith(("/dev/", "/proc/self/fd/")):
            return
        content = (
            reading.contents.get(os.path.normpath(word.replace(HOLE, ""))) if reading is not None else None
        )
        for directory in directories:
            whole = self.whole(word, directory)
            if whole is None or len(whole) > LONGEST_PATH:
                continue
            below = whole.endswith("/**")
            for path in (whole[:-3],) if below else _expanded(whole):
                arguments: dict[str, Any] = {"file_path": path}
                if use == "write" and content is not None:
                    arguments["content"] = content
                shown = path if HOLE in whole else word
                yield Action(
                    KINDS[use],
                    KINDS[use].tool,
                    arguments,
                    called=self._called,
                    irreversible="it is one part of a line",
                    implied=True,
                    extra={"below": True} if (below or whole_directory) and os.path.isdir(path) else NOTHING,
                    because=f"`{by}` {_DOES[use]} {one_line(shown, _LONGEST_SHOWN)}",
                )


def _expanded(path: str) -> Sequence[str]:
    """Return the files that a pattern of the shell matches; the pattern itself if there are none, or too many."""
    if HOLE not in path:
        return (path,)
    pattern = path.replace(HOLE, "*")
    found = list(islice(iglob(pattern, include_hidden=False), MOST_FILES))
    return found if found and len(found) < MOST_FILES else (pattern,)


def files_below(directory: str) -> Iterator[str]:
    """Yield the first of the files and directories below a directory."""
    seen = 0
    for parent, directories, files in os.walk(directory):
        for name in (*directories, *files):
            seen += 1
            if seen > _MOST_BELOW:
                return
            yield os.path.join(parent, name)


def one_file_per_directory(directory: str) -> Iterator[str]:
    """Yield one file of each of the first directories below a directory, itself included."""
    for parent, directories, files in islice(os.walk(directory), _MOST_SAMPLES):
        yield from (os.path.join(parent, name) for name in (*files[:1], *directories[: not files]))


def _shown(text: str) -> str:
    return one_line(text.replace(HOLE, "…"), _LONGEST_SHOWN)
