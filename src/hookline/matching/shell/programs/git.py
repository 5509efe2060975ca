"""git and the sub-commands of it that run programs."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.options import OptionSpec, read_options

_READS = frozenset(
    (
        "-l",
        "--list",
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--unset",
        "--unset-all",
        "--show-origin",
        "--get-color",
        "--get-colorbool",
    )
)
_VERBS = frozenset(("set", "get", "unset", "list", "edit", "rename-section", "remove-section", "get-all"))


def _written(rest: Words, spec: OptionSpec) -> str | None:
    """`KEY=VALUE` of the setting that `git config` writes; None when it only reads."""
    read = read_options(rest, spec)
    operands = read.operands
    verb = operands[0] if operands and operands[0] in _VERBS and "." not in operands[0] else ""
    if verb in {"get", "list", "unset", "get-all"} or read.has(*_READS):
        return None
    named = operands[1:] if verb else operands
    if len(named) < 2 and not verb and not read.has("--add", "--replace-all"):
        return None
    return f"{named[0]}={' '.join(named[1:2])}" if named else None


def config_ordered(rest: Words, spec: OptionSpec) -> Words:
    """A setting that is written is like one given by -c."""
    setting = _written(rest, spec)
    return rest if setting is None else (f"--written={setting}", *rest)


def gh_clone(rest: Words, _stdin: Stdin, _spec: OptionSpec) -> Iterator[Found]:
    """What follows `--` is for git."""
    if "--" in rest:
        yield Inner(("git", "clone", *rest[rest.index("--") + 1 :], *rest[: rest.index("--")]))
