"""The files that are protected: a session knows them as names and as places, and asks before anything is written there.

Most of them configure hooks, rules, servers or agents: whoever may write there unseen can switch a guard off. Which
ones these are, the registry of dialects says. The rest is run by git, a shell or an editor on its own.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from hookline.dialects.dialect import upward, user_directories
from hookline.dialects.registry import Listed, standard_dialects
from hookline.matching.patterns import LONGEST_PATH
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line
from hookline.trust.project import is_inside

CONFIGURES = "hooks, rules or servers are configured there"
_RUN_BY_HOOK = "a hook in force runs it"
_STATE = "Hookline keeps there what the user trusts"
_SHELL_START = "every new shell runs it"

#: Files of agents that have no dialect yet, and such as many agents read.
_FURTHER_NAMES = (".mcp.json",)
#: Where this user's state is, whatever the environment says.
_STATE_FOLDER = (".local", "state", "hookline")
_QUOTES = str.maketrans("", "", "\"'\\")
#: What is looked at of the folders that are there.
_MOST_CONTENTS = 400


def _configuring() -> Iterator[str]:
    """Names that only an agent's files have; one with more parts or without a dot is too common to protect."""
    for listed in standard_dialects().values():
        names = (*listed.markers, *listed.also_configure)
        yield from (name for name in names if name.startswith(".") and "/" not in name)
    yield from _FURTHER_NAMES


#: Writing here can make programs run later, so it is always asked. Case does not count.
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


class Hit(NamedTuple):
    """What a call does to a protected path, and why that is protected."""

    path: str
    why: str
    act: str = "Writing to"

    @property
    def sentence(self) -> str:
        """For a guard that forbids it."""
        return f"{self.act} {one_line(self.path, 120)} changes what guards the agent: {self.why}."

    def __str__(self) -> str:
        return f"{self.act} {one_line(self.path, 120)} is always asked: {self.why}."


class Protected:
    """What is protected in one session. Built once; a question costs some look-ups in tables."""

    def __init__(
        self,
        names: Mapping[str, str] = PROTECTED,
        places: Mapping[str, str] | None = None,
        roots: Sequence[str] = (),
        home: str = "",
    ) -> None:
        #: Why a part of a path is protected, wherever it is.
        self.names = names
        #: Files and whole folders that are protected, by their absolute paths.
        self.places = dict(places or {})
        #: The directories of the project, and the user's home.
        self.roots = tuple(roots)
        self.home = home
        self._notes = _notes()
        self._folded = {path.casefold(): why for path, why in self.places.items()}
        self._longest_place = max(map(len, self._folded), default=0)

    def why(self, path: str, worktree: str = "") -> str | None:
        """Why an absolute path is protected; None when it is not.

        A worktree may lie at a protected path, but its files are the project's.
        """
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
            # No place is behind that, and cutting off one name after another takes squares of a long path.
            folded = folded[: max(folded.rfind("/", 0, self._longest_place + 1), 0)]
        while len(folded) > 1:
            why = self._folded.get(folded)
            if why is not None:
                rest = path.casefold()[len(folded) :].split("/")
                return None if len(rest) > 2 and ("", rest[1]) in self._notes else why
            folded = folded.rpartition("/")[0]
        return None

    def is_place(self, path: str) -> str | None:
        """Why exactly this path is protected: one of the known ones, not anything that is called like them."""
        return self._known_folded.get(path.casefold()) or self._by_place(path)

    @cached_property
    def known(self) -> Mapping[str, str]:
        """Every protected path of the project and the user that configures something, whether it is there or not."""
        configuring = [name for name, why in self.names.items() if why == CONFIGURES]
        named = {f"{root.rstrip('/')}/{name}": CONFIGURES for root in self.roots for name in configuring}
        return {**named, **self.places}

    @cached_property
    def _known_folded(self) -> Mapping[str, str]:
        return {path.casefold(): why for path, why in self.known.items()}

    def there(self) -> list[str]:
        """The known ones that exist, and what the folders among them hold."""
        found = [path for path in self.known if os.path.lexists(path)]
        return found + list(_contents(found))

    def below(self, directory: str) -> str | None:
        """A protected path in a directory, which whoever moves or removes the directory changes as well."""
        prefix = directory.rstrip("/") + "/"
        return next((path for path in self.known if path.startswith(prefix) and os.path.lexists(path)), None)

    def named_by(self, pattern: str) -> str | None:
        """A protected name that a part of a shell pattern may stand for."""
        from fnmatch import fnmatchcase  # noqa: PLC0415 few lines have patterns

        configuring = [name for name, why in self.names.items() if why == CONFIGURES]
        for part in _spread(pattern).casefold().split("/"):
            if part.startswith(".") and is_pattern(part):
                found = next((name for name in configuring if fnmatchcase(name, part)), None)
                if found is not None:
                    return found
        return None

    def stands_for(self, pattern: str, directory: str, path: str) -> bool:
        """Whether a shell pattern may stand for the path, or for something in it."""
        from fnmatch import fnmatchcase  # noqa: PLC0415 as above

        wanted = whole_path(_spread(pattern), directory, self.home).casefold().split("/")
        parts = path.casefold().split("/")
        return len(wanted) >= len(parts) and all(
            fnmatchcase(part, one) and (part[:1] != "." or one[:1] == ".")
            for one, part in zip(wanted, parts, strict=False)
        )

    def mentioned(self, text: str) -> str | None:
        """The first protected name in a text, quotes aside; only of what configures something."""
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
        for place in self.places:
            words.add(place)
            inside = (place[len(root) :].lstrip("/") for root in self.roots if is_inside(place, root))
            # A plain word says nothing.
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
) -> Protected:
    """What is protected for an agent in these directories: its working directory, its project."""
    chain = _chain(directories)
    home = _directory(env.get("HOME", ""))
    roots = [*chain, *([home] if home else [])]
    places: dict[str, str] = {}
    for listed in standard_dialects().values():
        places |= dict.fromkeys(_places_of(listed, roots, env), CONFIGURES)
    places |= dict.fromkeys(user_directories(env), CONFIGURES)
    places |= {os.path.join(home, *_STATE_FOLDER): _STATE} if home else {}
    places |= {hook.where.file: CONFIGURES for hook in hooks if os.path.isabs(hook.where.file)}
    # The folder of a bundle's files is in that of its name, and that in the place of all bundles.
    signed = {
        os.path.dirname(os.path.dirname(hook.bundle.folder)) for hook in hooks if hook.bundle is not None
    }
    places |= dict.fromkeys(signed - {""}, CONFIGURES)
    places |= dict.fromkeys(_scripts(hooks, chain), _RUN_BY_HOOK)
    return Protected(names, {**_real(places), **places}, roots, home)


