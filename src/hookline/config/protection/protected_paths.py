"""List the protected files: a session knows them as names and as paths, and asks before anything is written
there.

Most of them configure hooks, rules, servers or agents: a program that writes there unseen can switch a guard
off. The registry of dialects lists them. The rest is run by git, a shell or an editor on its own.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from hookline.dialects.dialect import upward, user_directories
from hookline.dialects.registry import Listed, standard_dialects
from hookline.disk import DISK, Disk
from hookline.matching.patterns import LONGEST_PATH
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line, translated
from hookline.trust.project import is_inside

CONFIGURES = "hooks, rules or servers are configured there"
_RUN_BY_HOOK = "an active hook runs it"
_PROGRAM = "it is a part of Hookline, which runs the guards"
_STATE = "Hookline stores the user's trust there"
_SHELL_START = "every new shell runs it"

#: Files of agents that have no dialect yet, and files that many agents read.
_FURTHER_NAMES = (".mcp.json",)
_LAUNCHERS = ("hookline", "hookline-relay", "hookline-bash", "hookline-zsh")
#: The directory of this user's state, whatever the environment says.
_STATE_DIRECTORY = (".local", "state", "hookline")
_QUOTES = str.maketrans("", "", "\"'\\")
#: The most entries that are read of existing directories.
_MOST_CONTENTS = 400


def _configuring() -> Iterator[str]:
    """Yield names that only an agent's files have; one with more parts or without a dot is too common to
    protect."""
    for listed in standard_dialects().values():
        names = (*listed.markers, *listed.also_configure)
        yield from (name for name in names if name.startswith(".") and "/" not in name)
    yield from _FURTHER_NAMES


#: Writing here can make programs run later, so the user is always asked. Case is ignored.
PROTECTED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((".git", ".husky", ".gitconfig", ".gitmodules"), "git runs programs named there"),
        **dict.fromkeys(_configuring(), CONFIGURES),
        **dict.fromkeys((".vscode", ".idea"), "an editor runs tasks named there"),
        **dict.fromkeys((".bashrc", ".bash_profile", ".bash_login", ".bash_logout"), _SHELL_START),
        **dict.fromkeys((".bash_aliases", ".profile", ".kshrc", "config.fish"), _SHELL_START),
        **dict.fromkeys((".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"), _SHELL_START),
        **dict.fromkeys(
            (".envrc", ".ssh"), "it gives access to this machine, or runs when the directory is entered"
        ),
    }
)


class ProtectedWrite(NamedTuple):
    """A write to a protected path, and the reason of the protection."""

    path: str
    why: str
    action: str = "Writing to"

    @property
    def sentence(self) -> str:
        """The sentence for a guard that forbids it."""
        return f"{self.action} {one_line(self.path, 120)} changes what guards the agent: {self.why}."

    def __str__(self) -> str:
        return f"{self.action} {one_line(self.path, 120)} always needs approval: {self.why}."


class Protected:
    """The protected paths of one session. Built once; a check costs some table look-ups."""

    def __init__(
        self,
        names: Mapping[str, str] = PROTECTED,
        paths: Mapping[str, str] | None = None,
        roots: Sequence[str] = (),
        home: str = "",
    ) -> None:
        #: Reasons by name: a part of a path that is protected everywhere.
        self.names = names
        #: Protected files and whole directories, by their absolute paths.
        self.paths = dict(paths or {})
        #: The directories of the project, and the user's home.
        self.roots = tuple(roots)
        self.home = home
        #: The top of the session's worktree: it may lie at a protected path, but its files are the project's.
        self.worktree = ""
        self._notes = _notes()
        self._folded = {path.casefold(): why for path, why in self.paths.items()}
        self._longest_place = max(map(len, self._folded), default=0)

    def within(self, worktree: str) -> "Protected":
        """Return the same for a session in this worktree; in none, if it is empty."""
        if worktree == self.worktree:
            return self
        found = copy(self)
        found.worktree = worktree
        return found

    def why(self, path: str) -> str | None:
        """Return why an absolute path is protected; None when it is not."""
        worktree = self.worktree
        inside = path[len(worktree) :] if worktree and is_inside(path, worktree) else path
        named = self._by_name(inside)
        if named is not None:
            return named
        if worktree and inside is not path and inside.strip("/").casefold() in _bare_names():
            return CONFIGURES
        return self._by_place(path)

    def _by_name(self, path: str) -> str | None:
        parts = [_plain(part) for part in path.split("/")]
        for at, part in enumerate(parts):
            why = self.names.get(part)
            if why is not None and not (at + 2 < len(parts) and (part, parts[at + 1]) in self._notes):
                return why
        return None

    def _by_place(self, path: str) -> str | None:
        folded = path.casefold()
        if len(folded) > self._longest_place:
            # No protected path is longer, and removing one name after another takes quadratic time on a long
            # path.
            folded = folded[: max(folded.rfind("/", 0, self._longest_place + 1), 0)]
        while len(folded) > 1:
            why = self._folded.get(folded)
            if why is not None:
                rest = path.casefold()[len(folded) :].split("/")
                return None if len(rest) > 2 and ("", rest[1]) in self._notes else why
            folded = folded.rpartition("/")[0]
        return None

    def is_place(self, path: str) -> str | None:
        """Return why exactly this path is protected: one of the known ones, not any path with such a name."""
        return self._known_folded.get(path.casefold()) or self._by_place(path)

    @cached_property
    def known(self) -> Mapping[str, str]:
        """Every protected path of the project and the user that configures something, existing or not."""
        configuring = [name for name, why in self.names.items() if why == CONFIGURES]
        named = {f"{root.rstrip('/')}/{name}": CONFIGURES for root in self.roots for name in configuring}
        return {**named, **self.paths}

    @cached_property
    def _known_folded(self) -> Mapping[str, str]:
        return {path.casefold(): why for path, why in self.known.items()}

    def there(self) -> list[str]:
        """List the known ones that exist, and the contents of the directories among them."""
        found = [path for path in self.known if os.path.lexists(path)]
        return found + list(_contents(found))

    def below(self, directory: str) -> str | None:
        """Return a protected path in a directory: moving or removing the directory changes it as well."""
        prefix = directory.rstrip("/") + "/"
        return next((path for path in self.known if path.startswith(prefix) and os.path.lexists(path)), None)

    def named_by(self, pattern: str) -> str | None:
        """Return a protected name that a part of a shell pattern may match."""
        from hookline.matching.name_patterns import name_fits  # noqa: PLC0415 few lines have patterns

        configuring = [name for name, why in self.names.items() if why == CONFIGURES]
        for part in _spread(pattern).casefold().split("/"):
            if part.startswith(".") and is_pattern(part):
                found = next((name for name in configuring if name_fits(name, part)), None)
                if found is not None:
                    return found
        return None

    def stands_for(self, pattern: str, directory: str, path: str) -> bool:
        """Return True if a shell pattern may match the path, or something in it."""
        from hookline.matching.name_patterns import name_fits  # noqa: PLC0415 as above

        wanted = whole_path(_spread(pattern), directory, self.home).casefold().split("/")
        parts = path.casefold().split("/")
        return len(wanted) >= len(parts) and all(
            name_fits(part, one) and (part[:1] != "." or one[:1] == ".")
            for one, part in zip(wanted, parts, strict=False)
        )

    def mentioned(self, text: str) -> str | None:
        """Return the first protected name in a text, quotes aside; only names that configure something."""
        found = next(self._found_in(text), None)
        return found[0] if found else None

    def _found_in(self, text: str) -> Iterator[re.Match[str]]:
        folded = unquoted(text).casefold()
        # The expression is long, and most texts have nothing for it to find.
        if any(word in folded for word in self._mention_words):
            yield from self._mention.finditer(folded)

    @cached_property
    def _mention_words(self) -> frozenset[str]:
        words = {name for name, why in self.names.items() if why == CONFIGURES}
        for path in self.paths:
            words.add(path)
            inside = (path[len(root) :].lstrip("/") for root in self.roots if is_inside(path, root))
            # A plain word is not specific enough.
            words.update(each for each in inside if "/" in each or "." in each)
        return frozenset(map(str.casefold, words))

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        words = sorted(self._mention_words, key=len, reverse=True)
        dotted = "|".join(re.escape(word) for word in words if word.startswith("."))
        others = "|".join(re.escape(word) for word in words if not word.startswith("."))
        # `${D:-.claude}` has it, `my-agent.yaml` has not.
        before = rf"(?<![\w.])(?:{dotted})" if dotted else ""
        further = rf"(?<![\w.-])(?:{others})" if others else ""
        return re.compile(rf"(?:{'|'.join(filter(None, (before, further)))})(?![\w-])")


def protected_in(
    directories: Sequence[str],
    env: Mapping[str, str],
    hooks: Sequence[Hook] = (),
    names: Mapping[str, str] = PROTECTED,
    disk: Disk = DISK,
) -> Protected:
    """List the protected paths for an agent in these directories: its working directory, its project."""
    chain = _chain(directories, disk)
    home = home_in(env)
    roots = [*chain, *([home] if home else [])]
    paths: dict[str, str] = {}
    for listed in standard_dialects().values():
        paths |= dict.fromkeys(_paths_of(listed, roots, env), CONFIGURES)
    paths |= dict.fromkeys(user_directories(env), CONFIGURES)
    paths |= {os.path.join(home, *_STATE_DIRECTORY): _STATE} if home else {}
    paths |= dict.fromkeys(_installation(chain, env, disk), _PROGRAM)
    paths |= {hook.where.file: CONFIGURES for hook in hooks if os.path.isabs(hook.where.file)}
    # The directory of a bundle's files is in that of its name, and that in the store of all bundles.
    signed = {
        os.path.dirname(os.path.dirname(hook.bundle.directory)) for hook in hooks if hook.bundle is not None
    }
    paths |= dict.fromkeys(signed - {""}, CONFIGURES)
    paths |= dict.fromkeys(_scripts(hooks, chain, disk), _RUN_BY_HOOK)
    return Protected(names, {**_real(paths, disk), **paths}, roots, home)


def _installation(chain: Sequence[str], env: Mapping[str, str], disk: Disk) -> Iterator[str]:
    """Yield the package, and the programs that start it: without them no guard is asked."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # Somebody who works on Hookline edits it.
    if not any(is_inside(package, root) for root in chain):
        yield package
    for directory in dict.fromkeys((os.path.dirname(sys.executable), *env.get("PATH", "").split(os.pathsep))):
        if os.path.isabs(directory):
            files = (os.path.join(os.path.normpath(directory), name) for name in _LAUNCHERS)
            yield from filter(disk.is_there, files)


