"""Guards over files: which of them a call reads or writes, and whether that is secret or outside the project."""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from hookline.guards.policy import OUTSIDE, Policy, Secret
from hookline.guards.settings import Settings
from hookline.matching.patterns import LONGEST_PATH
from hookline.matching.shell import HOLE, ShellCommand, ShellReading, base_name
from hookline.matching.shell.files.programs import files_of
from hookline.matching.shell.holes import Words
from hookline.tools.acts import Act, Place

#: Writing there hurts nobody.
_ANYWHERE = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev", "/proc/self/fd")  # noqa: S108
#: What they run has other files than this machine.
_ELSEWHERE = frozenset(
    (
        "docker",
        "podman",
        "nerdctl",
        "docker-compose",
        "kubectl",
        "oc",
        "ssh",
        "vagrant",
        "multipass",
        "gcloud",
        "lima",
    )
)
#: They load a file and show it to nobody.
_LOADS = frozenset(
    ("source", ".", "docker", "podman", "nerdctl", "docker-compose", "dotenv", "dotenvx", "direnv")
)
_LOAD_BY_OPTION = frozenset(("node", "nodejs", "bun", "deno", "tsx", "nodemon", "uv", "npx", "wrangler"))
_ENV_FILE = frozenset(("--env-file", "--env-file-if-exists"))
#: Of openssl: the key that signs.
_KEY_OPTIONS = frozenset(("-key", "-inkey", "-CAkey", "-signkey", "-keyfile", "-sign"))
_PATTERN = re.compile(r"[*?\[]")
#: Files that code of other languages opens to write.
_CODE_WRITES = re.compile(
    r"open\(\s*['\"]([/~.][^'\"]{0,500})['\"]\s*,\s*['\"][wax]|"
    r"(?:writeFile|appendFile|File\.write|file_put_contents)(?:Sync)?\(\s*['\"]([/~.][^'\"]{0,500})['\"]|"
    r"Path\(\s*['\"]([/~.][^'\"]{0,500})['\"]\)[\w.()]{0,50}\.(?:write_|touch|mkdir|unlink|rename)|"
    r"shutil\.(?:copy\w*|move)\([^\n)]{0,200},\s*['\"]([/~.][^'\"]{0,500})['\"]"
)
_MOST_DIRECTORIES = 16
_BRACES = re.compile(r"\$\{(\w+)\}")
#: Variables that the line sets to a path below the user's folder.
_HOMES = re.compile(r"\b(\w+)=\$HOME([\w./-]*)")
#: Redirections that write no file.
_HARMLESS = re.compile(r"\d?>&\d|&?\d?>\s*/dev/null\b")

