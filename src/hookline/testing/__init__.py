"""Test hooks and agents. The pytest fixture `hooks` needs no agent:

::

    def test_force_push(hooks):
        hooks.load(".")
        said = hooks.tool("Bash", command="cd app && git push --force")
        assert said.denied
        assert said.ran == ["no force push"]

No file of the user is read: only what the test names is loaded, and all of that is trusted.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.testing.hooks import AsyncHooks, Hooks
    from hookline.testing.http import HttpRequest, HttpResponses
    from hookline.testing.recordings import Recorded, recorded
    from hookline.testing.result import Result

__all__ = [
    "AsyncHooks",
    "Hooks",
    "HttpRequest",
    "HttpResponses",
    "Recorded",
    "Result",
    "recorded",
]

# Loaded when first used: pytest imports this package in every run, also where no test needs it.
_HOMES = {
    "hooks": ("AsyncHooks", "Hooks"),
    "http": ("HttpRequest", "HttpResponses"),
    "recordings": ("Recorded", "recorded"),
    "result": ("Result",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module  # noqa: PLC0415 only when a name is first used

            value = getattr(import_module(f"hookline.testing.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'hookline.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
