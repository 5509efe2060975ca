"""Read the options of guards from `args`: the same for all of them."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from hookline.guards.spec import GuardSpec
from hookline.model.hook import InDoubt

_IN_DOUBT: tuple[InDoubt, ...] = get_args(InDoubt)

#: Descriptions of the options, for people.
OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "ask": "Ask the user instead of denying; `deny` is the default.",
        "strict": "All parts of the guard, also those that are off by default.",
        "with=PART": "Switch a part on that is off by default; may be repeated.",
        "without=PART": "Switch a part off; may be repeated.",
        "allow=PATTERN": "Make an exception; may be repeated. For guards over commands it is a pattern of a whole "
        "command as in `Bash(…)` rules, for guards over files a file, a directory or a pattern of paths.",
        "path=PATH": "Stop this file, directory or pattern, too; may be repeated. For `forbid-path`, `secrets-read` "
        "(what is read) and `write-outside-project` (what is written).",
        "host=HOST": "For `forbid-host`: stop calls that name this host or one below it; may be repeated.",
        "command=PATTERN": "Stop this program, or commands that fit this pattern, too; may be repeated. For "
        "`forbid-command` and guards over commands.",
        "read, write": "For `forbid-path`: stop only reading, or only writing and deleting.",
        "code=deny": "Deny code of other languages that names what the guard is about; `ask` is the default.",
        "in_doubt=ask": "What the guard does in doubt: `match`, `ask` or `pass`.",
    }
)
OPTION_WORDS = ("deny", "ask", "strict", "read", "write")
OPTION_NAMES = ("in_doubt", "with", "without", "allow", "path", "host", "command", "code")


class GuardSettings(NamedTuple):
    """The configuration of one guard."""

    answer: Literal["deny", "ask"] = "deny"
    #: None: as the hook says.
    in_doubt: InDoubt | None = None
    #: Active parts of the guard.
    parts: frozenset[str] = frozenset()
    allow: tuple[str, ...] = ()
    #: What it stops beside its table.
    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    #: `read`, `write`: what may not be done with the paths.
    uses: frozenset[str] = frozenset(("read", "write"))
    #: The answer to code of other languages that names what the guard is about.
    code: Literal["deny", "ask"] = "ask"

    @property
    def code_answer(self) -> Literal["deny", "ask"]:
        return self.answer if self.code == "deny" else "ask"

    @property
    def adds(self) -> bool:
        return bool(self.paths or self.hosts or self.commands)


def read_settings(policy: GuardSpec, args: Sequence[str]) -> GuardSettings:
    """Read the settings in `args`. Unreadable ones are left out: `problem` reports them when the hook is
    loaded."""
    answer: Literal["deny", "ask"] = "deny"
    in_doubt: InDoubt | None = None
    parts = set(policy.parts)
    allow: list[str] = []
    added: dict[str, list[str]] = {"path": [], "host": [], "command": []}
    uses = {arg.strip() for arg in args} & {"read", "write"} if policy.uses else set(_uses_of(policy))
    for arg in args:
        name, equals, value = _split(arg)
        if not equals:
            if name in ("deny", "ask"):
                answer = name
            elif name == "strict":
                parts |= set(policy.more)
        elif name == "in_doubt" and value in _IN_DOUBT:
            in_doubt = value
        elif name == "with":
            parts.add(value)
        elif name == "without":
            parts.discard(value)
        elif name == "allow" and value:
            allow.append(value)
        elif name in policy.added_by and value:
            added[name].append(value)
    return GuardSettings(
        answer,
        in_doubt,
        frozenset(parts),
        tuple(allow),
        tuple(added["path"]),
        tuple(added["host"]),
        tuple(added["command"]),
        frozenset(uses or ("read", "write")),
        "deny" if "code=deny" in ["=".join(_split(arg)[::2]) for arg in args] else "ask",
    )


def _uses_of(policy: GuardSpec) -> tuple[str, ...]:
    """Return what a guard over files stops, for the paths that users add."""
    return ("read",) if policy.secrets else ("write",) if policy.outside else ()


def problem(policy: GuardSpec, args: Sequence[str]) -> str | None:
    """Return the error in the options of a guard, or None."""
    return next(_problems(policy, args), None)


def _split(arg: str) -> tuple[str, str, str]:
    name, equals, value = arg.partition("=")
    return name.strip(), equals, value.strip()


def _problems(policy: GuardSpec, args: Sequence[str]) -> Iterator[str]:
    names = [name for name in OPTION_NAMES if name != "allow" or policy.allows]
    names = [name for name in names if name not in ("with", "without") or policy.more or policy.parts]
    names = [name for name in names if name not in ("path", "host", "command") or name in policy.added_by]
    names = [name for name in names if name != "code" or policy.judges_code]
    for arg in args:
        name, equals, value = _split(arg)
        known = [f"{each}=" for each in names] + [word for word in OPTION_WORDS if _has_word(policy, word)]
        written = f"{name}=" if equals else name
        if written not in known:
            yield _unknown(f"{policy.name} has no option {written!r}", written, known)
        elif name == "in_doubt" and value not in _IN_DOUBT:
            yield _unknown(f"{policy.name}: in_doubt is {value!r}", value, _IN_DOUBT)
        elif name == "code" and value not in ("deny", "ask"):
            yield _unknown(f"{policy.name}: code is {value!r}", value, ("deny", "ask"))
        elif name in ("with", "without"):
            parts = [*policy.more, *policy.parts]
            if value not in parts:
                yield _unknown(f"{policy.name} has no part {value!r}", value, parts)
        elif name == "allow" and not value:
            yield f"{policy.name}: allow= says nothing; it takes a pattern of {policy.allows}"
        elif name in policy.added_by and not value:
            yield f"{policy.name}: {name}= says nothing"
    if policy.tries is not None and not read_settings(policy, args).adds:
        yield f"{policy.name} forbids nothing yet: it needs an option such as {policy.example[0]}"


def _has_word(policy: GuardSpec, word: str) -> bool:
    return bool(policy.more) if word == "strict" else policy.uses if word in ("read", "write") else True


def _unknown(message: str, word: str, known: Sequence[str]) -> str:
    from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

    close = nearest(word, known)
    return f"{message}; " + (f"did you mean {close!r}?" if close else f"there are {', '.join(known)}")
