"""asyncio, imported when it is first used: a call whose hooks all end in their first step needs no event loop.

Importing asyncio takes a third of the time of such a call. In annotations that are evaluated its names are quoted.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
else:

    class _LateModule:
        """Looks like the module. What was asked for once costs no more than a name of the module itself."""

        def __getattr__(self, name: str) -> Any:
            import asyncio as module  # noqa: PLC0415 that is what this is for

            value = getattr(module, name)
            setattr(self, name, value)
            return value

    asyncio = _LateModule()

__all__ = ["asyncio"]
