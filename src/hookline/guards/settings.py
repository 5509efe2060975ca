"""The options of guards, as they are written in `args`: the same for all of them."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from hookline.guards.policy import Policy
from hookline.model.hook import InDoubt

_IN_DOUBT: tuple[InDoubt, ...] = get_args(InDoubt)

_WORDS = ("deny", "ask", "strict")
_NAMES = ("in_doubt", "with", "without", "allow")


class Settings(NamedTuple):
    """How one guard was configured."""

    answer: Literal["deny", "ask"] = "deny"
    #: None: as the hook says.
    in_doubt: InDoubt | None = None
    #: Parts of the guard that are in force.
    parts: frozenset[str] = frozenset()
    allow: tuple[str, ...] = ()


def read_settings(policy: Policy, args: Sequence[str]) -> Settings:
    """The settings that `args` say. What cannot be read is left out: `problem` tells it when the hook is loaded."""
    answer: Literal["deny", "ask"] = "deny"
    in_doubt: InDoubt | None = None
    parts = set(policy.parts)
    allow: list[str] = []
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
    return Settings(answer, in_doubt, frozenset(parts), tuple(allow))


def problem(policy: Policy, args: Sequence[str]) -> str | None:
    """What is wrong with the options of a guard, if anything is."""
    return next(_problems(policy, args), None)


def _split(arg: str) -> tuple[str, str, str]:
    name, equals, value = arg.partition("=")
    return name.strip(), equals, value.strip()


def _problems(policy: Policy, args: Sequence[str]) -> Iterator[str]:
    names = [name for name in _NAMES if name != "allow" or policy.allows]
    names = [name for name in names if name not in ("with", "without") or policy.more or policy.parts]
    for arg in args:
        name, equals, value = _split(arg)
        known = [f"{each}=" for each in names] + [word for word in _WORDS if word != "strict" or policy.more]
        written = f"{name}=" if equals else name
        if written not in known:
            yield _unknown(f"{policy.name} has no option {written!r}", written, known)
        elif name == "in_doubt" and value not in _IN_DOUBT:
            yield _unknown(f"{policy.name}: in_doubt is {value!r}", value, _IN_DOUBT)
        elif name in ("with", "without"):
            parts = [*policy.more, *policy.parts]
            if value not in parts:
                yield _unknown(f"{policy.name} has no part {value!r}", value, parts)
        elif name == "allow" and not value:
            yield f"{policy.name}: allow= says nothing; it takes a pattern of {policy.allows}"


def _unknown(message: str, word: str, known: Sequence[str]) -> str:
    from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

    close = nearest(word, known)
    return f"{message}; " + (f"did you mean {close!r}?" if close else f"there are {', '.join(known)}")
