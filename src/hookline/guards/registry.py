"""The guards by their names. The tables of each are loaded when it is named."""

from importlib import import_module

from hookline.guards import MODULES
from hookline.guards.policy import Policy


def policy_of(name: str) -> Policy:
    module = import_module(f"hookline.guards.tables.{MODULES[name]}")
    return getattr(module, name.upper().replace("-", "_"))


def unknown_name(name: str) -> str:
    from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

    close = nearest(name, MODULES)
    return f"no guard is called {name!r}; " + (
        f"did you mean {close!r}?" if close else f"there are {', '.join(MODULES)}"
    )