#: Of PowerShell: commands that write, what stands between words, and the user's folder.
_WRITES = re.compile(
    r"\b(?:(?:set|add|clear)-content|out-file|tee-object|(?:copy|move|new|remove|rename|set)-item|expand-archive)\b|"
    r"\b(?:sc|ac|copy|cp|cpi|move|mv|mi|ni|mkdir|md|del|erase|rd|rm|ri|rmdir|ren|rni)\s|\s-outfile\b|>",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[\s'\"`;|(){},=<>@&]+")
_HOME_VARIABLE = re.compile(r"^\$(?:env:)?(?:HOME|USERPROFILE)\b", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_BY_NAME = "PowerShell is judged by names only"
_MARKERS = (".git", ".hookline", ".hg", ".jj")

Found = tuple[str, str, str]


class Files:
    """The files of one call, seen from where it is made."""

    def __init__(self, place: Place, settings: Settings, line: str = "") -> None:
        self._place = place
        self._settings = settings
        plain = line.replace('"', "")
        self._line = _BRACES.sub(r"$\1", plain) if "${" in plain else plain

    # --- secrets -----------------------------------------------------------------------------------------------------

    def secret(self, policy: Policy, word: str, directories: Sequence[str] = ()) -> str | None:
        """What secrets a path holds, seen from these directories; None if it is not known to hold any."""
        if not word or word.startswith("-"):
            return None
        texts = [word]
        for directory in directories or (self._place.cwd,):
            whole = self.whole(word, directory)
            if whole is not None:
                texts += dict.fromkeys((whole, _real(whole)) if len(whole) <= LONGEST_PATH else (whole,))
        texts = [text[-LONGEST_PATH:] for text in texts]
        if not any(map(policy.may_be_secret, texts)) and not any(map(_may_be_other_name, texts)):
            return None
        for row in policy.secrets:
            if row.part and row.part not in self._settings.parts:
                continue
            if any(_is_secret(row, text) for text in texts) and not self._is_allowed(texts):
                return row.what
        return None

    def secrets_of(self, policy: Policy, reading: ShellReading) -> Iterator[Found]:
        """The files with secrets that a line reads."""
        every: list[str] = []
        fed = {target for _, target in reading.flows}
        for at, directories in self.directories(reading):
            every += [each for each in directories if each not in every]
            words = reading.commands[at].words if at < len(reading.commands) else ()
            if words:
                yield from self._read_by(policy, words, directories)
                if at in fed and any(HOLE in word for word in files_of(words).reads):
                    yield from self._listed(policy, at, reading)
        for word in reading.reads:
            if (what := self.secret(policy, word, every)) is not None:
                yield _shown(word), f"holds {what}", ""

    def _read_by(self, policy: Policy, words: Words, directories: Sequence[str]) -> Iterator[Found]:
        """The files with secrets that a command reads."""
        program, loads = base_name(words[0]), "load" in self._settings.parts
        if not loads and program in _LOADS:
            return
        files, used = files_of(words), _used(words, loads=loads)
        perhaps = [word for word in files.perhaps if "/" in word or "." in word]
        for word in (*files.reads, *files.links, *files.sends, *perhaps):
            what = self.secret(policy, word, directories) if word not in used else None
            if what is not None:
                doubt = f"what `{program}` does with {_shown(word)} is not known" if word in perhaps else ""
                yield _shown(word), f"holds {what}", doubt

    def _listed(self, policy: Policy, at: int, reading: ShellReading) -> Iterator[Found]:
        """What one command lists, another one reads: `find . -name .env | xargs cat`."""
        flows: Sequence[tuple[int, int]] = reading.flows
        for source, target in flows:
            if target == at:
                for word in reading.commands[source].words[1:]:
                    if (what := self.secret(policy, word)) is not None:
                        yield _shown(word), f"holds {what}", ""

    def _is_allowed(self, texts: Sequence[str]) -> bool:
        return any(self._fits(pattern, text) for pattern in self._settings.allow for text in texts)

    def _fits(self, pattern: str, path: str) -> bool:
        whole = self.whole(pattern, self._place.root or self._place.cwd) or pattern
        return (
            fnmatchcase(path, pattern)
            or fnmatchcase(path, whole)
            or _inside(path, whole)
            or ("/" not in pattern and fnmatchcase(base_name(path), pattern))
        )

    # --- writing outside ---------------------------------------------------------------------------------------------

    def is_outside(self, word: str, directory: str = "") -> bool:
        """Whether a path is outside the project: as it is written, or where links lead."""
        whole = self.whole(word, directory or self._place.cwd)
        if whole is None or self._is_allowed((whole,)):
            return False
        real = _real(whole)
        return not (self._is_inside(whole) and self._is_inside(real)) and not self._is_allowed((real,))

    def _is_inside(self, path: str) -> bool:
        return any(_inside(path, root) for root in self._roots())

    def _roots(self) -> tuple[str, ...]:
        return _roots(self._place.root or self._place.cwd, self._place.home, self._place.temporary)

    def whole(self, word: str, directory: str) -> str | None:
        """The absolute path of a word; None where only the shell knows how it begins."""
        home = self._place.home
        if word.startswith(HOLE + "/") and home and self._begins_at_home(word[1:]):
            word = home + word[1:]
        if word == "~" or word.startswith("~/"):
            word = home + word[1:] if home else word
        if word.startswith(("~", HOLE, "/" + HOLE)):
            return None
        return os.path.normpath(os.path.join(directory or "/", word))

    def is_redirected_in(self, texts: Sequence[str], word: str) -> bool:
        """Whether these texts write to a file, and the line has no redirection but theirs."""
        theirs = sum(_redirections(text) for text in texts if word in text)
        return theirs > 0 and _redirections(self._line) == theirs and "$'" not in self._line

    def _begins_at_home(self, rest: str) -> bool:
        """Whether the line has `$HOME` before this, or a variable that it sets to a path of that kind."""
        if f"$HOME{rest}" in self._line:
            return True
        return any(
            rest.startswith(start) and f"${name}{rest[len(start) :]}" in self._line
            for name, start in _HOMES.findall(self._line)
        )

    def directories(self, reading: ShellReading) -> Iterator[tuple[int, list[str]]]:
        """For each command, the directories it may run in."""
        now = before = [self._place.cwd]
        # A directory that is entered in a subshell is left again; which commands are in it, the list does not say.
        nested = "(" in self._line or "pushd" in self._line
        for at, command in enumerate(reading.commands):
            yield at, now
            words = command.words
            if not words or base_name(words[0]) not in {"cd", "pushd", "chdir"}:
                continue
            if "-" in words[1:]:
                now = before
                continue
            before = now
            target = next((word for word in words[1:] if word[:1] not in {"-", "+"}), "~")
            entered = [whole for one in now if (whole := self.whole(target, one)) is not None]
            now = list(dict.fromkeys((*now, *entered) if nested else entered or now))[-_MOST_DIRECTORIES:]
        yield len(reading.commands), now


def outside_of(files: Files, reading: ShellReading) -> Iterator[Found]:
    """The paths outside the project that a line writes to."""
    every: list[str] = []
    # `"$OUT/$name"` is read with and without values: nobody means the root by that.
    spread = any(HOLE in word for command in reading.commands for word in command.words)
    elsewhere = _texts_elsewhere(reading)
    for at, directories in files.directories(reading):
        every += [each for each in directories if each not in every]
        if at == len(reading.commands):
            break
        command = reading.commands[at]
        if not command.words or _is_elsewhere(command, elsewhere):
            continue
        for word in files_of(command.words).writes:
            if spread and not word.strip("/"):
                continue
            if any(files.is_outside(word, directory) for directory in directories):
                yield _shown(word), OUTSIDE, ""
    in_code = [
        path for text in reading.foreign for found in _CODE_WRITES.findall(text) for path in found if path
    ]
    # A redirection belongs to no command of the reading: what the text for another machine has is written there.
    here = [word for word in reading.writes if not files.is_redirected_in(elsewhere, word)]
    for word in (*here, *in_code):
        if any(files.is_outside(word, directory) for directory in every):
            yield _shown(word), OUTSIDE, ""


def _redirections(text: str) -> int:
    return len(_HARMLESS.sub("", text).split(">")) - 1


def _texts_elsewhere(reading: ShellReading) -> Sequence[str]:
    """The commands that run others in a container or on another machine."""
    return [
        " ".join(command.words[1:])
        for command in reading.commands
        if command.words and base_name(command.words[0]) in _ELSEWHERE
    ]


def _is_elsewhere(command: ShellCommand, elsewhere: Sequence[str]) -> bool:
    """Whether one of those runs it."""
    text = " ".join(command.words)
    return any(text in each for each in elsewhere)


def named_in(policy: Policy, files: Files, line: str) -> Iterator[Found]:
    """Files that a line of PowerShell names. Which of them its commands read or write is not known."""
    writes = _WRITES.search(line) is not None
    for word in filter(None, _SEPARATORS.split(line)):
        path = _HOME_VARIABLE.sub("~", word.replace("\\", "/"))
        if (
            policy.outside
            and writes
            and (_DRIVE.match(word) or (path[:1] in "/~." and files.is_outside(path)))
        ):
            yield word, OUTSIDE, _BY_NAME
        if policy.secrets and (what := files.secret(policy, path)) is not None:
            yield word, f"holds {what}", _BY_NAME


def _used(words: Words, *, loads: bool) -> Words:
    """Files that a program uses and does not show: `node --env-file=.env`, `openssl req -key server.key`."""
    program = base_name(words[0])
    if program == "openssl":
        keys = (after for option, after in pairwise(words) if option in _KEY_OPTIONS)
        return tuple(key for key in keys if words.count(key) == 1)
    if loads or program not in _LOAD_BY_OPTION:
        return ()
    behind = (after for option, after in pairwise(words) if option in _ENV_FILE)
    joined = (word.partition("=")[2] for word in words if word.partition("=")[0] in _ENV_FILE)
    return (*behind, *joined)


# --- tools that name files -------------------------------------------------------------------------------------------


def written_by_tool(act: Act) -> Iterator[str]:
    if act.kind is not None and act.kind.access == "write":
        yield from act.paths


def deletes_folder(act: Act) -> str | None:
    """The folder that a tool deletes."""
    if act.kind is None or act.kind.name != "delete":
        return None
    return next((path for path in act.paths if os.path.isdir(path) and not os.path.islink(path)), None)


def secret_in(policy: Policy, files: Files, act: Act) -> tuple[str, str] | None:
    """The file with secrets that a tool reads, and what it holds."""
    kind = act.kind.name if act.kind is not None else ""
    paths: list[str] = []
    if kind in ("read", "grep"):
        paths += act.paths
    elif kind == "move":
        source = act.arguments.get("source")
        paths += [source] if isinstance(source, str) else []
    if kind in ("grep", "glob"):
        paths += _patterns(kind, act.arguments)
    for path in paths:
        what = files.secret(policy, path)
        if what is not None:
            return _shown(path), f"holds {what}"
    return None


def _patterns(kind: str, arguments: Mapping[str, object]) -> Iterator[str]:
    """What a search names by a pattern. Names alone are no secret, but those of a folder full of keys."""
    pattern = arguments.get("glob" if kind == "grep" else "pattern")
    path = arguments.get("path")
    if not isinstance(pattern, str):
        return
    if kind == "grep":
        yield from (pattern, base_name(pattern))
    elif "/" in pattern or isinstance(path, str):
        folder = os.path.join(path if isinstance(path, str) else "", os.path.dirname(pattern))
        if any(
            mark in f"{folder}/" for mark in ("/.ssh/", "/.gnupg/", "/.aws/", "/Keychains/", "/keyrings/")
        ):
            yield f"{folder.rstrip('/')}/x"


def _is_secret(row: Secret, text: str) -> bool:
    if row.is_at(text):
        return True
    if not _may_be_other_name(text):
        return False
    return fnmatchcase(base_name(row.example), base_name(text).replace(HOLE, "*"))


def _may_be_other_name(text: str) -> bool:
    """`cat .e*`: a pattern may stand for a name that begins with a dot only if it does so itself."""
    last = base_name(text).replace(HOLE, "*")
    return last[:1] == "." and _PATTERN.search(last) is not None


@lru_cache(maxsize=128)
def _roots(root: str, home: str, temporary: str) -> tuple[str, ...]:
    """The folders in which writing is no surprise: the repository that the project is in, and temporary ones."""
    found = os.path.normpath(root) if root else ""
    folder = found
    while folder and folder not in ("/", home):
        if any(os.path.lexists(os.path.join(folder, marker)) for marker in _MARKERS):
            found = folder
            break
        folder = os.path.dirname(folder)
    roots = [each for each in (found, *_ANYWHERE, temporary.rstrip("/")) if each and each != "/"]
    return tuple(dict.fromkeys((*roots, *map(_real, roots))))


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _real(path: str) -> str:
    """The path with its links followed."""
    if path.startswith("/") and not _has_link(path):
        return path
    try:
        return os.path.realpath(path)
    except (ValueError, OSError):
        return path


def _has_link(path: str) -> bool:
    """Whether a normal path leads through a link. Most do not, and this takes a fraction of `realpath`."""
    end = 0
    while end >= 0:
        end = path.find("/", end + 1)
        try:
            if stat.S_ISLNK(os.lstat(path[:end] if end >= 0 else path).st_mode):
                return True
        except (OSError, ValueError):
            return False  # there is nothing, or nothing that can be looked at
    return False


def _shown(word: str) -> str:
    return word.replace(HOLE, "…")[:200]