def _real(paths: Mapping[str, str], disk: Disk) -> dict[str, str]:
    """Return the paths with links followed. Many are in the same directories, which are followed once."""
    real_directories: dict[str, str] = {}
    found: dict[str, str] = {}
    for path, why in paths.items():
        directory, name = os.path.split(path)
        if directory not in real_directories:
            real_directories[directory] = real_path(directory, disk)
        real = os.path.join(real_directories[directory], name)
        found[real_path(path, disk) if name in ("", ".", "..") or disk.islink(real) else real] = why
    return found


def configuring_names() -> Mapping[str, str]:
    """Return the protected names without those that have nothing to do with agents."""
    return {name: why for name, why in PROTECTED.items() if why == CONFIGURES}


def _chain(directories: Sequence[str], disk: Disk) -> list[str]:
    """Return the directories and their parents in their repositories, as they are named and as real paths."""
    found: dict[str, None] = {}
    for directory in directories:
        if os.path.isabs(directory):
            named = os.path.normpath(directory)
            found |= dict.fromkeys((*upward(named, disk), *upward(real_path(named, disk), disk)))
    return list(found)


def _paths_of(listed: Listed, roots: Sequence[str], env: Mapping[str, str]) -> Iterator[str]:
    for name in (*listed.markers, *listed.also_configure):
        if not name.startswith(".") or "/" in name:
            yield from (os.path.join(root, name) for root in roots)
    yield from listed.system_paths
    for variable in listed.variables:
        directory = _directory(env.get(variable, ""))
        # One that holds the project or the home would make everything in them protected.
        if directory and not any(is_inside(root, directory) for root in roots):
            yield directory


