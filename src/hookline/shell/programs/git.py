"""Read git and its sub-commands that run programs."""

import re
from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Stdin
from hookline.shell.kinds.settings import settings_of_file
from hookline.shell.options import OptionSpec, read_options
from hookline.shell.placeholders import Words
from hookline.shell.programs import table

_READS = "-l --list --get --get-all --get-regexp --get-urlmatch --unset --unset-all --show-origin --get-color"
_VERBS = frozenset(("set", "get", "unset", "list", "edit", "rename-section", "remove-section", "get-all"))


def _written(rest: Words, spec: OptionSpec) -> str | None:
    """Return `KEY=VALUE` of the setting that `git config` writes; None when it only reads."""
    read = read_options(rest, spec)
    operands = read.operands
    verb = operands[0] if operands and operands[0] in _VERBS and "." not in operands[0] else ""
    if verb in {"get", "list", "unset", "get-all"} or read.has("--get-colorbool", *_READS.split()):
        return None
    named = operands[1:] if verb else operands
    if len(named) < 2 and not verb and not read.has("--add", "--replace-all"):
        return None
    return f"{named[0]}={' '.join(named[1:2])}" if named else None


def config_ordered(rest: Words, spec: OptionSpec) -> Words:
    """Treat a setting that is written like one given by -c."""
    setting = _written(rest, spec)
    return rest if setting is None else (f"--written={setting}", *rest)


def kept_settings(words: Words) -> Iterator[str]:
    """Yield the settings that a command of git stores, and that later commands of the line go by."""
    row = table().get("git")
    operands = read_options(words[1:], row.spec_before_operands).operands if row is not None else ()
    for verb in operands[:1]:
        below = table().get(f"git {verb}")
        if below is None:
            return
        if verb == "config" and (setting := _written(operands[1:], below.spec)) is not None:
            yield setting
        elif verb == "clone" and read_options(operands[1:], below.spec).has("--mirror"):
            yield "remote.origin.mirror=true"


def settings_in(file: str, text: str) -> Iterator[str]:
    """Yield the settings in the text of a file of git."""
    if "/remotes/" in file:
        name = file.rpartition("/")[2]
        yield from (f"remote.{name}.push={push}" for push in re.findall(r"(?m)^Push:\s*(\S+)", text))
        return
    yield from settings_of_file(text)


def gh_clone(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """Pass the words after `--` to git."""
    if "--" in rest:
        yield Inner(("git", "clone", *rest[rest.index("--") + 1 :], *rest[: rest.index("--")]))
