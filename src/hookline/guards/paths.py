"""Judge files: which of them a call reads or writes, and if they are secret or outside the project."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice, pairwise, product

from hookline.actions.action import Action, PathContext
from hookline.guards.file_patterns import is_pattern, matched, may_match, patterns_of
from hookline.guards.flows import MEASURES, feeding, flows_of
from hookline.guards.settings import GuardSettings
from hookline.guards.spec import OUTSIDE, GuardSpec, Secret
from hookline.matching.name_patterns import name_fits
from hookline.matching.patterns import LONGEST_PATH
from hookline.shell import HOLE, ShellReading, base_name
from hookline.shell.files.programs import files_of, has_option, parsed, prints_nothing
from hookline.shell.placeholders import Words
from hookline.shell.runs import does

#: Directories where writing is harmless.
_ANYWHERE = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev", "/proc/self/fd")  # noqa: S108
#: They load a file and do not show it.
_LOADS = frozenset(("source", ".", "dotenv", "dotenvx", "direnv"))
_CONTAINERS = frozenset(("docker", "podman", "nerdctl", "docker-compose"))
_LOAD_BY_OPTION = _CONTAINERS | {"node", "nodejs", "bun", "deno", "tsx", "nodemon", "uv", "npx", "wrangler"}
_ENV_FILE = frozenset(("--env-file", "--env-file-if-exists", "--label-file"))
#: Of openssl: the key that signs.
_KEY_OPTIONS = frozenset(("-key", "-inkey", "-CAkey", "-signkey", "-keyfile", "-sign"))
_MOST_LINKS = 16
_MOST_KNOWN = 4096
#: Patterns that are compared with the names of secrets: only those of hidden files, or of the system's own.
_MOST_TRIED = 60
_HIDDEN = re.compile(r"(?:^|/)\.(?!\.?/)|^/(?:[ep*?\[])")
_BRACES = re.compile(r"\$\{(\w+)(?:[%#:/^,@-][^{}]{0,100})?\}")
#: Variables that the line sets to a path below the user's home directory.
_HOMES = re.compile(r"\b(\w+)=\$HOME([\w./-]*)")

#: For PowerShell: commands that write, separators of words, and the user's home directory.
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

#: What becomes variables goes through these.
_LOADING = frozenset(("export", "xargs", "grep", "egrep", "sed", "awk", "cut", "tr", "cat", "sort"))
SEARCHES = frozenset(("grep", "egrep", "fgrep", "rg", "ugrep", "zgrep", "ag", "ack"))
_INCLUDES = ("--include", "-g", "--glob", "--iglob")
_RUNS_EACH = ("-x", "-X", "--exec", "--exec-batch")
_LS = frozenset(("ls", "gls", "dir", "vdir"))
_FD = frozenset(("fd", "fdfind"))
#: Of a list they let some names pass.
_CHOOSES = frozenset(
    ("head", "tail", "grep", "egrep", "rg", "sed", "awk", "fzf", "shuf", "sort", "uniq", "cut", "tr")
)
_DESCRIBES = MEASURES | {"stat", "du", "ls"}
#: Of a list they let names pass that fit an expression; and how git lists files that it does not have.
_FINDS_NAMES = frozenset(("grep", "egrep", "rg", "sed", "awk", "compgen"))
_EXPRESSION = re.compile(r"/([^/\n]{1,60})/")
_LISTS_HIDDEN = ("-a", "-A", "-f", "--all", "--almost-all")
_OTHERS = ("-o", "--others", "-i", "--ignored")
#: Patterns that find what secrets look like, or everything.
_ANY_SECRET = re.compile(
    r"PASSW|SECRET|TOKEN|API_?KEY|CREDENTIAL|PRIVATE|^DB_|AWS_|^[.=^$'\"*]{0,3}$|^\.[*+]$"
)
_MOST_BESIDE = 500
_MOST_SOURCES = 16

Found = tuple[str, str, str]


class CallFiles:
    """The files of one call, from its directory."""

    def __init__(
        self,
        path_context: PathContext,
        settings: GuardSettings,
        line: str = "",
        known: dict[str, bool | None] | None = None,
    ) -> None:
        """Take a call; `known` says of directories if a link leads there, or None where nothing is."""
        self._known = known if known is not None else {}
        self._place = path_context
        self._settings = settings
        plain = line.replace('"', "").replace("'", "")
        self._line = _BRACES.sub(r"$\1", plain) if "${" in plain else plain
        self._patterns = patterns_of(line)
        self._tried = 0
        #: Directories that were searched for secrets.
        self._looked_into: set[str] = set()
        #: Commands whose lists of names were followed, to commands that show content and to others.
        self._followed_lists: set[tuple[int, bool]] = set()
        #: Links that the line makes, and what they lead to.
        self._links: dict[str, str] = {}

    # --- secrets
    # -----------------------------------------------------------------------------------------------------

    def secret(self, policy: GuardSpec, word: str, directories: Sequence[str] = ()) -> str | None:
        """Return the secrets that a path holds, from these directories; None if it is not known to hold any."""
        if not word or word.startswith("-"):
            return None
        texts = [word]
        patterns = self._patterns.written(word)
        for directory in directories or (self._place.cwd,):
            whole = self.whole(word, directory)
            if whole is not None:
                texts += dict.fromkeys((whole, _real(whole, self._known)))
            for pattern in filter(None, (self.whole(each, directory) for each in patterns)):
                texts += (pattern, *matched(pattern, dotted=self._patterns.dotted))
        texts = [text[-LONGEST_PATH:] for text in texts]
        wide = [text.replace(HOLE, "*") for text in texts if HOLE in text or is_pattern(text)]
        wide = [text for text in wide if self._patterns.dotted or _HIDDEN.search(text)]
        self._tried += len(wide)
        if self._tried > _MOST_TRIED:
            return "possibly keys or passwords: it has too many patterns to try them all"
        if not wide and not any(map(policy.may_be_secret, texts)):
            return None
        for row in policy.secrets:
            if row.part and row.part not in self._settings.parts:
                continue
            found = any(row.is_at(text) for text in texts) or any(self._may_be(row, text) for text in wide)
            if found and not self._is_allowed(texts):
                return row.what
        return None

    def _may_be(self, row: Secret, pattern: str) -> bool:
        """Return True if a pattern may match a file of the row: by its path, or by a name that begins with a dot."""
        last = base_name(pattern)
        dotted = self._patterns.dotted
        for example in (row.example, *row.more.split()):
            whole = self.whole(example, "/") if example[:1] in {"~", "/"} else None
            above = self._place.home.count("/") if example[0] == "~" else 1
            below = pattern[:1] == "/" and pattern.count("/") > above
            if whole is not None and below and may_match(pattern, whole, dotted=dotted):
                return True
            name = base_name(example)
            if (
                (last[:1] == "." or (dotted and name[:1] == "."))
                and is_pattern(last)
                and name_fits(name, last)
            ):
                return True
        return False

    def secrets_of(self, policy: GuardSpec, reading: ShellReading) -> Iterator[Found]:
        """Yield the files with secrets that a line reads."""
        every: list[str] = []
        self.follow_links(reading)
        flows, loads = flows_of(reading), self._only_loads(reading)
        fed = {target for _, target in flows}
        for at, directories in self.directories(reading):
            every += [each for each in directories if each not in every]
            words = reading.commands[at].words if at < len(reading.commands) else ()
            if words and not loads:
                yield from self._read_by(policy, words, directories)
                if at in fed and any(HOLE in word for word in files_of(words).reads):
                    yield from self._listed(policy, at, reading, flows)
        for word in reading.reads:
            if (what := self.secret(policy, word, every)) is not None:
                yield shown(word), f"holds {what}", ""

    def _read_by(self, policy: GuardSpec, words: Words, directories: Sequence[str]) -> Iterator[Found]:
        """Yield the files with secrets that a command reads."""
        program, loads = base_name(words[0]), "load" in self._settings.parts
        if not loads and program in _LOADS:
            return
        if program in SEARCHES and prints_nothing(words):
            return
        files, used = files_of(words), _used(words, loads=loads)
        if program in SEARCHES:
            yield from self._found_by_name(policy, _included(words))
            yield from self._searched(policy, words, directories)
        elif does(program, "lists") and (files.reads or has_option(words, *_RUNS_EACH)):
            yield from self._found_by_name(policy, _listed_names(words))
            if files.reads and not [*_listed_names(words)]:
                yield from self._beside(policy, files.names, directories)
        perhaps = [word for word in files.perhaps if "/" in word or "." in word]
        seen = (*files.reads, *files.links, *files.sends, *perhaps)
        if program in _CONTAINERS and not loads:
            # What goes into a container is not shown; of a recipe that cannot be read lines are.
            seen = tuple(word for word in files.reads if word not in files.sends)
        for word in seen:
            what = self.secret(policy, word, directories) if word not in used else None
            if what is not None:
                doubt = f"what `{program}` does with {shown(word)} is not known" if word in perhaps else ""
                yield shown(word), f"holds {what}", doubt

    def _listed(
        self, policy: GuardSpec, at: int, reading: ShellReading, flows: Sequence[tuple[int, int]]
    ) -> Iterator[Found]:
        """Yield files that one command lists and another one reads: `find . -name .env | xargs cat`."""
        words = reading.commands[at].words
        shows = not {base_name(words[0])} & (_DESCRIBES | SEARCHES)
        for source in feeding(at, flows)[:_MOST_SOURCES]:
            listing = reading.commands[source]
            if (source, shows) in self._followed_lists:
                continue
            self._followed_lists.add((source, shows))
            for word in listing.words[1:]:
                if (what := self.secret(policy, word)) is not None:
                    yield shown(word), f"holds {what}", ""
            program = listing.base_name
            if listing.does("lists"):
                names = [*_listed_names(listing.words)]
                yield from self._found_by_name(policy, names)
                hidden = program in _LS and has_option(listing.words, *_LISTS_HIDDEN)
                if shows and not names and (hidden or not _is_filtered(source, reading)):
                    yield from self._beside(policy, files_of(listing.words).names or (".",), ())
            elif program in _FINDS_NAMES and shows:
                found = (
                    _EXPRESSION.findall(word) if program in {"sed", "awk"} else (word,)
                    for word in _texts_of(listing.words)
                )
                names = [_name_found_by(each) for several in found for each in several]
                yield from self._found_by_name(policy, names)
            elif _is_of_git(listing.words, "ls-files") and has_option(listing.words, *_OTHERS):
                yield from self._beside(policy, (".",), ())
            if listing.does("decodes") or (listing.does("edits") and _is_literal(source, reading, flows)):
                yield "", "", f"`{listing.text}` hides which file is read"

    def _found_by_name(self, policy: GuardSpec, names: Iterable[str]) -> Iterator[Found]:
        """Yield patterns of names that a search or a list goes through, and that files with secrets have."""
        for name in (each for each in names if each.strip("*?.")):
            for row in policy.secrets:
                if not row.part and any(name_fits(one, name) for one in _telling_names(row)):
                    yield shown(name), f"may be a file that holds {row.what}", ""

    def _beside(
        self, policy: GuardSpec, places: Sequence[str], directories: Sequence[str]
    ) -> Iterator[Found]:
        """Yield files with secrets that are in a directory whose files are all read."""
        for place, directory in product(places, directories or (self._place.cwd,)):
            whole = self.whole(place, directory)
            if whole is None or whole in self._looked_into:
                continue
            self._looked_into.add(whole)
            for path in islice(matched(f"{whole}/*", dotted=True), _MOST_BESIDE):
                if policy.may_be_secret(path) and (what := self.secret(policy, path)) is not None:
                    yield shown(path), f"holds {what}", ""

    def _searched(self, policy: GuardSpec, words: Words, directories: Sequence[str]) -> Iterator[Found]:
        """Yield files with secrets in directories that are searched for what looks like a secret, or for anything."""
        call = parsed(words)
        if call is None or [*_included(words)] or not _searches_all(words):
            return
        operands, given = call.given.operands, call.given.values("-e", "--regexp")
        expressions, places = (given, operands) if given else (operands[:1], operands[1:])
        if any(_ANY_SECRET.search(one) for one in expressions):
            yield from self._beside(policy, places or (".",), directories)

    def _only_loads(self, reading: ShellReading) -> bool:
        """Return True for `export $(grep = .env | xargs)`: what is read becomes variables, and the line shows none."""
        names = [command.base_name for command in reading.commands]
        return "export" in names and "load" not in self._settings.parts and _LOADING.issuperset(names)

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

    # --- writing outside
    # ---------------------------------------------------------------------------------------------

    def is_outside(self, word: str, directory: str = "", *, followed: bool = True) -> bool:
        """Return True if a path is outside the project: as it is written, or with links followed."""
        # A link may not have been made: then the path is what it was.
        if followed and self._links and self.is_outside(word, directory, followed=False):
            return True
        whole = self.whole(word, directory or self._place.cwd, followed=followed)
        if whole is None or self._is_allowed((whole,)):
            return False
        real = _real(whole, self._known)
        return not (self._is_inside(whole) and self._is_inside(real)) and not self._is_allowed((real,))

    def leads_nowhere(self, word: str) -> bool:
        """Return True for an absolute path below a directory that is not there, as `/v1/users` of some service."""
        first = word.split("/", 2)[1] if word.startswith("/") else ""
        return bool(first) and not _inside(word, self._place.home) and not os.path.lexists(f"/{first}")

    def _is_inside(self, path: str) -> bool:
        return any(_inside(path, root) for root in self._roots())

    def _roots(self) -> tuple[str, ...]:
        return _roots(self._place.root or self._place.cwd, self._place.home, self._place.temporary)

    def whole(self, word: str, directory: str, *, followed: bool = True) -> str | None:
        """Return the absolute path of a word; None where only the shell knows how it begins. Links that the line
        makes are `followed`."""
        home = self._place.home
        if word.startswith(HOLE + "/") and home and self._begins_at_home(word[1:]):
            word = home + word[1:]
        word = word.removeprefix("~+/")
        if word == "~" or word.startswith("~/"):
            word = home + word[1:] if home else word
        if word.startswith(("~", HOLE, "/" + HOLE)):
            return None
        path = os.path.normpath(os.path.join(directory or "/", word))
        for link, target in self._links.items():
            if followed and _inside(path, link):
                return target + path[len(link) :]
        return path

    def follow_links(self, reading: ShellReading) -> None:
        """Note the links that a line makes: `ln -s ~/other o; rm o/x` is about ~/other/x."""
        for command in reading.commands:
            files = files_of(command.words) if command.does("links") else None
            for source, target in product(files.links, (*files.writes, *files.into)) if files else ():
                old, new = (self.whole(one, self._place.cwd, followed=False) for one in (source, target))
                if old and new and len(self._links) < _MOST_LINKS and not _inside(self._place.cwd, new):
                    self._links[new] = old

    def _begins_at_home(self, rest: str) -> bool:
        """Return True if the line has `$HOME` before this, or a variable that it sets to a path of that kind."""
        # `$HOME/x/f{1,2}`: of what braces make, the line has the directory.
        above = f"$HOME{rest.rpartition('/')[0]}/" if "{" in self._line else "$HOME/"
        if f"$HOME{rest}" in self._line or (above != "$HOME/" and above in self._line):
            return True
        return any(
            rest.startswith(start) and f"${name}{rest[len(start) :]}" in self._line
            for name, start in _HOMES.findall(self._line)
        )

    def directories(self, reading: ShellReading) -> Iterator[tuple[int, list[str]]]:
        """Yield the directories that each command may run in, and last those that lines end in."""
        from hookline.shell.directories import directories_of  # noqa: PLC0415 most calls need none

        return directories_of(reading, self._line, self._place.cwd, self.whole, self._place.home)


def named_in(policy: GuardSpec, files: CallFiles, line: str) -> Iterator[Found]:
    """Yield files that a line of PowerShell names. Which of them its commands read or write is not known."""
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


def _name_found_by(expression: str) -> str:
    """Return the names that `grep` finds in a list, as a pattern: `^\\.e` is `.e*`."""
    plain = expression.replace("\\", "")
    name = re.sub(r"\.?[*+]|[\[\](){}|]", "*", plain.removeprefix("^").removesuffix("$"))
    return f"{'' if plain[:1] == '^' else '*'}{name}{'' if plain[-1:] == '$' else '*'}"


def _is_filtered(source: int, reading: ShellReading) -> bool:
    """Return True if some of the names that a command lists are chosen: `ls | head -1`."""
    return any(
        reading.commands[target].base_name in _CHOOSES for start, target in reading.flows if start == source
    )


def _is_literal(source: int, reading: ShellReading, flows: Sequence[tuple[int, int]]) -> bool:
    """Return True if a command changes text that the line itself has: `tr a-z b-za <<< .dmu`."""
    fed = {start for start, target in flows if target == source}
    reads = files_of(reading.commands[source].words).reads
    return not reads and all(reading.commands[one].does("prints") for one in fed)


def _texts_of(words: Words) -> Words:
    """Return the words of a command that may be expressions: operands, and values of options."""
    call = parsed(words)
    if call is None:
        return tuple(word for word in words[1:] if word[:1] != "-")
    return (*call.given.operands, *(one.value for one in call.given.given if one.value))


def _is_of_git(words: Words, sub_command: str) -> bool:
    call = parsed(words)
    return call is not None and call.use.key == f"git {sub_command}"


def _listed_names(words: Words) -> Iterator[str]:
    """Yield the patterns of names that `find -name` and `fd` list. Without one, all are listed."""
    call, program = parsed(words), base_name(words[0])
    if call is None:
        return
    yield from map(base_name, call.given.values("-name", "-iname", "-path", "-ipath", "-wholename"))
    if call.given.has("-regex", "-iregex"):
        yield "\\"
    if program in _FD:
        # What follows `-x` is a command.
        run = min((one.at for one in call.given.given if one.name in _RUNS_EACH), default=len(words))
        pattern = call.given.operands[0] if call.given.first < run else ""
        if not call.given.has("-H", "-u", "--hidden", "--unrestricted"):
            yield "\\"
            return
        yield from (f"*.{name}" for name in call.given.values("-e", "--extension"))
        if pattern:
            yield f"*{pattern.strip('^$').replace(chr(92), '')}*"
    if program in _LS and not call.given.has(*_LISTS_HIDDEN):
        # Without hidden files nothing is found that begins with a dot.
        yield "\\"


def _searches_all(words: Words) -> bool:
    """Return True if a search goes through a directory with its hidden files."""
    call = parsed(words)
    if call is None:
        return False
    given = call.given
    if base_name(words[0]) in {"grep", "egrep", "fgrep", "zgrep"}:
        return given.has("-r", "-R", "--recursive", "--dereference-recursive") or "recurse" in given.values(
            "-d", "--directories"
        )
    return given.has("--hidden", "--unrestricted", "-.", "-u")


def _included(words: Words) -> Iterator[str]:
    """Yield the names of files that a search goes through: `grep -r x . --include=.env`. Dots count as letters."""
    call = parsed(words)
    for value in call.given.values(*_INCLUDES) if call is not None else ():
        pattern = base_name(value)
        if pattern.strip("*?!"):
            yield pattern


def _telling_names(row: Secret) -> Iterator[str]:
    """Yield names that mean a secret in every directory."""
    names = (base_name(one) for one in (row.example, *row.more.split()))
    return (name for name in names if name.startswith((".", "id_")))


def _used(words: Words, *, loads: bool) -> Words:
    """Return files that a program uses and does not show: `node --env-file=.env`, `openssl req -key server.key`."""
    program = base_name(words[0])
    if program == "openssl":
        keys = (after for option, after in pairwise(words) if option in _KEY_OPTIONS)
        return tuple(key for key in keys if words.count(key) == 1)
    if loads or program not in _LOAD_BY_OPTION:
        return ()
    behind = (after for option, after in pairwise(words) if option in _ENV_FILE)
    joined = (word.partition("=")[2] for word in words if word.partition("=")[0] in _ENV_FILE)
    return (*behind, *joined)


# --- tools that name files
# -------------------------------------------------------------------------------------------


def written_by_tool(action: Action) -> Iterator[str]:
    if action.kind is not None and action.kind.access == "write":
        yield from action.paths


def deletes_directory(action: Action) -> str | None:
    """Return the directory that a tool deletes, or None."""
    if action.kind is None or action.kind.name != "delete":
        return None
    return next((path for path in action.paths if os.path.isdir(path) and not os.path.islink(path)), None)


def secret_in(policy: GuardSpec, files: CallFiles, action: Action) -> tuple[str, str] | None:
    """Return the file with secrets that a tool reads, and what it holds."""
    kind = action.kind.name if action.kind is not None else ""
    paths: list[str] = []
    if kind in ("read", "grep"):
        paths += action.paths
    elif kind == "move":
        source = action.arguments.get("source")
        paths += [source] if isinstance(source, str) else []
    if kind in ("grep", "glob"):
        paths += _patterns(kind, action.arguments)
    for path in paths:
        what = files.secret(policy, path)
        if what is not None:
            return shown(path), f"holds {what}"
    return None


def _patterns(kind: str, arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the names that a search finds by a pattern. Names alone are not secret, except in a directory
    full of keys."""
    pattern = arguments.get("glob" if kind == "grep" else "pattern")
    path = arguments.get("path")
    if not isinstance(pattern, str):
        return
    if kind == "grep":
        yield from (pattern, base_name(pattern))
    elif "/" in pattern or isinstance(path, str):
        directory = os.path.join(path if isinstance(path, str) else "", os.path.dirname(pattern))
        if any(
            mark in f"{directory}/" for mark in ("/.ssh/", "/.gnupg/", "/.aws/", "/Keychains/", "/keyrings/")
        ):
            yield f"{directory.rstrip('/')}/x"


