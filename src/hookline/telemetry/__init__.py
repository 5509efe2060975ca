"""Spans and metrics by OpenTelemetry, in one vocabulary for the hooks of all agents.

`vocabulary` has the names as data, `observer` turns an engine's notifications into spans and metrics, `setup`
sends them where the environment says. For a program that has OpenTelemetry already::

from hookline.telemetry import Telemetry

engine = Engine(observer=Telemetry())
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.telemetry.observer import Telemetry

__all__ = ["Telemetry"]


def __getattr__(name: str) -> Any:
    """Load the packages of OpenTelemetry on first use."""
    if name == "Telemetry":
        from hookline.telemetry.observer import Telemetry  # noqa: PLC0415 see above

        return Telemetry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
