"""A program at one point of one way through it, and how it ended."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.convert.proof.values import NOTHING, PAYLOAD, UNKNOWN, Texts, Value, either

#: Exit statuses: 3 stands for all others.
Statuses = frozenset[int]
SUCCESS: Final[Statuses] = frozenset((0,))
ANY: Final[Statuses] = frozenset((0, 1, 2, 3))
#: Ways through a program that are told apart.
_MOST_WAYS: Final = 48
_MOST_STEPS: Final = 20_000


class State(Struct, frozen=True):
    #: What it has written so far to standard output and standard error.
    out: Texts = NOTHING
    err: Texts = NOTHING
    #: Whether what it has written to standard output has the payload in it.
    out_whole: bool = False
    stdin: Value = PAYLOAD
    #: Of what it did last.
    status: Statuses = SUCCESS
    #: What it is leaving: nothing, or what is around it.
    leaves: Literal["", "loop", "function", "program"] = ""
    names: Mapping[str, Any] = MappingProxyType({})
    #: Whether a command that fails ends the program.
    fails: bool = False

    def named(self, name: str, value: Any) -> "State":
        return replace(self, names={**self.names, name: value})


class End(Struct, frozen=True):
    """One way in which a program may end."""

    statuses: Statuses
    out: Texts
    err: Texts


class Unproven(Exception):  # noqa: N818 it is no mistake
    """Why nothing can be said for certain, as the rest of a sentence that begins with "it"."""


class Seen:
    """What all programs of a hook were seen to look at."""

    def __init__(self) -> None:
        #: Fields of the payload; () is the payload as a whole.
        self.fields: set[tuple[str, ...]] = set()
        #: Variables of the environment.
        self.variables: set[str] = set()
        #: Why it matters where it runs; empty if it does not.
        self.place: str = ""
        self._steps = 0

    def step(self) -> None:
        """A program may be written to be followed for ever."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise Unproven("is too long to be read")


def told_apart(states: Iterable[State]) -> list[State]:
    """Ways that do not differ in what is to be known become one."""
    ways: dict[tuple[object, ...], list[State]] = {}
    for state in states:
        key = (state.out, state.err, state.stdin, state.status, state.leaves, state.fails)
        ways.setdefault(key, []).append(state)
    found = [replace(same[0], names=_names(same)) for same in ways.values()]
    if len(found) <= _MOST_WAYS:
        return found
    kinds = dict.fromkeys(state.leaves for state in found)
    return [one([state for state in found if state.leaves == kind]) for kind in kinds]


def one(states: list[State]) -> State:
    """All of these at once."""
    first = states[0]
    if len(states) == 1:
        return first
    return State(
        either(Value(state.out) for state in states).texts,
        either(Value(state.err) for state in states).texts,
        any(state.out_whole for state in states),
        either(state.stdin for state in states),
        frozenset(each for state in states for each in state.status),
        first.leaves,
        _names(states),
        any(state.fails for state in states),
    )


def _names(states: list[State]) -> Mapping[str, Any]:
    """Variables that are not set everywhere may also be what the environment has."""
    first = states[0].names
    if all(state.names is first or state.names == first for state in states):
        return first
    found: dict[str, Any] = {}
    for name in {name for state in states for name in state.names}:
        values = [state.names.get(name, UNSET) for state in states]
        found[name] = _either(values)
    return found


UNSET: Final = Value(UNKNOWN)


def _either(values: list[Any]) -> Any:
    if all(isinstance(each, Value) for each in values):
        return either(values)
    return values[0] if all(each == values[0] for each in values) else UNSET
