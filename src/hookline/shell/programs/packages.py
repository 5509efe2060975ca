"""Read package managers and the tools that run programs of packages."""

from collections.abc import Iterator
from itertools import pairwise

from hookline.shell.found import Found, Inner, Line, Stdin
from hookline.shell.options import OptionSpec
from hookline.shell.placeholders import Words


def npm_ordered(rest: Words, _spec: OptionSpec) -> Words:
    """Accept one dash or more for long options of npm; `@scope:registry=URL` is an option as well."""
    ordered: list[str] = []
    for word in rest:
        if word == "--":
            break
        ordered.append(word)
        bare = word.lstrip("-")
        if word[:1] == "-" and len(bare) > 1 and not word.startswith("--" + bare[:1]):
            ordered.append(f"--{bare}")
        elif word.startswith("--@") or ":registry" in word:
            ordered.append("--registry=")
    return (*ordered, *rest[len([*_until_dashes(rest)]) :])


def _until_dashes(rest: Words) -> Iterator[str]:
    for word in rest:
        if word == "--":
            return
        yield word


_NPM_PROGRAMS = frozenset(("script-shell", "shell", "editor", "git", "viewer", "browser"))


def npm_setting(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read `KEY VALUE` and `KEY=VALUE`: programs that every later call starts."""
    words = [word for word in rest if not word.startswith("-")]
    pairs = [word.split("=", 1) for word in words if "=" in word] or [words]
    yield from (Inner((pair[1],)) for pair in pairs if len(pair) > 1 and pair[0] in _NPM_PROGRAMS)


def script_setting(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Read `scripts.NAME=LINE`, `scripts.NAME LINE` and `NAME LINE`: a script of the project, which later calls run."""
    words = [word for word in rest if not word.startswith("-")]
    for word, after in pairwise((*words, "")):
        name, _, value = word.partition("=")
        if name.startswith("scripts."):
            yield Line(value or after)
    if len(words) == 2 and not {"=", "."} & set(words[0]):
        yield Line(words[1])
