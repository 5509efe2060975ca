"""Hooks that are commands: JSON on stdin, an exit code and text back."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from hookline.handlers.environment import by_dialect
from hookline.handlers.failures import described
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.spawn import SCRIPT
from hookline.handlers.specs import CommandSpec
from hookline.model.hook import Hook
from hookline.model.raw import Broke, Exited, RawResult
from hookline.model.wire import Call, Encoded

Environment = Callable[[Mapping[str, str], Hook, Mapping[str, str]], Mapping[str, str] | Broke]

_POWERSHELL: Final = ("pwsh", "-NoProfile", "-Command")

#: What a command line is given to. The standard shell is never looked up: PATH may be anybody's.
SHELLS: Final[Mapping[str, tuple[str, ...]]] = {
    "sh": ("/bin/sh", "-c"),
    "bash": ("bash", "-c"),
    "powershell": _POWERSHELL,
    "pwsh": _POWERSHELL,
}


class CommandHandler:
    kind = "command"
    own_clock = True

    def __init__(
        self,
        processes: Processes,
        base_env: Mapping[str, str] | None = None,
        environment: Environment = by_dialect,
        close_within: float = 1.5,
    ) -> None:
        self._processes = processes
        self._base = dict(os.environ if base_env is None else base_env)
        self._environment = environment
        self._close_within = close_within

    async def run(self, call: Call) -> RawResult:
        spec: CommandSpec = call.hook.spec
        argv = _argv(spec, from_bytes=call.script is not None)
        if isinstance(argv, Broke):
            return argv
        cwd = _cwd(spec, call)
        if isinstance(cwd, Broke):
            return cwd
        env = self._environment(self._base, call.hook, spec.env)
        if isinstance(env, Broke):
            return env
        encoded = _encoded(call)
        if isinstance(encoded, Broke):
            return encoded
        result = await self._processes.run(
            argv,
            stdin=encoded.document,
            env={**env, **encoded.env, **spec.env},
            cwd=cwd,
            timeout=call.timeout,
            run_id=call.run_id,
            leftovers=call.hook.policy.leftovers,
            on_line=call.on_line,
            may_detach=call.hook.waiting == "wait" and call.hook.policy.may_detach,
            script=call.script,
        )
        captures = call.hook.policy.captures
        return result if captures is None else _kept(result, captures)

    def problem(self, spec: Any) -> str | None:
        """Only what can never work; whether a program exists is known when it is started."""
        if not isinstance(spec, CommandSpec):
            return "a command hook needs a command"
        if not spec.command.strip():
            return "the command is empty"
        argv = _argv(spec, from_bytes=False)
        return argv.detail if isinstance(argv, Broke) else None

    async def close(self) -> None:
        await self._processes.close(self._close_within)


def _argv(spec: CommandSpec, *, from_bytes: bool) -> list[str] | Broke:
    if spec.args is not None:
        return [SCRIPT if from_bytes else spec.command, *spec.args]
    shell = SHELLS.get(spec.shell or "sh")
    if shell is None:
        return Broke("not_started", f"there is no shell {spec.shell!r}; known are {', '.join(SHELLS)}")
    if not from_bytes:
        return [*shell, spec.command]
    if shell is _POWERSHELL:
        return Broke("not_started", "PowerShell cannot run a script from memory")
    return [shell[0], SCRIPT]


def _cwd(spec: CommandSpec, call: Call) -> str | Broke:
    base = call.scene.cwd
    if spec.cwd is None and base.startswith("/"):
        return base
    own = os.path.expanduser(spec.cwd or "")
    try:
        return os.path.join(os.path.abspath(os.path.expanduser(base)) if base else os.getcwd(), own)
    except OSError as error:
        return Broke("not_started", f"the working directory of this program is gone: {error.strerror}")


def _kept(result: RawResult, captures: int) -> RawResult:
    """The result with as much of each stream as the hook's own agent keeps."""
    if not isinstance(result, Exited | Broke) or max(len(result.stdout), len(result.stderr)) <= captures:
        return result
    return replace(result, stdout=result.stdout[:captures], stderr=result.stderr[:captures], truncated=True)


def _encoded(call: Call) -> Encoded | Broke:
    try:
        return call.encoded()
    except Exception as error:  # noqa: BLE001 - a host's own payload can fail in any way when it is encoded
        return Broke("not_started", f"the payload cannot be encoded: {described(error)}")
