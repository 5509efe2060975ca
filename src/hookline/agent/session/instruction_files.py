"""Find instruction files and what they include: AGENTS.md, CLAUDE.md and rules."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.include_items import include_item, inside, is_below, leads_elsewhere, link_item, target
from hookline.agent.prompts.mentions import Mention, MentionCandidate
from hookline.agent.safe_files import UnusableFileError, chunks, opened
from hookline.dialects.dialect import upward, user_directory
from hookline.dialects.registry import sharing
from hookline.documents.front_matter import read_front_matter
from hookline.matching.patterns import glob
from hookline.model.diagnostics import Where
from hookline.model.hook import Scope
from hookline.trust.items import TrustItem
from hookline.trust.trust import Trust

NAMES = ("AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md")
#: Characters of a file that are used.
LONGEST = 100_000
#: How many files may lie between a file and the first that includes it.
DEEPEST = 5
#: `@path` at the start of a line or after a blank.
_INCLUDE = re.compile(r"(?:^|(?<=\s))@([^\s`'\"<>|]+)")
_FENCE = re.compile(r"^\s*(```|~~~)")
_SCOPES: Mapping[str, Scope] = {"User": "user", "Project": "project", "Local": "local"}


class FoundInstructions(Struct, frozen=True, kw_only=True):
    """An instruction file that is there."""

    file: str
    #: User, Project or Local, as in the event.
    memory_type: str = "Project"
    #: It and what it includes must be below this directory.
    within: str
    #: `hookline trust` lists its includes when run in this directory or below.
    near: str
    #: The file that includes it, and how many files are between it and the first.
    parent: str | None = None
    depth: int = 0
    #: Load it only when a tool works on a file that matches. Such a file includes no others.
    globs: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        return _SCOPES[self.memory_type]

    @property
    def real(self) -> str:
        return os.path.realpath(self.file)

    @property
    def leads_elsewhere(self) -> bool:
        """True for a link to a file that is not an instruction file."""
        named = os.path.basename(self.real) in NAMES
        return not named and leads_elsewhere(self.file, self.within)

    def included(self, path: str) -> "FoundInstructions":
        return replace(self, file=path, parent=self.file, depth=self.depth + 1)


class Include(Struct, frozen=True):
    """A file that an instruction file names with an @."""

    name: str
    line: int
    path: str
    exists: bool


def at_start(root: str, cwd: str, env: Mapping[str, str]) -> list[FoundInstructions]:
    """Return the user's files, then those of every directory from the project's root to the working directory."""
    found: list[FoundInstructions] = []
    home = env.get("HOME", "")
    user = user_directory(env)
    if user is not None:
        found += _there((os.path.join(user, name) for name in NAMES[:2]), user, "User")
    for dialect in sharing("instructions") if os.path.isabs(home) else ():
        own = os.path.join(home, dialect.directory)
        found += _there([os.path.join(own, NAMES[1])], own, "User")
    for directory in down_to(root, cwd):
        found += _of_directory(directory, root)
    return found


def nested(root: str, touched: str) -> list[FoundInstructions]:
    """Return the files of the directories between the root and a file that was touched."""
    directories = down_to(root, os.path.dirname(touched))[1:]
    return [source for directory in directories for source in _of_directory(directory, root)]


def matching_rules(root: str, touched: str) -> list[FoundInstructions]:
    """Return the rules of the project whose globs match a file that was touched."""
    relative = os.path.relpath(touched, root)
    if relative.startswith(os.pardir):
        return []
    return [rule for rule in _rules(root) if any(_matches(each, relative) for each in rule.globs)]


def _matches(pattern: str, path: str) -> bool:
    """Match a pattern: `*` matches any text, `**/` also nothing."""
    return glob(pattern.replace("**/", "*")).matches(path)


def down_to(root: str, directory: str) -> list[str]:
    """Return every directory from the root to this one; the root alone when it is not below the root."""
    relative = os.path.relpath(directory, root)
    if relative == os.curdir or relative.startswith(os.pardir):
        return [root]
    steps = [root]
    for part in relative.split(os.sep):
        steps.append(os.path.join(steps[-1], part))
    return steps


def _of_directory(directory: str, root: str) -> Iterator[FoundInstructions]:
    for name in NAMES:
        yield from _there([os.path.join(directory, name)], root, "Local" if ".local." in name else "Project")


def _there(files: Iterable[str], within: str, kind: str) -> Iterator[FoundInstructions]:
    for file in files:
        if os.path.lexists(file):
            yield FoundInstructions(file=file, memory_type=kind, within=within, near=os.path.dirname(file))


def _rules(root: str) -> Iterator[FoundInstructions]:
    for directory in (os.path.join(root, dialect.directory, "rules") for dialect in sharing("rules")):
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        for name in names:
            file = os.path.join(directory, name)
            if name.endswith(".md") and (globs := _globs(file, root)):
                yield FoundInstructions(file=file, within=root, near=root, globs=globs)


def _globs(file: str, root: str) -> tuple[str, ...]:
    try:
        fields = read_front_matter(read_instructions(inside(file, root))).fields
    except UnusableFileError:
        return ()
    given: Any = fields.get("paths") or fields.get("globs") or ()
    return (given,) if isinstance(given, str) else tuple(str(each) for each in given)


def read_instructions(real: str) -> str:
    """Return the text of a file; a text that is longer than `LONGEST` has been cut. Raises UnreadableError."""
    with opened(real) as descriptor:
        raw = b"".join(chunks(descriptor, LONGEST * 4))
    return raw.decode("utf-8", "replace")[: LONGEST + 1]


def includes_of(text: str, file: str, env: Mapping[str, str]) -> list[Include]:
    """Return the files that a text includes, each once, also missing ones."""
    found: dict[str, Include] = {}
    home, fenced = env.get("HOME", ""), False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        for name in () if fenced else _INCLUDE.findall(line):
            beyond = os.path.join(home, name[2:]) if name.startswith("~/") and os.path.isabs(home) else name
            path = os.path.normpath(os.path.join(os.path.dirname(file), beyond))
            exists = os.path.isfile(path)
            if exists or Mention(name, (MentionCandidate(name),)).looks_like_a_path():
                found.setdefault(path, Include(name, number, path, exists))
    return list(found.values())


def readable(found: Iterable[Include], source: FoundInstructions) -> list[Include]:
    """Return the includes that may be read once the user trusts them."""
    return [each for each in found if each.exists and is_below(each.path, source.within)]


def trust_item(source: FoundInstructions, includes: Iterable[Include], trust: Trust) -> TrustItem:
    """Return what the user has to trust for a file to include these."""
    found = list(includes)
    line = found[0].line if found else None
    where = Where(source.file, locate=lambda _: line)
    return include_item(trust, where, [target(each.path, source.within) for each in found])


def instruction_items(cwd: str, env: Mapping[str, str], trust: Trust) -> Iterator[TrustItem]:
    """Yield trust items for the includes of a project's instruction files. Nothing is sent anywhere."""
    root = upward(os.path.abspath(cwd))[-1]
    seen: set[str] = set()
    waiting = [*at_start(root, cwd, env), *_rules(root)]
    while waiting:
        source = waiting.pop(0)
        try:
            real = inside(source.file, source.within)
            text = read_instructions(real)
        except UnusableFileError:
            continue
        if real in seen or not trust.is_foreign(source.file, source.scope):
            continue
        seen.add(real)
        if source.parent is None and source.leads_elsewhere:
            yield link_item(source.file, source.within, trust)
        found = [] if source.globs else readable(includes_of(text, source.file, env), source)
        if found:
            yield trust_item(source, found, trust)
            waiting += [source.included(each.path) for each in found if source.depth < DEEPEST]
