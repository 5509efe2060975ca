"""What a reload would change for a session that is running: guards that go, and things that would run."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hookline.config.sessions import guard_identity, is_guard
from hookline.config.trust.trust import only_tightens
from hookline.model.hook import Hook


class Changes(Struct, frozen=True, eq=False):
    """What the user has to agree to. A change that only tightens is not among it."""

    #: Guards that are gone, off or changed.
    gone: tuple[Hook, ...] = ()
    #: Hooks that run something, and did not before.
    new: tuple[Hook, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gone or self.new)

    def lines(self) -> Iterator[str]:
        """One for each hook, not safe to print."""
        new = {_called(hook) for hook in self.new}
        gone = {_called(hook) for hook in self.gone}
        for hook in self.gone:
            what = "changed" if _called(hook) in new else "gone"
            yield f"guard {what}: {hook.policy.event_name} {hook.name} ({hook.where})"
        for hook in self.new:
            what = "changed to" if _called(hook) in gone else "new"
            yield f"{what}: {hook.policy.event_name} {hook.name} ({hook.where}): {runs(hook)}"


def changes(before: Sequence[Hook], after: Sequence[Hook]) -> Changes:
    there = {_identity(hook) for hook in after if is_guard(hook)}
    ran = {_identity(hook) for hook in before if hook.mode != "off"}
    return Changes(
        tuple(hook for hook in before if is_guard(hook) and _identity(hook) not in there),
        tuple(
            hook
            for hook in after
            if hook.mode != "off" and not only_tightens(hook) and _identity(hook) not in ran
        ),
    )


def runs(hook: Hook) -> str:
    """The command, the address, the question or the tool."""
    spec = hook.spec
    for name in ("command", "url", "prompt", "tool", "name"):
        if text := getattr(spec, name, None):
            return " ".join([str(text), *(getattr(spec, "args", None) or ())])
    return hook.kind


def _identity(hook: Hook) -> str:
    # Scripts are compared when a hook starts, not here: a reload does not change them.
    return guard_identity(hook, {})


def _called(hook: Hook) -> tuple[str, str, str]:
    return hook.where.file, hook.policy.event_name, hook.name