def home_in(env: Mapping[str, str]) -> str:
    """Return the home directory that lines mean by ~; nothing if there is none."""
    return _directory(env.get("HOME", ""))


def _directory(text: str) -> str:
    return os.path.normpath(text) if os.path.isabs(text) and len(text) > 1 else ""


_APART = str.maketrans({**dict.fromkeys("=;|&<()\n\t", " "), ">": " > "})
#: Files that a hook writes into: a log is not a script.
_RECORDS = (".log", ".jsonl", ".out", ".err")


def _scripts(hooks: Sequence[Hook], chain: Sequence[str], disk: Disk) -> Iterator[str]:
    """Yield the files of the project that the commands of hooks name: an edited guard is a weaker guard."""
    for hook in hooks:
        command, arguments = getattr(hook.spec, "command", None), getattr(hook.spec, "args", None)
        texts = [command, *(arguments or ())] if hook.kind == "command" else []
        for text in texts:
            words = translated(unquoted(text), _APART).split() if isinstance(text, str) else []
            for before, word in zip(("", *words), words, strict=False):
                if before in {">", "tee", "-a"} or word.endswith(_RECORDS):
                    continue
                # `$CLAUDE_PROJECT_DIR/x`: whichever directory the variable is, the file is one of the
                # project.
                path = word.partition("/")[2] if word.startswith("$") else word
                yield from _files_of_project(path, chain, disk) if "/" in word or "." in word else ()


