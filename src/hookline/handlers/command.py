"""Run commands as hooks: JSON on stdin, an exit code and text back."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from hookline.handlers.failures import not_encoded
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.spawn import placeholder
from hookline.handlers.specs import NAME_BEGINS, NAME_ENDS, CommandSpec
from hookline.model.hook import Hook, Scope
from hookline.model.raw import Exited, Failed, RawResult
from hookline.model.wire import HookInvocation

#: Makes the command's environment from the engine's, the hook, and the entry's own variables.
Environment = Callable[[Mapping[str, str], Hook, Mapping[str, str]], Mapping[str, str] | Failed]

_POWERSHELL: Final = ("pwsh", "-NoProfile", "-Command")

#: The programs that run a command line. The standard shell is never looked up in PATH: a project may change
#: that.
SHELLS: Final[Mapping[str, tuple[str, ...]]] = {
    "sh": ("/bin/sh", "-c"),
    "bash": ("bash", "-c"),
    "powershell": _POWERSHELL,
    "pwsh": _POWERSHELL,
}

_FROM_REPOSITORIES: Final[frozenset[Scope]] = frozenset(("project", "local"))
_CONFIDENTIAL: Final = r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL"
#: The variables that programs need to run, and that hold no secret.
_NEEDED: Final = re.compile(
    rf"(?!.*(?i:{_CONFIDENTIAL}))"
    r"(?:PATH|HOME|LANG|LC_.*|TMPDIR|USER|LOGNAME|SHELL|TZ|XDG_.*|HOOKLINE_.*)",
    re.DOTALL,
)
#: The same variables for people.
NEEDED: Final = "PATH, HOME, LANG, LC_*, TMPDIR, USER, LOGNAME, SHELL, TZ, XDG_* and HOOKLINE_*"
_SECRET: Final = re.compile(_CONFIDENTIAL, re.IGNORECASE)
_LOADS_CODE: Final = re.compile(r"LD_.*|DYLD_.*|BASH_ENV|ENV|PYTHON.*|NODE_OPTIONS|GIT_.*", re.DOTALL)
_QUIET: Final = {"TERM": "dumb", "NO_COLOR": "1"}


def hook_environment(
    base: Mapping[str, str], hook: Hook, extra: Mapping[str, str]
) -> Mapping[str, str] | Failed:
    """Return the environment of a hook's command: the base environment, as far as its policy allows, and its own."""
    return project_environment(base, extra) if gets_only_needed(hook) else {**base, **extra}


def left_out(base: Mapping[str, str], hook: Hook) -> tuple[str, ...]:
    """Return the variables that a command of this hook does not get; dangerous ones first."""
    if not gets_only_needed(hook):
        return ()
    missing = (name for name in base if not _NEEDED.fullmatch(name) and name not in _QUIET)
    return tuple(
        sorted(missing, key=lambda name: (not _LOADS_CODE.fullmatch(name), not _SECRET.search(name), name))
    )


def gets_only_needed(hook: Hook) -> bool:
    """Return True if the hook is from a repository, and so gets only the variables that programs need to run."""
    return hook.policy.project_env == "minimal" and hook.scope in _FROM_REPOSITORIES


def project_environment(base: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str] | Failed:
    """Return the environment of a command that a repository configures; the repository may have been cloned a
    minute ago.

    It gets the variables programs need to run, without secrets, and it cannot set those that make other
    programs load code.
    """
    refused = [name for name in extra if _LOADS_CODE.fullmatch(name)]
    if refused:
        names = ", ".join(refused)
        return Failed(
            "not_started", f"a project's configuration may not set {names}: it makes programs load code"
        )
    return {**{name: value for name, value in base.items() if _NEEDED.fullmatch(name)}, **_QUIET, **extra}


class CommandHandler:
    kind = "command"
    own_clock = True

    def __init__(
        self,
        processes: Processes,
        base_env: Mapping[str, str] | None = None,
        environment: Environment = hook_environment,
        close_within: float = 1.5,
    ) -> None:
        self._processes = processes
        self._base = dict(os.environ if base_env is None else base_env)
        self._environment = environment
        self._close_within = close_within

    async def run(self, call: HookInvocation) -> RawResult:
        spec: CommandSpec = call.hook.spec
        argv = command_words(spec, tuple(call.files))
        if isinstance(argv, Failed):
            return argv
        cwd = _cwd(spec, call)
        if isinstance(cwd, Failed):
            return cwd
        env = self._environment(self._base, call.hook, spec.env)
        if isinstance(env, Failed):
            return env
        try:
            encoded = call.hook.wire.encode(call)
        except Exception as error:  # noqa: BLE001 - a host's own payload can fail in any way when it is encoded
            return not_encoded(error)
        result = await self._processes.run(
            argv,
            stdin=encoded.document,
            # The entry's variables once more, last: they also override those of the wire.
            env={**env, **encoded.env, **spec.env, **call.env},
            cwd=cwd,
            timeout=call.timeout,
            run_id=str(call.number),
            leftovers=call.hook.policy.leftovers,
            on_line=call.on_line,
            async_line=(
                call.hook.waiting == "wait" and call.hook.output == "answer" and call.hook.policy.async_line
            ),
            files=tuple(call.files.values()),
            warm=spec.warm,
        )
        captures = call.hook.policy.captures
        return result if captures is None else _truncated(result, captures)

    def problem(self, spec: Any) -> str | None:
        """Return what can never work; if a program exists is known when it is started."""
        if not isinstance(spec, CommandSpec):
            return "a command hook needs a command"
        if not spec.command.strip():
            return "the command is empty"
        argv = command_words(spec)
        return argv.detail if isinstance(argv, Failed) else None

    async def close(self) -> None:
        await self._processes.close(self._close_within)


def command_words(spec: CommandSpec, files: Sequence[str] = ()) -> list[str] | Failed:
    """Return the program and its arguments. The texts of `files` are replaced by placeholders for their
    sealed copies."""
    if spec.args is not None:
        return [_sealed(word, files) for word in (spec.command, *spec.args)]
    shell = SHELLS.get(spec.shell or "sh")
    if shell is None:
        return Failed("not_started", f"unknown shell {spec.shell!r}; known are {', '.join(SHELLS)}")
    if files and shell is _POWERSHELL:
        return Failed("not_started", "PowerShell cannot run a script from memory")
    return [*shell, _sealed(spec.command, files) if files else spec.command]


def _sealed(text: str, files: Sequence[str]) -> str:
    for number, name in enumerate(files):
        text = re.sub(f"{NAME_BEGINS}{re.escape(name)}{NAME_ENDS}", lambda _: placeholder(number), text)  # noqa: B023 used at once
    return text


def _cwd(spec: CommandSpec, call: HookInvocation) -> str | Failed:
    base = call.directory or call.info.cwd
    if spec.cwd is None and base.startswith("/"):
        return base
    own = os.path.expanduser(spec.cwd or "")
    try:
        return os.path.join(os.path.abspath(os.path.expanduser(base)) if base else os.getcwd(), own)
    except OSError as error:
        return Failed("not_started", f"the working directory of this program is gone: {error.strerror}")


def _truncated(result: RawResult, captures: int) -> RawResult:
    """Cut each stream of the result to the size that the hook's own agent keeps."""
    if not isinstance(result, Exited | Failed) or max(len(result.stdout), len(result.stderr)) <= captures:
        return result
    return replace(result, stdout=result.stdout[:captures], stderr=result.stderr[:captures], truncated=True)
