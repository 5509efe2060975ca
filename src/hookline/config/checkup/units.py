"""Timeouts in the wrong unit: milliseconds where seconds are counted, and the other way round."""

from collections.abc import Iterator
from typing import Final

from hookline.config.checkup.here import Here, about, agent_of, entries
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic

#: Seconds. A whole number of thousands from here on was meant as milliseconds.
_TOO_LONG: Final = 5000.0
#: Seconds. No program starts and answers in less.
_TOO_SHORT: Final = 0.05


def units(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    """What the readers of the dialects do not say themselves."""
    del here
    for hook in entries(loaded):
        if hook.dialect == "native" and hook.timeout >= _TOO_LONG and hook.timeout % 1000 == 0:
            message = f"timeout counts seconds: {hook.timeout:g} is {hook.timeout / 3600:.1f} hours"
            fix = f"timeout = {hook.timeout / 1000:g}"
            yield about(hook, "error", "timeout-unit", message, "timeout", fix=fix)
        elif hook.dialect != "reasonix" and hook.kind == "command" and hook.timeout < _TOO_SHORT:
            message = f"timeout counts seconds in {agent_of(hook)}: nothing answers in {hook.timeout:g}"
            fix = f"{hook.timeout * 1000:g}, if that is what was meant"
            yield about(hook, "error", "timeout-unit", message, "timeout", fix=fix)
