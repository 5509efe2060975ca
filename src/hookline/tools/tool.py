"""One tool of an agent, as `declare` makes it, and what of it never changes from call to call."""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from hookline.tools.kinds import KINDS, Kind
from hookline.tools.units import SAME, Known, Unit

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Argument(Struct, frozen=True, eq=False):
    """Where an argument is: the first of these keys that has a value."""

    keys: tuple[str, ...]
    unit: Unit = SAME
    #: Whether a list of values may be given, or always is: each is an act of its own.
    many: Literal["", "may", "always"] = ""
    #: Paths begin at the project's root, also those with a leading slash.
    below_root: bool = False
    #: It is not known which of the keys counts: each that has a value is read as an act of its own.
    unsure: bool = False


class Edits(Struct, frozen=True, eq=False):
    """Several replacements in one file: a list of objects, which may also come as JSON text."""

    key: str
    #: The arguments of each, as if it were a call of its own.
    each: "Tool"
    #: Each is made in what the one before left; otherwise each is made in the original text.
    in_sequence: bool = False


class Choice(Struct, frozen=True, eq=False):
    """A tool that is several: an argument says which."""

    key: str
    tools: "Mapping[str, Tool]"
    #: What a call without that argument is, or with a value that is not known.
    otherwise: "Tool | None" = None


class Calls(Struct, frozen=True, eq=False):
    """A tool that makes other calls."""

    #: The list of calls; empty where the arguments are themselves one call.
    key: str
    name: str
    arguments: str
    #: What may be before the name of a tool.
    prefix: str = ""
    #: Without arguments it makes no call: it only asks about one.
    optional: bool = False


class ReadRow(NamedTuple):
    """How one canonical argument is read."""

    name: str
    key: str
    #: Further keys, for a call without the first.
    more: tuple[str, ...]
    #: None where the value is taken as it is.
    unit: Callable[[Any, Known], Any] | None
    is_path: bool
    #: Nothing can be said about a call in which this cannot be read.
    needed: bool
    argument: Argument


class WriteRow(NamedTuple):
    """How one canonical argument is told."""

    key: str
    #: It belongs to the one edit that is told.
    in_edit: bool
    #: The value is told as it is.
    as_it_is: bool
    argument: Argument
    #: If it cannot be said in the agent's own terms, it is told as it is rather than not at all.
    needed: bool


class Tool(Struct, frozen=True, eq=False, dict=True):
    """One tool of an agent."""

    kind: str = ""
    arguments: Mapping[str, Argument] = NOTHING
    #: Own arguments that hooks of the agent are always told.
    fixed: Mapping[str, Any] = NOTHING
    #: Canonical arguments that the tool's name stands for: it is told only calls that have them.
    means: Mapping[str, Any] = NOTHING
    #: What is true beside the canonical arguments: a value, or the own argument and the value that say so.
    extra: Mapping[str, bool | tuple[str, Any]] = NOTHING
    #: The directory it runs in, if an argument says so.
    cwd: Argument | None = None
    edits: Edits | None = None
    choice: Choice | None = None
    calls: Calls | None = None
    #: It does what each of these does whose main argument the call has; the first reads a call with none of them.
    each_of: "tuple[Tool, ...]" = ()
    #: An argument that is a list of objects, each with the arguments of this tool.
    items: "tuple[str, Tool] | None" = None
    #: The argument that is a patch of several files, and whether it is a unified diff.
    patch: str = ""
    unified: bool = False
    #: The argument in whose text the addresses are.
    urls_in: str = ""
    #: A line may begin with `apply_patch`, which is a patch too.
    may_patch: bool = False
    #: Known by its name alone: a call without its main argument is not of this kind.
    guessed: bool = False
    #: It does less than its kind: its calls are read as that kind, and calls of that kind are not told as it.
    narrow: bool = False
    #: Own arguments that give a call more rights, as to leave a sandbox: no hook of another agent is told them.
    widened_by: tuple[str, ...] = ()

    @cached_property
    def of(self) -> Kind:
        return KINDS[self.kind]

    @cached_property
    def direct(self) -> bool:
        """Whether its arguments say directly what it does, in one act or in one for each edit."""
        several = any(argument.many for argument in self.arguments.values())
        parts = (self.choice, self.calls, self.items, self.each_of, self.patch, self.urls_in)
        return bool(self.kind) and not (several or any(parts) or self.may_patch or self.guessed)

    @cached_property
    def unsure_keys(self) -> frozenset[str]:
        """Further keys of arguments of which it is not known which key counts."""
        return frozenset(
            key for argument in self.arguments.values() if argument.unsure for key in argument.keys[1:]
        )

    def is_hidden(self, given: Mapping[str, Any]) -> bool:
        """Whether a key differs from an own one in its case alone: which of the two counts is the reader's secret."""
        own = self.own_keys
        if own.issuperset(given):
            return False
        return any(key not in own and key.casefold() in self._folded_keys for key in given)

    @cached_property
    def _folded_keys(self) -> frozenset[str]:
        return frozenset(key.casefold() for key in self.own_keys)

    @cached_property
    def names(self) -> Mapping[str, str] | None:
        """The canonical names of its arguments by its own, if names are all that differs."""
        if self.means or any(
            len(argument.keys) > 1 or not _as_it_is(argument) for argument in self.arguments.values()
        ):
            return None
        return {argument.keys[0]: name for name, argument in self.arguments.items()}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The canonical arguments that are paths, of those it has."""
        return tuple(name for name in self.of.paths if name in self.arguments)

    @cached_property
    def reads(self) -> tuple[ReadRow, ...]:
        kind = self.of
        return tuple(
            ReadRow(
                name,
                argument.keys[0],
                argument.keys[1:],
                None if argument.unit is SAME else argument.unit.read,
                name in kind.paths,
                name in kind.paths or name == kind.needs,
                argument,
            )
            for name, argument in self.arguments.items()
        )

    @cached_property
    def writes(self) -> Mapping[str, WriteRow]:
        kind, inner = self.of, self.edits.each.arguments if self.edits is not None else NOTHING
        return {
            name: WriteRow(
                argument.keys[0],
                name in inner,
                _as_it_is(argument) or (argument.unit is SAME and argument.many == "may"),
                argument,
                name in kind.paths or name == kind.needs,
            )
            for name, argument in {**self.arguments, **inner}.items()
        }

    @cached_property
    def always(self) -> Mapping[str, bool] | None:
        """What is true beside the arguments of every call, if no argument says so."""
        found = {name: value for name, value in self.extra.items() if isinstance(value, bool)}
        return found if len(found) == len(self.extra) else None

    @cached_property
    def own_keys(self) -> frozenset[str]:
        """Every own argument that a call may have."""
        found = {key for argument in self.arguments.values() for key in argument.keys}
        found.update(self.fixed, self.cwd.keys if self.cwd is not None else ())
        found.update(value[0] for value in self.extra.values() if isinstance(value, tuple))
        found.update(key for key in (self.patch, self.urls_in) if key)
        for inner in (*self.each_of, *(self.choice.tools.values() if self.choice is not None else ())):
            found |= inner.own_keys
        if self.choice is not None:
            found.add(self.choice.key)
        if self.edits is not None:
            found.add(self.edits.key)
        if self.items is not None:
            found.add(self.items[0])
        if self.calls is not None:
            found.update((self.calls.key,) if self.calls.key else (self.calls.name, self.calls.arguments))
        return frozenset(found)


def _as_it_is(argument: Argument) -> bool:
    return argument.unit is SAME and not argument.many and not argument.below_root
