"""The trust seam: whether a hook may run, and what exactly is run."""

from collections.abc import Callable

from msgspec import Struct

from hookline.model.hook import Hook


class Admission(Struct, frozen=True):
    """Admitted with what to run, or refused. Refusal is a status of the hook, never a failure of it."""

    admitted: bool = True
    reason: str = ""
    #: The very bytes that were vetted, to run in place of whatever stands on disk now.
    script: bytes | None = None


Admit = Callable[[Hook], Admission]

ADMITTED = Admission()


def admit_all(_hook: Hook) -> Admission:
    """Every hook is admitted, as it is configured."""
    return ADMITTED