def _real(places: Mapping[str, str]) -> dict[str, str]:
    """The places by where links lead. Many are in the same directories, which are followed once."""
    folders: dict[str, str] = {}
    found: dict[str, str] = {}
    for path, why in places.items():
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = real_path(folder)
        real = os.path.join(folders[folder], name)
        found[real_path(path) if name in ("", ".", "..") or os.path.islink(real) else real] = why
    return found


def configuring_names() -> Mapping[str, str]:
    """The protected names without those that have nothing to do with agents."""
    return {name: why for name, why in PROTECTED.items() if why == CONFIGURES}


def _chain(directories: Sequence[str]) -> list[str]:
    """The directories and what is above them in their repositories, as they are named and as they are."""
    found: dict[str, None] = {}
    for directory in directories:
        if os.path.isabs(directory):
            named = os.path.normpath(directory)
            found |= dict.fromkeys((*upward(named), *upward(real_path(named))))
    return list(found)


def _places_of(listed: Listed, roots: Sequence[str], env: Mapping[str, str]) -> Iterator[str]:
    for name in (*listed.markers, *listed.also_configure):
        if not name.startswith(".") or "/" in name:
            yield from (os.path.join(root, name) for root in roots)
    yield from listed.system_paths
    for variable in listed.variables:
        folder = _directory(env.get(variable, ""))
        # One that holds the project or the home would make everything in them protected.
        if folder and not any(is_inside(root, folder) for root in roots):
            yield folder


def _directory(text: str) -> str:
    return os.path.normpath(text) if os.path.isabs(text) and len(text) > 1 else ""


_APART = str.maketrans({**dict.fromkeys("=;|&<()\n\t", " "), ">": " > "})
#: What a hook writes into: a log is no script.
_RECORDS = (".log", ".jsonl", ".out", ".err")


def _scripts(hooks: Sequence[Hook], chain: Sequence[str]) -> Iterator[str]:
    """The files of the project that the commands of hooks name: an edited guard is a weaker guard."""
    for hook in hooks:
        command, arguments = getattr(hook.spec, "command", None), getattr(hook.spec, "args", None)
        texts = [command, *(arguments or ())] if hook.kind == "command" else []
        for text in texts:
            words = unquoted(text).translate(_APART).split() if isinstance(text, str) else []
            for before, word in zip(("", *words), words, strict=False):
                if before in {">", "tee", "-a"} or word.endswith(_RECORDS):
                    continue
                # `$CLAUDE_PROJECT_DIR/x`: whichever directory the variable is, the file is one of the project.
                path = word.partition("/")[2] if word.startswith("$") else word
                yield from _files_of_project(path, chain) if "/" in word or "." in word else ()


def _files_of_project(path: str, chain: Sequence[str]) -> Iterator[str]:
    for root in chain:
        whole = os.path.normpath(os.path.join(root, path))
        if any(is_inside(whole, each) for each in chain) and os.path.isfile(whole):
            yield whole


def whole_path(path: str, directory: str, home: str) -> str:
    """The absolute path that a shell means by a word, without following links."""
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return os.path.normpath(os.path.join(directory or "/", path))


def real_path(path: str) -> str:
    """Return where links lead; the path itself if no file can have this name."""
    if len(path) > LONGEST_PATH:
        return path
    try:
        return os.path.realpath(path)
    except (ValueError, OSError):
        return path


def _plain(part: str) -> str:
    """Some file systems treat these as the name without them."""
    return part.casefold().rstrip(" .").partition(":")[0]


def _notes() -> frozenset[tuple[str, str]]:
    """Folders in which an agent keeps its own notes: by its folder, and with any place a variable names."""
    every = [(listed.markers[0], each) for listed in standard_dialects().values() for each in listed.notes]
    return frozenset((*every, *(("", each) for _folder, each in every)))


def _bare_names() -> frozenset[str]:
    every = (name for listed in standard_dialects().values() for name in listed.markers)
    return frozenset(name for name in every if not name.startswith("."))


def _contents(folders: Sequence[str]) -> Iterator[str]:
    left = _MOST_CONTENTS
    for folder in folders:
        for directory, inner, files in os.walk(folder):
            inner.sort()
            for name in (*inner, *files):
                left -= 1
                if left < 0:
                    return
                yield os.path.join(directory, name)


def is_pattern(word: str) -> bool:
    """Whether the shell may take a word for a pattern."""
    if "*" in word or "?" in word:
        return True
    return ("[" in word and "]" in word) or ("{" in word and "}" in word and ("," in word or ".." in word))


def unquoted(text: str) -> str:
    return text.translate(_QUOTES)


def _spread(pattern: str) -> str:
    """With a star in place of alternatives in braces."""
    return re.sub(r"\{[^{}]*\}", "*", pattern)