@lru_cache(maxsize=128)
def _roots(root: str, home: str, temporary: str) -> tuple[str, ...]:
    """Return the directories in which writing is harmless: the repository of the project, and temporary ones."""
    found = os.path.normpath(root) if root else ""
    directory = found
    while directory and directory not in ("/", home):
        if any(os.path.lexists(os.path.join(directory, marker)) for marker in _MARKERS):
            found = directory
            break
        directory = os.path.dirname(directory)
    roots = [each for each in (found, *_ANYWHERE, temporary.rstrip("/")) if each and each != "/"]
    return tuple(dict.fromkeys((*roots, *(_real(each, {}) for each in roots))))


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _real(path: str, known: dict[str, bool | None]) -> str:
    """Return the path with its links followed; one that no system opens leads nowhere."""
    if len(path) > LONGEST_PATH or (path.startswith("/") and not _has_link(path, known)):
        return path
    try:
        return os.path.realpath(path)
    except (ValueError, OSError):
        return path


def _has_link(path: str, known: dict[str, bool | None]) -> bool | None:
    """Return True if a normal path leads through a link, None where nothing is that can be read. Most do not, and this
    takes a fraction of `realpath`."""
    directory = path[: path.rfind("/")]
    if directory not in known:
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[directory] = _leads_through_link(directory)
    found = known[directory]
    return _is_link(path) if found is False else found


def _leads_through_link(directory: str) -> bool | None:
    end = 0
    while 0 <= end < len(directory):
        end = directory.find("/", end + 1)
        found = _is_link(directory[:end] if end >= 0 else directory)
        if found is not False:
            return found
    return False


def _is_link(path: str) -> bool | None:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return None


def shown(word: str) -> str:
    return word.replace(HOLE, "…")[:200]
