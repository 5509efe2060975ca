"""Read the files that a line runs, as far as their names show them: scripts, recipes, and settings of git.

Text alone does not show what `sh build.sh` does; the file does. Only the part that the line runs is read: the targets
of a makefile, one script of a package, one alias. Files are read within bounds, only plain ones, and only those that
were changed a short time ago: the agent may have written them, while older ones are the project's own. Settings of git
count whenever they were made. Of past calls only those are read: scripts were others then.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import inf
from time import time
from typing import Any

import msgspec

from hookline.guards.git_settings import (
    GitCall,
    GitFiles,
    GitSetting,
    GitSettings,
    git_call,
    is_alias,
)
from hookline.guards.rows import spellings
from hookline.shell import HOLE, ShellReading
from hookline.shell.options import read_options
from hookline.shell.placeholders import Words
from hookline.shell.programs import ProgramRow, table
from hookline.shell.runs import after_options, may_run_files, program_of

_LONGEST = 64 * 1024
#: In seconds: what was changed before is the project's own.
RECENT = 3600.0
_MOST_FILES = 16
#: Settings of git that are kept, each for a directory and the options of a command.
_MOST_KEPT = 256
_MOST_TARGETS = 200
_IMPORTED = re.compile(r"\b(?:import|from|require|use)\b[\s('\"]{1,4}(?:\./)?(\w{1,99})")
_RUNS_SCRIPT = frozenset(("run", "run-script", "rum", "urn", "exec"))
#: Short names, and the scripts that further sub-commands run.
_SCRIPTS = {"t": "test", "tst": "test", "it": "test", "i": "install", "ci": "install", "add": "install"}
_RULE = re.compile(
    r"(?m)^(?![\t#])([^\n:=#]{1,500}+)::?(?!=)([^\n]{0,2000})((?:\n(?:\t[^\n]*+|[ ]{0,9}+#[^\n]*+|(?=\n)))*+)"
)
_OF_LINE = ("-c", "--config-env")
#: Settings by which a push overwrites what is there.
_PUSHES = frozenset(("push", "mirror"))


class _Package(msgspec.Struct):
    scripts: dict[str, Any] = {}


class RunFiles:
    """The files that lines run, as guards read them: those of calls that are about to be made, or of past ones."""

    def __init__(self, *, past: bool = False) -> None:
        """With `past`, scripts are not read, since they were others then, and settings of git are read once."""
        self._past = past
        self._settings: dict[tuple[str, str, GitCall], GitSettings] = {}

    def of_line(self, reading: ShellReading, directories: Iterable[str], home: str) -> Mapping[str, str]:
        """Return the text of the files that a line runs, from one of these directories, by their names in the line."""
        found: dict[str, str] = {}
        bases = [each for each in directories if each]
        for command in reading.commands:
            for name, text in self._run_by(command.words, bases, home):
                if text and name not in reading.writes and len(found) < _MOST_FILES:
                    found.setdefault(name, text)
        return found

    def _run_by(self, words: Words, bases: Sequence[str], home: str) -> Iterator[tuple[str, str]]:
        if not may_run_files(words):
            return
        words, typed = next(spellings(words)), words
        row = table().get(program_of(words[0]))
        if not self._past:
            if "/" in typed[0]:
                yield from _texts(typed[:1], bases)
            yield from _scripts_of(words, row, bases) if row is not None else ()
        if row is not None and "git" in row.names.split(", "):
            call = git_call(tuple(_at_home(word, home) for word in words[1:]))
            yield from self._by_git(call, bases, home) if call.subcommand else ()

    def _by_git(self, call: GitCall, bases: Sequence[str], home: str) -> Iterator[tuple[str, str]]:
        """Yield the settings that a sub-command of git goes by, as a file of settings, and the hooks that it runs."""
        verb = call.subcommand
        row = table().get(f"git {verb}")
        by_settings = row is None or row.optional or verb == "push"
        if self._past and not by_settings:
            return
        # The line may make the directories that its options name, or go to them: then they are read from here.
        elsewhere = (call,) if call.directories or call.git_dir else ()
        kept: list[GitSetting] = []
        hooks: dict[str, list[str]] = {hook: [] for hook in row.hooks} if row is not None else {}
        for base, one in product(bases, (call._replace(directories=(), git_dir=""), *elsewhere)):
            settings = self._settings_in(base, one, home)
            # The reader follows those of the line itself.
            kept += (each for each in settings.all if _concerns(each, verb) and each.source not in _OF_LINE)
            if verb == "push":
                kept += (each for name in ("origin", *call.rest) for each in settings.old_remote(name))
            if settings.unknown is not None and by_settings:
                # Nobody can tell what it does, so it is judged as the worst that settings could make of it.
                kept.append(GitSetting("remote", "origin", "mirror", "true", ""))
                kept.append(GitSetting("alias", "", verb, "push --mirror", ""))
            for directory in () if self._past else settings.hooks():
                for hook, texts in hooks.items():
                    texts.append(_text(f"{directory}/{hook}", RECENT))
        yield ".git/config", "".join(map(_as_file, dict.fromkeys(kept)))
        for hook, texts in hooks.items():
            yield f".git/hooks/{hook}", "\n".join(filter(None, dict.fromkeys(texts)))

    def _settings_in(self, base: str, call: GitCall, home: str) -> GitSettings:
        key = base, home, call._replace(before=(), subcommand="", rest=())
        known = self._settings.get(key) if self._past else None
        if known is None:
            known = GitSettings(GitFiles("", base, {"HOME": home}), call)
            if self._past:
                if len(self._settings) >= _MOST_KEPT:
                    self._settings.clear()
                self._settings[key] = known
        return known


def _scripts_of(words: Words, row: ProgramRow, bases: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the scripts, recipes and packages that a command runs by the row of its program."""
    if row.first == "script" or row.scripts or row.loads:
        yield from _texts((word for word in words[1:] if word[:1] != "-"), bases)
    if row.loads:
        # `python -m tool`, `python -c 'import tool'`
        after = (new for old, new in pairwise(words) if old == "-m")
        names = (*after, *(name for word in words[1:] for name in _IMPORTED.findall(word[:_LONGEST])))
        yield from _texts((name + end for name in dict.fromkeys(names) for end in row.loads), bases)
    if row.recipes:
        read = read_options(words[1:], row.spec)
        # A file that is given may include the usual one.
        for name, text in _texts((*read.values(*row.recipes_by), *row.recipes), bases):
            yield name, _targets(text, read.operands)
    # A runner runs the program of a package, and none of its scripts.
    if row.package and not row.runner:
        for name, text in _texts((row.package,), bases):
            yield name, _script(text, after_options(words))


