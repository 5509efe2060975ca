"""What loading a configuration gives: the hooks, where they came from, and everything that is wrong."""

from msgspec import Struct

from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook, Scope


class Found(Struct, frozen=True):
    """A configuration file that is there."""

    file: str
    dialect: str
    scope: Scope
    #: The agent it was written for runs its hooks only once the user has trusted them.
    needs_trust: bool = False
    #: It could not be read as a document at all, so nobody knows what it wanted.
    unreadable: bool = False


class Loaded(Struct, frozen=True):
    """Hooks in the order they run, and the whole story of how they were found."""

    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    found: tuple[Found, ...] = ()
    #: Every place that was looked at.
    looked_for: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")

    @property
    def unreadable(self) -> tuple[str, ...]:
        return tuple(each.file for each in self.found if each.unreadable)

    def __add__(self, other: "Loaded") -> "Loaded":
        return Loaded(
            self.hooks + other.hooks,
            self.diagnostics + other.diagnostics,
            self.found + other.found,
            self.looked_for + other.looked_for,
        )
