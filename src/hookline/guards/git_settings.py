"""Read the settings that a git command would get: from its options, its environment and its files.

Nothing of git runs for it. Guards read them for the commands of a line, in the directories that it may run in, and the
exec guard for a waiting task, whose files it sees in the task's own root and directory. All values that any source
gives are returned, whatever overrides what, and conditions of includes count as true: the question is whether a setting
may apply.
"""

import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from hookline.shell.kinds.git_format import parse_settings
from hookline.shell.options import read_options
from hookline.shell.placeholders import Words
from hookline.shell.programs.git import settings_in
from hookline.shell.runs import options_before

#: Of all files together.
_MOST_TEXT: Final = 1 << 20
_MOST_FILES: Final = 64
_DEEPEST: Final = 200
_SYSTEM: Final = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/usr/etc/gitconfig")
_TRUE: Final = frozenset(("true", "yes", "on", "1", ""))


class UnknownSettingsError(Exception):
    """Some settings could not be read. The text says which."""


class GitSetting(NamedTuple):
    """One setting: `remote.origin.push`, its value, and where it is written."""

    section: str
    subsection: str
    name: str
    value: str
    source: str

    @property
    def is_true(self) -> bool:
        return self.value.lower() in _TRUE or (self.value.isdigit() and int(self.value) != 0)

    @property
    def shown(self) -> str:
        middle = f"{self.subsection}." if self.subsection else ""
        return f"{self.section}.{middle}{self.name}={self.value} ({self.source})"


def is_alias(setting: GitSetting, subcommand: str) -> bool:
    """Return True for `alias.NAME` and `alias.NAME.command`."""
    if setting.section != "alias":
        return False
    name = f"{setting.subsection}.{setting.name}".removeprefix(".").lower()
    return subcommand.lower() in (name, name.removesuffix(".command"))