def _at_home(word: str, home: str) -> str:
    return home + word[1:] if word.startswith("~/") else word


def _texts(names: Iterable[str], bases: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name, base in product(names, bases):
        if (
            name
            and HOLE not in name
            and (text := _text(os.path.join(base, os.path.expanduser(name)), RECENT))
        ):
            yield name, text


def _text(path: str, recent: float = inf) -> str:
    """Return the beginning of a file; nothing where it is no text, not there, or older."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        found = os.fstat(file)
        # Nobody but the system sets this time.
        fits = stat.S_ISREG(found.st_mode) and found.st_ctime >= time() - recent
        content = os.read(file, _LONGEST) if fits else b""
    except OSError:
        return ""
    finally:
        os.close(file)
    return "" if b"\0" in content else content.decode("utf-8", "replace")


def _targets(text: str, wanted: Sequence[str]) -> str:
    """Return a makefile with the recipes that are run alone: those of these targets, or of the first, and of all that
    they need."""
    rules = [*_RULE.finditer(text)]
    named = [{*rule[1].split()} for rule in rules]
    needed = [word for word in wanted if "=" not in word]
    if not needed:
        firsts = (sorted(names) for names in named if not all(one[:1] == "." for one in names))
        needed += next(firsts, ())
    by_name: dict[str, list[int]] = {}
    for at, names in enumerate(named):
        for name in names:
            by_name.setdefault("%" if "%" in name else name, []).append(at)
    kept: set[int] = set()
    for target in needed:
        for at in (at for at in (*by_name.get(target, ()), *by_name.get("%", ())) if at not in kept):
            kept.add(at)
            # A recipe may make another target by `$(MAKE) x`.
            rule = rules[at]
            needed += (rule[2] + (rule[3] if "MAKE" in rule[3] else "")).split()[
                : _MOST_TARGETS - len(needed)
            ]
    parts: list[str] = []
    done = 0
    for at, rule in enumerate(rules):
        if at not in kept:
            parts.append(text[done : rule.start()])
            done = rule.end()
    return "".join((*parts, text[done:]))


def _script(text: str, operands: Words) -> str:
    """Return a package with the scripts alone that a sub-command runs: `npm run x`, `npm test`."""
    try:
        scripts = msgspec.json.decode(text, type=_Package).scripts
    except msgspec.DecodeError:
        return ""
    named = operands[1:2] if operands and operands[0] in _RUNS_SCRIPT else operands[:1]
    names = [f"{before}{_SCRIPTS.get(name, name)}" for name in named for before in ("pre", "", "post")]
    kept = {name: scripts[name] for name in names if name in scripts}
    return msgspec.json.encode(_Package(kept)).decode() if kept else ""


def _concerns(setting: GitSetting, verb: str) -> bool:
    if setting.section == "remote":
        return verb == "push" and setting.name in _PUSHES
    return is_alias(setting, verb)


def _as_file(setting: GitSetting) -> str:
    heading = f"{setting.section} {_quoted(setting.subsection)}" if setting.subsection else setting.section
    return f"[{heading}]\n{setting.name} = {_quoted(setting.value)}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
