"""Read the files that a line runs, as far as their names show them: scripts, recipes, and settings of git.

Text alone does not show what `sh build.sh` does; the file does. Only the part that the line runs is read: the targets
of a makefile, one script of a package, one alias. Files are read within bounds, only plain ones, and only those that
were changed a short time ago: the agent may have written them, while older ones are the project's own. Settings of git
count whenever they were made.
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

from hookline.shell import HOLE, ShellReading
from hookline.shell.kinds.settings import settings_of_file
from hookline.shell.placeholders import Words
from hookline.shell.runs import after_options, program_of

_LONGEST = 64 * 1024
#: In seconds: what was changed before is the project's own.
RECENT = 3600.0
_MOST_FILES = 16
_MOST_TARGETS = 200
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", ".", "source"))
#: Interpreters, and how the files end that they run by the name of a module.
_INTERPRETERS = {
    **dict.fromkeys(("python", "pypy", "pytest"), ".py"),
    **dict.fromkeys(("node", "bun", "deno", "tsx", "ts-node"), ".js"),
    "perl": ".pm",
    "ruby": ".rb",
    "php": ".php",
    "lua": ".lua",
    "tclsh": ".tcl",
}
_IMPORTED = re.compile(r"\b(?:import|from|require|use)\b[\s('\"]{1,4}(?:\./)?(\w{1,99})")
_MAKE = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    "just": ("justfile", "Justfile", ".justfile"),
}
_PACKAGES = dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "package.json") | {"composer": "composer.json"}
_RUNS_SCRIPT = frozenset(("run", "run-script", "rum", "urn", "exec"))
#: Short names, and the scripts that further sub-commands run.
_SCRIPTS = {"t": "test", "tst": "test", "it": "test", "i": "install", "ci": "install", "add": "install"}
_RULE = re.compile(
    r"(?m)^(?![\t#])([^\n:=#]{1,500}+)::?(?!=)([^\n]{0,2000})((?:\n(?:\t[^\n]*+|[ ]{0,9}+#[^\n]*+|(?=\n)))*+)"
)
#: The hooks that a sub-command of git runs.
_HOOKS = {
    "commit": "pre-commit prepare-commit-msg commit-msg post-commit post-rewrite",
    "push": "pre-push",
    "merge": "pre-merge-commit commit-msg post-merge",
    "pull": "post-merge post-checkout post-rewrite",
    "checkout": "post-checkout",
    "switch": "post-checkout",
    "clone": "post-checkout",
    "rebase": "pre-rebase post-rewrite post-checkout",
    "am": "applypatch-msg pre-applypatch post-applypatch",
    "cherry-pick": "pre-commit prepare-commit-msg post-commit",
    "revert": "pre-commit prepare-commit-msg post-commit",
}
#: Settings by which a push overwrites what is there.
_PUSHES = re.compile(r"remote\..*\.(?:push|mirror)=", re.IGNORECASE)


class _Package(msgspec.Struct):
    scripts: dict[str, Any] = {}


def files_run(reading: ShellReading, directories: Iterable[str], home: str) -> Mapping[str, str]:
    """Return the text of the files that a line runs, from one of these directories, by their names in the line."""
    found: dict[str, str] = {}
    bases = [each for each in directories if each]
    for command in reading.commands:
        for name, text in _run_by(command.words, bases, home):
            if text and name not in reading.writes and len(found) < _MOST_FILES:
                found.setdefault(name, text)
    return found


def _run_by(words: Words, bases: Sequence[str], home: str) -> Iterator[tuple[str, str]]:
    program = program_of(words[0])
    if "/" in words[0]:
        yield from _texts(words[:1], bases)
    if program in _SHELLS or program in _INTERPRETERS:
        yield from _texts((word for word in words[1:] if word[:1] != "-"), bases)
    if program in _INTERPRETERS:
        # `python -m tool`, `python -c 'import tool'`
        after = (new for old, new in pairwise(words) if old == "-m")
        names = (*after, *(name for word in words[1:] for name in _IMPORTED.findall(word[:_LONGEST])))
        yield from _texts((name + _INTERPRETERS[program] for name in dict.fromkeys(names)), bases)
    if program in _MAKE:
        given = [new for old, new in pairwise(words) if old in {"-f", "--file", "--makefile"}]
        for name, text in _texts(given or _MAKE[program], bases):
            yield name, _targets(text, [word for word in words[1:] if word[:1] != "-" and word not in given])
    if program in _PACKAGES:
        for name, text in _texts((_PACKAGES[program],), bases):
            yield name, _script(text, after_options(words))
    if program == "git" and (verb := next(iter(after_options(words)), "")):
        yield from _by_git(verb, bases, home)


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


def _by_git(verb: str, bases: Sequence[str], home: str) -> Iterator[tuple[str, str]]:
    """Yield the settings that a sub-command of git goes by, as a file of settings, and the hooks that it runs."""
    for base in bases:
        directory = _git_directory(base)
        kept = [
            setting
            for path in (f"{directory}/config", f"{home}/.gitconfig", f"{home}/.config/git/config")
            for setting in settings_of_file(_text(path))
            if setting.casefold().startswith((f"alias.{verb.casefold()}=", "core.hookspath="))
            or (verb == "push" and _PUSHES.match(setting))
        ]
        named = (one.partition("=")[2] for one in kept if one.casefold().startswith("core.hookspath="))
        # It is read from where the files of the repository are.
        hooks = os.path.join(
            os.path.dirname(directory), os.path.expanduser(next(named, f"{directory}/hooks"))
        )
        settings = "".join(_as_file(one) for one in kept if not one.casefold().startswith("core."))
        if settings:
            yield ".git/config", settings
        for hook in _HOOKS.get(verb, "").split() if directory else ():
            yield f".git/hooks/{hook}", _text(f"{hooks}/{hook}", RECENT)


def _as_file(setting: str) -> str:
    key, _, value = setting.partition("=")
    section, _, rest = key.partition(".")
    name, _, last = rest.rpartition(".")
    return f'[{section} "{name}"]\n{last} = {value}\n' if name else f"[{section}]\n{last} = {value}\n"


def _git_directory(base: str) -> str:
    """Return the directory of the repository that a directory is in."""
    while base and os.path.isabs(base):
        if os.path.isfile(f"{base}/.git/config"):
            return f"{base}/.git"
        if os.path.isfile(f"{base}/.git"):
            # A linked worktree, or a submodule: its settings and hooks are with its repository.
            own = os.path.join(base, _text(f"{base}/.git").removeprefix("gitdir:").strip())
            return os.path.normpath(os.path.join(own, _text(f"{own}/commondir").strip()))
        if os.path.isfile(f"{base}/config") and os.path.isfile(f"{base}/HEAD"):
            return base
        above = os.path.dirname(base)
        base = above if above != base else ""
    return ""
