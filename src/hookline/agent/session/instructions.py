"""Instruction files of a session: AGENTS.md, CLAUDE.md and rules. Loaded at its start, and near files it works on."""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.safe_files import UnreadableError, chunks, opened
from hookline.agent.turn.turn import AgentParts
from hookline.dialects.dialect import user_directory
from hookline.dialects.registry import sharing
from hookline.documents.front_matter import read_front_matter
from hookline.matching.patterns import glob
from hookline.model import events as e
from hookline.model import payloads as p

NAMES = ("AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md")
_LONGEST = 100_000
_DEEPEST = 5
#: `@path` at the start of a line or after a blank.
_INCLUDE = re.compile(r"(?:^|(?<=\s))@([^\s`'\"<>|]+)")
_FENCE = re.compile(r"^\s*(```|~~~)")


class Instructions:
    """Loads each file once, and fires InstructionsLoaded with the reason each time."""

    def __init__(self, parts: AgentParts) -> None:
        self._hooks = parts.hooks
        self._user = parts.user
        self._workplace = parts.workplace
        self._texts = parts.conversation.instructions
        self._root = parts.hooks.scene.project_dir or parts.workplace.cwd
        self._loaded: dict[str, Instruction] = {}

    async def start(self) -> None:
        """Load what holds from the first request on."""
        self._loaded.clear()
        self._texts.clear()
        found = await asyncio.to_thread(at_start, self._root, self._workplace.cwd, self._workplace.env)
        await self._load(found, "session_start")

    async def reload(self) -> None:
        """The conversation was compacted. The texts are still in the system text; only the event fires again."""
        for instruction in tuple(self._loaded.values()):
            await self._fire(instruction, "compact")

    async def load_near(self, files: Iterable[str]) -> None:
        """Tools worked on these files: load the instructions of their directories, and rules that match them."""
        for file in files:
            found = await asyncio.to_thread(nested, self._root, file)
            await self._load(found, "nested_traversal", file)
            found = await asyncio.to_thread(matching_rules, self._root, file)
            await self._load(found, "path_glob_match", file)

    async def _load(self, found: "Found", reason: str, trigger: str | None = None) -> None:
        for problem in found.problems:
            self._user.warn(problem)
        for instruction in found.instructions:
            if instruction.file in self._loaded:
                continue
            self._loaded[instruction.file] = instruction
            self._texts[instruction.file] = instruction.text
            await self._fire(instruction, "include" if instruction.parent else reason, trigger)

    async def _fire(self, instruction: "Instruction", reason: str, trigger: str | None = None) -> None:
        await self._hooks.dispatch(
            e.INSTRUCTIONS_LOADED,
            p.InstructionFile(
                file_path=instruction.file,
                load_reason=reason,
                memory_type=instruction.memory_type,
                globs=instruction.globs,
                trigger_file_path=trigger,
                parent_file_path=instruction.parent,
            ),
        )


class Instruction(Struct, frozen=True, kw_only=True):
    """One file with text for the model."""

    file: str
    text: str
    #: User, Project or Local, as in the event.
    memory_type: str = "Project"
    #: The file that includes it.
    parent: str | None = None
    #: It is loaded only when a tool works on a file that matches.
    globs: tuple[str, ...] = ()


class Found(Struct, frozen=True):
    instructions: tuple[Instruction, ...] = ()
    problems: tuple[str, ...] = ()


def at_start(root: str, cwd: str, env: Mapping[str, str]) -> Found:
    """The user's files, then those of every directory from the project's root down to the working directory."""
    files: list[tuple[str, str, str]] = []
    home = env.get("HOME", "")
    user = user_directory(env)
    if user is not None:
        files += [(os.path.join(user, name), "User", user) for name in NAMES[:2]]
    if os.path.isabs(home):
        folders = [os.path.join(home, dialect.folder) for dialect in sharing("instructions")]
        files += [(os.path.join(folder, NAMES[1]), "User", folder) for folder in folders]
    for directory in down_to(root, cwd):
        files += [(file, kind, root) for file, kind in _files_of(directory)]
    return _read_all(files)


