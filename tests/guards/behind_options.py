"""Acts that guards are about, behind each option of their programs, known and unknown."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hookline.guards import GUARD_NAMES
from hookline.guards.rows import program_names
from hookline.guards.spec import policy_of
from hookline.shell.programs import table
from tests.guards.test_lines import bash, decision, entries

#: What a program is given here that no row knows: with a value, without one, and as a letter.
UNKNOWN = ("--zz-unknown zz", "--zz-unknown", "-%")
_SHELL = "-n --help --version"
#: With these a program only shows, checks or listens, or takes the action's words as values.
HARMLESS = {
    "bash": _SHELL,
    "cp": "-t --target-directory -s",
    "docker": "--version",
    "fdisk": "-l -x --list --list-details -V -h",
    "grep": "-q --quiet --silent",
    "install": "-t --target-directory",
    "jq": "--arg --argjson --args --jsonargs",
    "ln": "-s --symbolic",
    "mktemp": "-u -t --dry-run",
    "nc": "-l -z -h",
    "ncat": "-l -z -h --listen --recv-only",
    "npm": "--dry-run -v --usage",
    "parted": "-l -v --list --version",
    "rclone": "-n --dry-run",
    "rg": "-q --quiet",
    "rsync": "-n --dry-run",
    "sfdisk": "-l -d -V -J -F --list --dump --verify --json",
    "sgdisk": "-P --pretend",
    "sh": _SHELL,
    "su": "-h -V",
    "wipefs": "-n --no-act",
}


class Asked(NamedTuple):
    guard: str
    line: str
    program: str
    option: str

    @property
    def is_silent(self) -> bool:
        return decision(self.guard, bash(self.line)) is None

    @property
    def may_be_silent(self) -> bool:
        return self.option in HARMLESS.get(self.program, "").split()


def asked() -> Iterator[Asked]:
    """Every line that a guard catches, as a plain command, with one option more before its words."""
    for guard in GUARD_NAMES:
        for line in dict.fromkeys(_caught(guard)):
            program, _, rest = line.partition(" ")
            name = next((name for name in program_names(program) if name in table()), "")
            row = table().get(name)
            # Behind an option the first word of tar is not a bundle of letters; `trap` refuses options.
            if row is None or name == "trap" or (name == "tar" and rest[0] != "-"):
                continue
            words = [
                (word.name, f"{word.name} zz" if word.takes == ":" else word.name)
                for word in row.words.values()
            ]
            for option, given in (*words, *((given, given) for given in UNKNOWN)):
                yield Asked(guard, f"{program} {given} {rest}", name, option)


def _caught(guard: str) -> Iterator[str]:
    policy = policy_of(guard)
    lines = [*(row.example for row in policy.rows if not row.part), *policy.catches]
    if guard != "self-protection":
        lines += [entry.text for entry in entries(guard) if entry.expected == "catches" and not entry.args]
    for line in lines:
        if (
            re.fullmatch(r"[^|;&<>$`(){}\n=]+ [^|;&<>$`(){}\n=]+", line)
            and decision(guard, bash(line)) is not None
        ):
            yield line
