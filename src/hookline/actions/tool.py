"""Define one tool of an agent, as `declare` makes it, with all facts that never change from call to call."""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from hookline.actions.kinds import KINDS, Category, ToolKind
from hookline.actions.units import SAME, Known, Unit

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Argument(Struct, frozen=True, eq=False):
    """The keys of an argument: the first that has a value is used."""

    keys: tuple[str, ...]
    unit: Unit = SAME
    #: `may`: a list of values may be given; `always`: it is a list. Each is a separate action.
    many: Literal["", "may", "always"] = ""
    #: Paths begin at the project's root, also those with a leading slash.
    below_root: bool = False
    #: The precedence of the keys is unknown: each that has a value is read as a separate action.
    unsure: bool = False


class Edits(Struct, frozen=True, eq=False):
    """Several replacements in one file: a list of objects, which may also come as JSON text."""

    key: str
    #: The arguments of each, as if it were a separate call.
    each: "Tool"
    #: Each is made in what the one before left; otherwise each is made in the original text.
    in_sequence: bool = False


class ToolChoice(Struct, frozen=True, eq=False):
    """A tool that is several: an argument chooses one."""

    key: str
    tools: "Mapping[str, Tool]"
    #: The tool of a call without that argument, or with an unknown value.
    otherwise: "Tool | None" = None


class NestedCalls(Struct, frozen=True, eq=False):
    """A tool that makes other calls."""

    #: The list of calls; empty where the arguments are themselves one call.
    key: str
    name: str
    arguments: str
    #: A prefix that may be before the name of a tool.
    prefix: str = ""
    #: Without arguments it makes no call: it only asks about one.
    optional: bool = False


class ReadRow(NamedTuple):
    """The way one canonical argument is read."""

    name: str
    key: str
    #: Further keys, for a call without the first.
    more: tuple[str, ...]
    #: None where the value is taken as it is.
    unit: Callable[[Any, Known], Any] | None
    is_path: bool
    #: A call in which this cannot be read is not understood.
    needed: bool
    argument: Argument


class WriteRow(NamedTuple):
    """The way one canonical argument is written."""

    key: str
    #: It belongs to the one edit that is written.
    in_edit: bool
    #: The value is written as it is.
    as_it_is: bool
    argument: Argument
    #: If the agent's own terms cannot express it, it is written as it is rather than left out.
    needed: bool


class Tool(Struct, frozen=True, eq=False, dict=True):
    """One tool of an agent."""

    kind: str = ""
    arguments: Mapping[str, Argument] = NOTHING
    #: Own arguments that hooks of the agent always get.
    fixed: Mapping[str, Any] = NOTHING
    #: Canonical arguments that the tool's name implies: only calls with them are translated to it.
    means: Mapping[str, Any] = NOTHING
    #: Facts beside the canonical arguments: a value, or the own argument and its value.
    extra: Mapping[str, bool | tuple[str, Any]] = NOTHING
    #: The directory it runs in, if an argument names it.
    cwd: Argument | None = None
    edits: Edits | None = None
    choice: ToolChoice | None = None
    calls: NestedCalls | None = None
    #: It does what each of these does whose main argument the call has; the first reads a call with none of
    #: them.
    each_of: "tuple[Tool, ...]" = ()
    #: An argument that is a list of objects, each with the arguments of this tool.
    items: "tuple[str, Tool] | None" = None
    #: The argument that is a patch of several files; `unified` is True for a unified diff.
    patch: str = ""
    unified: bool = False
    #: The argument in whose text the addresses are.
    urls_in: str = ""
    #: A line may begin with `apply_patch`, which is a patch too.
    may_patch: bool = False
    #: Known by its name alone: a call without its main argument is not of this kind.
    guessed: bool = False
    #: The category of its calls, where its kind has none or depends on the call.
    does: Category | None = None
    #: It does less than its kind: its calls are read as that kind, and calls of that kind are not translated
    #: to it.
    narrow: bool = False
    #: Own arguments that give a call more rights, as to leave a sandbox: no hook of another agent sees them.
    widened_by: tuple[str, ...] = ()

    @cached_property
    def of(self) -> ToolKind:
        return KINDS[self.kind]

    @cached_property
    def direct(self) -> bool:
        """True if its arguments directly describe what it does, in one action or in one for each edit."""
        several = any(argument.many for argument in self.arguments.values())
        parts = (self.choice, self.calls, self.items, self.each_of, self.patch, self.urls_in)
        return bool(self.kind) and not (several or any(parts) or self.may_patch or self.guessed)

    @cached_property
    def unsure_keys(self) -> frozenset[str]:
        """Further keys of arguments of unknown precedence."""
        return frozenset(
            key for argument in self.arguments.values() if argument.unsure for key in argument.keys[1:]
        )

    def is_hidden(self, given: Mapping[str, Any]) -> bool:
        """Return True if a key differs from an own one only in case: it is unknown which of the two the tool
        reads."""
        own = self.own_keys
        if own.issuperset(given):
            return False
        return any(key not in own and key.casefold() in self._folded_keys for key in given)

    @cached_property
    def _folded_keys(self) -> frozenset[str]:
        return frozenset(key.casefold() for key in self.own_keys)

    @cached_property
    def names(self) -> Mapping[str, str] | None:
        """The canonical names of its arguments by its own, if only names differ."""
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
        """Facts beside the arguments of every call, if they depend on no argument."""
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