def _files_of_project(path: str, chain: Sequence[str], disk: Disk) -> Iterator[str]:
    for root in chain:
        whole = os.path.normpath(os.path.join(root, path))
        if any(is_inside(whole, each) for each in chain) and disk.isfile(whole):
            yield whole


def whole_path(path: str, directory: str, home: str) -> str:
    """Return the absolute path that a shell means by a word, without following links."""
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return os.path.normpath(os.path.join(directory or "/", path))


def real_path(path: str, disk: Disk = DISK) -> str:
    """Return the path with links followed; the path itself, without `..` if it is long, if no file can have
    this name."""
    if len(path) > LONGEST_PATH:
        path = os.path.normpath(path)
    if len(path) > LONGEST_PATH:
        return path
    try:
        return disk.realpath(path)
    except (ValueError, OSError):
        return path


def _plain(part: str) -> str:
    """Remove what some file systems ignore in a name."""
    return part.casefold().rstrip(" .").partition(":")[0]


def _notes() -> frozenset[tuple[str, str]]:
    """Return directories in which an agent keeps its own notes: by its directory, and below any that a
    variable names."""
    every = [(listed.markers[0], each) for listed in standard_dialects().values() for each in listed.notes]
    return frozenset((*every, *(("", each) for _of, each in every)))


def _bare_names() -> frozenset[str]:
    every = (name for listed in standard_dialects().values() for name in listed.markers)
    return frozenset(name for name in every if not name.startswith("."))


def _contents(roots: Sequence[str]) -> Iterator[str]:
    left = _MOST_CONTENTS
    for root in roots:
        for directory, inner, files in os.walk(root):
            inner.sort()
            for name in (*inner, *files):
                left -= 1
                if left < 0:
                    return
                yield os.path.join(directory, name)


def is_pattern(word: str) -> bool:
    """Return True if the shell may take a word for a pattern."""
    if "*" in word or "?" in word:
        return True
    return ("[" in word and "]" in word) or ("{" in word and "}" in word and ("," in word or ".." in word))


def unquoted(text: str) -> str:
    return translated(text, _QUOTES)


def _spread(pattern: str) -> str:
    """Replace alternatives in braces by a star."""
    return re.sub(r"\{[^{}]*\}", "*", pattern)
