"""Judge code of other languages by what its text shows plainly: files, hosts, and calls that write, delete or send.

Nothing is interpreted. What is found this way is asked about, unless the guard has the option `code=deny`.
"""

import re
from collections.abc import Iterator
from itertools import islice

from hookline.guards.destinations import is_local
from hookline.guards.paths import CallFiles
from hookline.guards.spec import OUTSIDE, GuardSpec
from hookline.shell import ShellReading
from hookline.shell.files.programs import files_of
from hookline.shell.runs import any_row

#: Two texts that are put together: `".e" "nv"`, `".e" .. "nv"`, `".e" + "nv"`.
_JOINED = re.compile(r"(['\"`])\s{0,9}(?:\.{1,2}|\+|<>)?\s{0,9}\1")
_WORD = re.compile(r"[^\s'\"`;|(){}\[\],<>=&\0]{2,300}")
_ADDRESS = re.compile(
    r"(?:://|['\"`])((?:[\w-]{1,63}\.){1,9}[a-z]{2,24}|localhost|127(?:\.\d{1,3}){3})(?=[:/'\"`?]|$)",
    re.IGNORECASE,
)
#: Calls that write, delete or rename files.
_CHANGES = re.compile(
    r"open\s*\(?[^\n)]{0,200},\s*(?:mode\s*=\s*)?['\"`](?:[rb]?[wax+]|>)|>\s{0,3}(?:['\"]|ENVIRON)|\bwrite|\bappend|\btruncate|"
    r"\bunlink|\bremove|\brmtree|\brmdir|\brename|\breplace\(|\bmove\b|\bcopy|\btouch|\bmkdir|\bsymlink|\bchmod|"
    r"\bdelete(?:Dir|Directory|-file|-directory)?\b|\brm(?:Sync|_r|_rf|dir)?\b|\bfile_put_contents|\bFileUtils|\bspew|"
    r"\bput_contents|^\s*\.(?:out\w*|once|backup|save|clone|excel|log|trace)\b|\\(?:copy|o|out)\b[^\n]{0,200}",
)
_HOME = re.compile(
    r"Path\.home\(\)|expanduser\(|homedir\(\)|Dir\.home|\$?ENV(?:IRON)?[\[{(]['\"]?HOME|environ\[['\"]HOME|getenv\(['\"]HOME"
)
#: A text that may be a path.
_QUOTED = re.compile(r"'([^'\n\0]{1,500})'|\"([^\"\n\0]{1,500})\"|`([^`\n\0]{1,500})`")
_ARGUMENTS = re.compile(r"\bargv\b|\bARGV\b|<>|\bshift\b|Deno\.args")
_MOST_WORDS = 400
_LONGEST = 256 * 1024

Found = tuple[str, str]


def code_in(reading: ShellReading, line: str) -> Iterator[str]:
    """Yield the code of other languages that a line runs."""
    yield from reading.foreign
    for command in reading.commands:
        for code in files_of(command.words).code:
            # `python3 -c 'remove(sys.argv[1])' FILE`: it may do to each of its arguments what it does.
            arguments = command.words[command.words.index(code) + 1 :] if code in command.words else ()
            named = "".join(f'\n"{each}"' for each in arguments) if _ARGUMENTS.search(code) else ""
            yield code + named
        row = any_row(command.words[0])
        if row is not None and row.first == "awk":
            yield max(command.words[1:], key=len, default="")
    if "#include" in line:
        yield line


def changes_files(text: str) -> bool:
    """Return True if code may write, delete or rename a file."""
    return _CHANGES.search(text) is not None


def paths_in(text: str) -> Iterator[str]:
    """Yield the texts in code that look like paths, each as the code puts it together."""
    for found in _QUOTED.finditer(_JOINED.sub("", text)):
        path = found[found.lastindex or 0]
        if ("/" in path or "." in path[:-1]) and " " not in path and "://" not in path:
            yield path


def shown_in(policy: GuardSpec, files: CallFiles, text: str) -> Iterator[Found]:
    """Yield what a guard is about in the text of a program, and what that is."""
    text = _JOINED.sub("", text[:_LONGEST])
    if policy.shows and all(re.search(one, text) for one in policy.shows) and not _is_local(text):
        yield "", policy.code_does
    if not (policy.secrets or policy.outside):
        return
    changes = policy.outside and changes_files(text)
    if policy.secrets:
        for word in _words(text):
            if ("." in word or "/" in word) and (what := files.secret(policy, word)) is not None:
                yield word, f"holds {what}"
    elif changes:
        for word in _words(text):
            if (
                word.startswith(("/", "~/", "../"))
                and not files.leads_nowhere(word)
                and files.is_outside(word)
            ):
                yield word, OUTSIDE
        if (home := _HOME.search(text)) is not None:
            yield home[0], OUTSIDE


def _words(text: str) -> Iterator[str]:
    return (found[0] for found in islice(_WORD.finditer(text), _MOST_WORDS) if "://" not in found[0])


def _is_local(text: str) -> bool:
    """Return True if the text names hosts, and all of them are this machine."""
    hosts = [found[1] for found in islice(_ADDRESS.finditer(text), _MOST_WORDS)]
    named = [host for host in hosts if not host.endswith((".txt", ".json", ".py", ".csv", ".log"))]
    return bool(named) and all(map(is_local, named))
