"""Offer the recommended guards where Hookline has none."""

from collections.abc import Iterable

from hookline.dialects.registry import OWN_FORMAT
from hookline.model.hook import Hook

OFFER = "No guard of Hookline is here yet: `hookline guard add recommended --user` adds five"


def lacks_guards(hooks: Iterable[Hook]) -> bool:
    """Return True if none of these hooks is a guard of Hookline's own files."""
    return not any(hook.dialect == OWN_FORMAT and hook.event.guard for hook in hooks)
