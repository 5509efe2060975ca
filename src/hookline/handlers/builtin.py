"""Hooks that come with Hookline, by name: a guard needs no process at all."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from hookline.handlers.failures import crashed
from hookline.handlers.specs import BuiltinSpec
from hookline.model.outcome import Outcome
from hookline.model.raw import Broke, RawResult, Returned
from hookline.model.scene import Scene
from hookline.model.wire import Call

#: What a builtin is: the arguments of the entry, the payload and the scene in, an outcome out.
Builtin = Callable[[tuple[str, ...], Any, Scene], Outcome | None]


class BuiltinHandler:
    """Runs them on the loop: a builtin must be quick and must not block."""

    kind = "builtin"
    own_clock = False

    def __init__(self, builtins: Mapping[str, Builtin]) -> None:
        self._builtins = builtins

    async def run(self, call: Call) -> RawResult:
        spec: BuiltinSpec = call.hook.spec
        builtin = self._builtins.get(spec.name)
        if builtin is None:
            return Broke("not_started", self.problem(spec) or "")
        try:
            return Returned(builtin(spec.args, call.payload, _placed(call.scene, spec)))
        except Exception as error:  # noqa: BLE001 - a host may bring builtins of its own
            return crashed(error)

    def problem(self, spec: Any) -> str | None:
        if spec.name in self._builtins:
            return None
        from difflib import get_close_matches  # noqa: PLC0415 - only needed to explain a mistake

        name: str = spec.name
        nearest = get_close_matches(name, self._builtins, n=1)
        known = ", ".join(sorted(self._builtins))
        return f"no builtin is called {name!r}; " + (
            f"did you mean {nearest[0]!r}?" if nearest else f"there are {known}"
        )

    async def close(self) -> None:
        """Nothing is held."""


def _placed(scene: Scene, spec: BuiltinSpec) -> Scene:
    if spec.cwd is not None:
        scene = replace(scene, cwd=os.path.join(scene.cwd, os.path.expanduser(spec.cwd)))
    return replace(scene, extra={**(scene.extra or {}), "env": spec.env}) if spec.env else scene
