"""Acts that guards are about, behind each option of their programs, known and unknown."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hookline.guards import GUARD_NAMES
from hookline.guards.rows import program_names
from hookline.guards.spec import policy_of
from hookline.shell.programs import table
from hookline.shell.programs.row import Word
from tests.guards.test_lines import bash, decision, entries

#: What a program is given here that no row knows: with a value, without one, and as a letter.
UNKNOWN = ("--zz-unknown zz", "--zz-unknown", "-%")
_SHELL = "-n --help --version"
#: With these a program only shows, checks or listens, or takes the action's words as values.
HARMLESS = {
    "bash": _SHELL,
    "cp": "-t --target-directory -s --symbolic-link",
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
    "zgrep": "-q --quiet --silent",
}

#: Guards about files, the signs of options that they are about, and a file that each of them stops.
_FILE_SIGNS = {
    "secrets-read": ("<^", "/home/ada/.ssh/id_rsa", "with=load"),
    "write-outside-project": (">+", "/home/ada/other/f"),
}


#: Options whose file is not written without another one, or is used and not shown.
USED = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), "-C --directory"),
    "openssl *": "-inkey -key -CAkey -sign",
}


class Asked(NamedTuple):
    guard: str
    line: str
    program: str
    option: str
    args: tuple[str, ...] = ()
    #: It is about the file that is the option's value.
    of_file: bool = False

    @property
    def is_silent(self) -> bool:
        return decision(self.guard, bash(self.line), *self.args) is None

    @property
    def may_be_silent(self) -> bool:
        known = USED if self.of_file else HARMLESS
        return self.option in known.get(self.program, "").split()


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


def asked_of_files() -> Iterator[Asked]:
    """Every option whose value is a file, with a file that a guard is about."""
    for name in table():
        row = table().get(name)
        for word in row.words.values() if row is not None else ():
            for guard, (signs, file, *args) in _FILE_SIGNS.items():
                if word.takes and "~" not in word.sign and not set(signs).isdisjoint(word.sign):
                    program = name.replace("*", "zz")
                    for given in _forms(word, file):
                        yield Asked(
                            guard, f"{program} {given} zz", name, word.name, tuple(args), of_file=True
                        )


def _forms(word: Word, file: str) -> Iterator[str]:
    if word.takes == ":::":
        yield f"{word.name} zz {file}"
    if word.takes == ":":
        yield f"{word.name} {file}"
    if word.name.startswith("--"):
        yield f"{word.name}={file}"
    elif word.takes == "::":
        yield f"{word.name}{file}"


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
