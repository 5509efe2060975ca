"""Read the settings that a git command would get: from its options, its environment and its files.

Nothing of git runs for it. Files are read as the waiting task sees them, in its own root and directory. All values that
any source gives are returned, whatever overrides what, and conditions of includes count as true: the question is
whether a setting may apply.
"""

import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

_LARGEST_FILE: Final = 1 << 20
_MOST_FILES: Final = 64
_DEEPEST: Final = 200
_SYSTEM: Final = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/usr/etc/gitconfig")
_TRUE: Final = frozenset(("true", "yes", "on", "1", ""))
_HEADER: Final = re.compile(r'\[\s*([-\w.]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_NAME: Final = re.compile(r"[A-Za-z][-A-Za-z0-9]*")
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": "\b"}


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
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_FILE:
                raise UnknownSettingsError(f"{path} is not a regular file of reasonable size")
            return (
                os.read(descriptor, _LARGEST_FILE).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
            )
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
            except OSError:
                return
            path = above
        raise UnknownSettingsError("the directory is too deep")

    def exists(self, path: str) -> bool:
        return os.path.lexists(self.reach(path))


class OptionSettings(NamedTuple):
    """Settings by the options before the subcommand."""

    directories: tuple[str, ...] = ()
    git_dir: str = ""
    given: tuple[str, ...] = ()
    from_env: tuple[str, ...] = ()


class GitSettings:
    """All settings that may apply to one command."""

    def __init__(self, view: GitFiles, options: OptionSettings) -> None:
        self._view = view
        self._files = 0
        start = ""
        for each in options.directories:
            start = _joined(start, each)
        self._git_dir = _joined(start, options.git_dir) if options.git_dir else self._found(start)
        self.all = [*self._read_all(options)]

    def of(self, section: str, subsection: str, name: str) -> list[GitSetting]:
        return [one for one in self.all if one[:3] == (section, subsection, name)]

    def old_remote(self, name: str) -> list[GitSetting]:
        """Return the push lines of a remote that is described by a file of its name, as git once did."""
        if self._git_dir is None or not name or "/" in name or name.startswith("."):
            return []
        path = _joined(self._common(self._git_dir), f"remotes/{name}")
        text = self._view.read(path) or ""
        lines = (line.partition(":") for line in text.splitlines())
        return [
            GitSetting("remote", name, "push", value.strip(), path)
            for key, _, value in lines
            if key == "Push"
        ]

    def _read_all(self, options: OptionSettings) -> Iterator[GitSetting]:
        env = self._view.env
        for text in options.from_env:
            key, _, variable = text.rpartition("=")
            yield from self._from_key(key, env.get(variable, ""), f"--config-env, {variable}")
        for name, key in env.items():
            if name.startswith("GIT_CONFIG_KEY_"):
                value = env.get(f"GIT_CONFIG_VALUE_{name.removeprefix('GIT_CONFIG_KEY_')}", "")
                yield from self._from_key(key, value, name)
        try:
            inherited = shlex.split(env.get("GIT_CONFIG_PARAMETERS", ""))
        except ValueError as error:
            raise UnknownSettingsError("GIT_CONFIG_PARAMETERS cannot be read") from error
        for source, words in (("-c", options.given), ("GIT_CONFIG_PARAMETERS", inherited)):
            for text in words:
                key, equals, value = text.partition("=")
                yield from self._from_key(key, value if equals else "true", source)
        home = env.get("HOME", "")
        own = [env[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") if env.get(name)]
        xdg = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
        for path in (*_SYSTEM, *own, f"{xdg}/git/config", f"{home}/.gitconfig"):
            yield from self._of_file(path)
        if self._git_dir is not None:
            yield from self._of_file(_joined(self._common(self._git_dir), "config"))
            yield from self._of_file(_joined(self._git_dir, "config.worktree"))

    def _from_key(self, key: str, value: str, source: str) -> Iterator[GitSetting]:
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        yield from self._with_included(
            GitSetting(section.lower(), subsection, name.lower(), value, source), ""
        )

    def _of_file(self, path: str) -> Iterator[GitSetting]:
        text = self._view.read(path)
        if text is None:
            return
        self._files += 1
        if self._files > _MOST_FILES:
            raise UnknownSettingsError("they include too many files")
        for section, subsection, name, value in parse_settings(text, path):
            yield from self._with_included(GitSetting(section, subsection, name, value, path), path)

    def _with_included(self, setting: GitSetting, file: str) -> Iterator[GitSetting]:
        yield setting
        if setting.section in ("include", "includeif") and setting.name == "path" and setting.value:
            path = setting.value
            if path.startswith("~/"):
                path = self._view.env.get("HOME", "") + path[1:]
            elif path.startswith(("~", "%(prefix)")):
                raise UnknownSettingsError(f"{path} is included")
            yield from self._of_file(_joined(os.path.dirname(file), path))

    def _found(self, start: str) -> str | None:
        """Return the repository of a directory: GIT_DIR, or the first one in it or above."""
        named = self._view.env.get("GIT_DIR")
        if named:
            return _joined(start, named)
        # Upwards step by step: in another root the directory has another name, or none.
        for path in self._view.upwards(start or "."):
            link = _joined(path, ".git")
            if self._view.exists(link):
                text = self._view.read(link)
                if text is None:
                    return link
                target = text.removeprefix("gitdir:").strip()
                return _joined(path, target)
            if all(self._view.exists(_joined(path, name)) for name in ("HEAD", "objects", "refs")):
                return path
        return None

    def _common(self, git_dir: str) -> str:
        named = self._view.env.get("GIT_COMMON_DIR")
        if named:
            return named
        other = self._view.read(_joined(git_dir, "commondir"))
        return _joined(git_dir, other.strip()) if other else git_dir


def _joined(directory: str, path: str) -> str:
    return path if path.startswith("/") or not directory else f"{directory}/{path}"


def parse_settings(text: str, path: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield section, subsection, name and value of a file in git's format. Raises UnknownSettingsError."""
    section = subsection = ""
    at, end = 0, len(text)
    while at < end:
        letter = text[at]
        if letter.isspace():
            at += 1
        elif letter in "#;":
            at = text.find("\n", at) % (end + 1)  # -1 is the end of the text
        elif letter == "[":
            header = _HEADER.match(text, at)
            if header is None:
                raise UnknownSettingsError(f"{path} is not in git's format")
            section, at = header[1].lower(), header.end()
            subsection = re.sub(r"\\(.)", r"\1", header[2]) if header[2] is not None else ""
            if header[2] is None and "." in section:
                section, _, subsection = section.partition(".")
        else:
            name = _NAME.match(text, at)
            if name is None or not section:
                raise UnknownSettingsError(f"{path} is not in git's format")
            at = name.end()
            while at < end and text[at] in " \t":
                at += 1
            value = "true"
            if at < end and text[at] == "=":
                value, at = _value(text, at + 1, path)
            yield section, subsection, name[0].lower(), value


def _value(text: str, at: int, path: str) -> tuple[str, int]:
    """Return the value that begins here, and where it ends."""
    found: list[str] = []
    quoted = False
    kept = 0
    while at < len(text) and (text[at] != "\n"):
        letter = text[at]
        if letter == "\\":
            following = text[at + 1 : at + 3]
            if following.startswith(("\n", "\r\n")):
                at += 2 if following[0] == "\n" else 3
                continue
            found.append(_ESCAPES.get(following[:1], following[:1]))
            at, kept = at + 2, len(found)
            continue
        if letter == '"':
            quoted = not quoted
            kept = len(found)
        elif letter in "#;" and not quoted:
            at = text.find("\n", at) % (len(text) + 1)
            break
        elif quoted or not letter.isspace():
            found.append(letter)
            kept = len(found)
        elif found:
            found.append(letter)
        at += 1
    if quoted:
        raise UnknownSettingsError(f"{path} is not in git's format")
    return "".join(found[:kept]), at
