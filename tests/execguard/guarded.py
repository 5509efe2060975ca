"""Commands under a real supervisor, for tests; and why there may be none here."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hookline import Engine
from hookline.execguard.guard import ExecGuard, GuardedResult, exec_guard
from hookline.execguard.probe import capabilities

T = TypeVar("T")

_found = capabilities()
#: Loud: the reason is in the summary of the run.
needs_verify = pytest.mark.skipif(
    _found.level != "verify", reason=f"THE EXEC GUARD IS NOT TESTED HERE: {_found.level}: {_found.why}"
)


def guarded(
    directory: Path,
    work: Callable[[ExecGuard, Engine], Awaitable[T]],
    approve: Any = None,
    prepare: Callable[[Engine], None] | None = None,
    **options: Any,
) -> T:
    """Do some work with a guard, and leave nothing behind."""

    async def main() -> T:
        async with Engine(approve=approve) as engine:
            if prepare is not None:
                prepare(engine)
            session = engine.session("s", cwd=str(directory))
            async with exec_guard(session, **options) as guard:
                return await work(guard, engine)

    return asyncio.run(main())


def run(
    directory: Path,
    line: str | Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    timeout: float = 60.0,
    stdin: bytes = b"",
    **options: Any,
) -> GuardedResult:
    """Run one line in bash, or one argv, under a guard."""
    argv = ["bash", "-c", line] if isinstance(line, str) else list(line)
    whole = dict(os.environ) if env is None else {**os.environ, **env}

    async def work(guard: ExecGuard, _engine: Engine) -> GuardedResult:
        return await guard.run(argv, env=whole, timeout=timeout, stdin=stdin)

    return guarded(directory, work, **options)


def program(directory: Path, name: str, mark: Path) -> Path:
    """Make a program that leaves a mark when it runs."""
    made = directory / name
    made.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\n')
    made.chmod(0o755)
    return made