def nested(root: str, touched: str) -> Found:
    """The files of the directories between the root and a file that was touched."""
    folder = os.path.dirname(touched)
    return _read_all(
        [(file, kind, root) for directory in down_to(root, folder)[1:] for file, kind in _files_of(directory)]
    )


def matching_rules(root: str, touched: str) -> Found:
    """Rules of the project whose globs match a file that was touched."""
    relative = os.path.relpath(touched, root)
    if relative.startswith(os.pardir):
        return Found()
    found = _rules(root)
    matches = [each for each in found.instructions if any(_matches(one, relative) for one in each.globs)]
    return Found(tuple(matches), found.problems)


def _matches(pattern: str, path: str) -> bool:
    """`*` matches any text, `**/` also nothing."""
    return glob(pattern.replace("**/", "*")).matches(path)


def down_to(root: str, directory: str) -> list[str]:
    """From the root to the directory; the root alone when the directory is not below it."""
    relative = os.path.relpath(directory, root)
    if relative == os.curdir or relative.startswith(os.pardir):
        return [root]
    steps = [root]
    for part in relative.split(os.sep):
        steps.append(os.path.join(steps[-1], part))
    return steps


def _files_of(directory: str) -> Iterator[tuple[str, str]]:
    for name in NAMES:
        yield os.path.join(directory, name), "Local" if ".local." in name else "Project"


def _rules(root: str) -> Found:
    files: list[tuple[str, str, str]] = []
    for folder in (os.path.join(dialect.folder, "rules") for dialect in sharing("rules")):
        try:
            names = sorted(os.listdir(os.path.join(root, folder)))
        except OSError:
            continue
        files += [
            (os.path.join(root, folder, name), "Project", root) for name in names if name.endswith(".md")
        ]
    found = _read_all(files, included=False)
    return Found(
        tuple(each for each in (_with_globs(one) for one in found.instructions) if each.globs),
        found.problems,
    )


def _with_globs(instruction: Instruction) -> Instruction:
    front = read_front_matter(instruction.text)
    given: Any = front.fields.get("paths") or front.fields.get("globs") or ()
    globs = (given,) if isinstance(given, str) else tuple(str(each) for each in given)
    return replace(instruction, text=front.body, globs=globs)


def _read_all(files: Sequence[tuple[str, str, str]], *, included: bool = True) -> Found:
    reader = _Reader(included=included)
    for file, kind, within in files:
        if os.path.lexists(file):
            reader.read(file, kind, within, None, 0)
    return Found(tuple(reader.instructions), tuple(reader.problems))


class _Reader:
    """Follows includes, reads each file once, and never leaves the directory of the first file."""

    def __init__(self, *, included: bool) -> None:
        self._included = included
        self._seen: set[str] = set()
        self.instructions: list[Instruction] = []
        self.problems: list[str] = []

    def read(self, file: str, kind: str, within: str, parent: str | None, depth: int) -> None:
        real = os.path.realpath(file)
        if real in self._seen:
            return
        self._seen.add(real)
        if not (real + os.sep).startswith(os.path.realpath(within) + os.sep):
            self.problems.append(f"{file} was not read: it is outside {within}")
            return
        text = self._text(real, file)
        if text is None:
            return
        self.instructions.append(Instruction(file=file, text=text, memory_type=kind, parent=parent))
        if not self._included:
            return
        for name in _includes(text):
            path = os.path.normpath(os.path.join(os.path.dirname(file), os.path.expanduser(name)))
            if not os.path.isfile(path):
                continue
            if depth >= _DEEPEST:
                self.problems.append(f"{path} was not read: files include each other too deeply")
                continue
            self.read(path, kind, within, file, depth + 1)

    def _text(self, real: str, shown: str) -> str | None:
        try:
            with opened(real) as descriptor:
                raw = b"".join(chunks(descriptor, _LONGEST * 4))
        except UnreadableError as problem:
            self.problems.append(f"{shown} was not read: it {problem}")
            return None
        text = raw.decode("utf-8", "replace")
        if len(text) > _LONGEST:
            self.problems.append(f"{shown} is too long: only its first {_LONGEST:,} characters are used")
        return text[:_LONGEST]


def _includes(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield from (found[1] for found in _INCLUDE.finditer(line))