class GitFiles(NamedTuple):
    """The files as a task sees them, and its environment."""

    #: Paths by which this process reaches the task's root and directory.
    root: str
    directory: str
    env: Mapping[str, str]

    def reach(self, path: str) -> str:
        """Return the path by which this process reaches a file of the task."""
        return f"{self.root}{path}" if path.startswith("/") else f"{self.directory}/{path}"

    def read(self, path: str) -> str | None:
        """Return the text of a file; None if there is none. Raises UnknownSettingsError."""
        try:
            descriptor = os.open(self.reach(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        except OSError as error:
            raise UnknownSettingsError(f"{path} cannot be read: {error.strerror}") from error
        try:
            found = os.fstat(descriptor)
            if stat.S_ISDIR(found.st_mode):
                return None
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_TEXT:
                raise UnknownSettingsError(f"{path} is not a regular file of reasonable size")
            return os.read(descriptor, _MOST_TEXT).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        except OSError as error:
            raise UnknownSettingsError(f"{path} cannot be read: {error.strerror}") from error
        finally:
            os.close(descriptor)

    def upwards(self, path: str) -> Iterator[str]:
        """Yield a directory and all above it."""
        for _ in range(_DEEPEST):
            yield path
            above = f"{path}/.."
            try:
                if os.path.samefile(self.reach(path), self.reach(above)):
                    return
            except (OSError, ValueError):
                return
            path = above
        raise UnknownSettingsError("the directory is too deep")

    def exists(self, path: str) -> bool:
        return os.path.lexists(self.reach(path))


class GitCall(NamedTuple):
    """The words of a git command, and the settings by the options before the sub-command."""

    #: The words before the sub-command.
    before: Words
    subcommand: str
    rest: Words
    directories: Words = ()
    git_dir: str = ""
    given: Words = ()
    from_env: Words = ()


def git_call(words: Words) -> GitCall:
    """Read the words behind `git`."""
    read = read_options(words, options_before("git"))
    subcommand = words[read.first] if read.first < len(words) else ""
    return GitCall(
        words[: read.first],
        subcommand,
        words[read.first + 1 :],
        read.values("-C"),
        (read.values("--git-dir") or ("",))[-1],
        read.values("-c"),
        read.values("--config-env"),
    )


class _Repository(NamedTuple):
    directory: str
    #: Where the settings and hooks of all its worktrees are.
    common: str
    #: Where its files are.
    top: str


class GitSettings:
    """All settings that may apply to one command."""

    def __init__(self, view: GitFiles, call: GitCall) -> None:
        self._view = view
        self._files = self._text = 0
        self.all: list[GitSetting] = []
        #: Why there may be more of them.
        self.unknown: UnknownSettingsError | None = None
        start = ""
        for each in call.directories:
            start = _joined(start, each)
        self._add(self._of_call(call))
        self._add(self._inherited())
        env = view.env
        own = [env[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") if env.get(name)]
        home = env.get("HOME", "")
        xdg = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
        for path in (*_SYSTEM, *own, f"{xdg}/git/config", f"{home}/.gitconfig"):
            self._add(self._of_file(path))
        #: The repositories whose settings and hooks may apply.
        self._repositories: list[_Repository] = []
        self._add_repositories(start, call.git_dir)
        for one in self._repositories:
            self._add(self._of_file(_joined(one.common, "config")))
            self._add(self._of_file(_joined(one.directory, "config.worktree")))

    def of(self, section: str, subsection: str, name: str) -> list[GitSetting]:
        return [one for one in self.all if one[:3] == (section, subsection, name)]

    def old_remote(self, name: str) -> list[GitSetting]:
        """Return the push lines of a remote that is described by a file of its name, as git once did."""
        if not name or "/" in name or name.startswith("."):
            return []
        found: list[GitSetting] = []
        for one in self._repositories:
            self._add(self._of_old_remote(name, _joined(one.common, f"remotes/{name}")), found)
        return found

    def _of_old_remote(self, name: str, path: str) -> Iterator[GitSetting]:
        for text in settings_in(path, self._view.read(path) or ""):
            yield GitSetting("remote", name, "push", text.partition("=")[2], path)

    def hooks(self) -> Iterator[str]:
        """Yield the directories with hooks, as this process reaches them."""
        given = (one.value for one in self.of("core", "", "hookspath"))
        named = [self._at_home(path) for path in given]
        for one in self._repositories:
            # Hooks start where the files of the repository are.
            tops = dict.fromkeys((one.top, os.path.dirname(one.common)))
            for directory in (f"{one.common}/hooks", *(_joined(top, path) for path in named for top in tops)):
                yield self._view.reach(directory)

    def _from_key(self, key: str, value: str, source: str) -> Iterator[GitSetting]:
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        yield from self._with_included(
            GitSetting(section.lower(), subsection, name.lower(), value, source), ""
        )

    def _add(self, found: Iterator[GitSetting], to: list[GitSetting] | None = None) -> None:
        """Add the settings of one source, up to what cannot be read."""
        known = self.all if to is None else to
        try:
            for one in found:
                known.append(one)
        except UnknownSettingsError as error:
            self.unknown = self.unknown or error

    def _of_call(self, call: GitCall) -> Iterator[GitSetting]:
        for text in call.from_env:
            key, _, variable = text.rpartition("=")
            yield from self._from_key(key, self._view.env.get(variable, ""), "--config-env")
        yield from self._given(call.given, "-c")

    def _inherited(self) -> Iterator[GitSetting]:
        env = self._view.env
        for name, key in env.items():
            if name.startswith("GIT_CONFIG_KEY_"):
                value = env.get(f"GIT_CONFIG_VALUE_{name.removeprefix('GIT_CONFIG_KEY_')}", "")
                yield from self._from_key(key, value, name)
        source = "GIT_CONFIG_PARAMETERS"
        try:
            inherited = shlex.split(env.get(source, ""))
        except ValueError as error:
            raise UnknownSettingsError(f"{source} cannot be read") from error
        yield from self._given(inherited, source)

    def _given(self, settings: Iterable[str], source: str) -> Iterator[GitSetting]:
        for text in settings:
            key, equals, value = text.partition("=")
            yield from self._from_key(key, value if equals else "true", source)

    def _of_file(self, path: str) -> Iterator[GitSetting]:
        text = self._view.read(path)
        if text is None:
            return
        self._files += 1
        self._text += len(text)
        if self._files > _MOST_FILES or self._text > _MOST_TEXT:
            raise UnknownSettingsError("they include too many files, or too long ones")
        for line in parse_settings(text):
            if not line.plain:
                raise UnknownSettingsError(f"{path} is not in git's format")
            yield from self._with_included(GitSetting(*line[:4], path), path)

    def _with_included(self, setting: GitSetting, file: str) -> Iterator[GitSetting]:
        yield setting
        if setting.section in ("include", "includeif") and setting.name == "path" and setting.value:
            yield from self._of_file(_joined(os.path.dirname(file), self._expanded(setting.value)))

    def _expanded(self, path: str) -> str:
        found = self._at_home(path)
        if found.startswith(("~", "%(prefix)")):
            raise UnknownSettingsError(f"{path} cannot be followed")
        return found

    def _at_home(self, path: str) -> str:
        return self._view.env.get("HOME", "") + path[1:] if path.startswith("~/") else path

    def _add_repositories(self, start: str, git_dir: str) -> None:
        try:
            for one in self._found(start, git_dir or self._view.env.get("GIT_DIR", "")):
                self._repositories.append(one)
        except UnknownSettingsError as error:
            self.unknown = self.unknown or error

    def _found(self, start: str, named: str) -> Iterator[_Repository]:
        """Yield the repository of a directory: the named one, or the first one in it or above. An incomplete one,
        which git may pass over, is not the last."""
        if named:
            yield self._repository(_joined(start, named), start)
            return
        # Upwards step by step: in another root the directory has another name, or none.
        for path in self._view.upwards(start or "."):
            link = _joined(path, ".git")
            if self._view.exists(link):
                text = self._view.read(link)
                if text is not None:
                    yield self._repository(_joined(path, text.removeprefix("gitdir:").strip()), path)
                    return
                yield self._repository(link, path)
                if self._is_complete(link):
                    return
            if self._is_complete(path):
                yield self._repository(path, path)
                return

    def _is_complete(self, directory: str) -> bool:
        return all(self._view.exists(_joined(directory, name)) for name in ("HEAD", "objects", "refs"))

    def _repository(self, directory: str, top: str) -> _Repository:
        common = self._view.env.get("GIT_COMMON_DIR", "")
        if not common:
            other = self._view.read(_joined(directory, "commondir"))
            common = _joined(directory, other.strip()) if other else directory
        return _Repository(directory, common, top)


def _joined(directory: str, path: str) -> str:
    return path if path.startswith("/") or not directory else f"{directory}/{path}"
