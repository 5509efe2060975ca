"""Enforce rules while a command runs: every program it starts is judged by the kernel's word, not by text.

On Linux a seccomp filter reports each exec of a command's tree to a supervisor, a process of its own. It reads
argv, directory and program of the task that waits, judges them by the same deny rules, ask rules and guards that
judge shell lines, and lets the exec continue or refuses it. With *verify* it also follows the exec by ptrace and
judges what really runs, because another thread may change the arguments after they were read.

`kernel` has the system calls, `filter` the programs for the kernel, `facts` reads a task, `judge` judges it,
`supervisor` is the process beside the command, `zygote` keeps supervisors ready, `walls` limits files and the
network, `git` reads git's settings, and `guard` is what hosts use:

    async with exec_guard(session) as guard:
        done = await guard.run(["make", "test"], cwd=cwd)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.execguard.guard import ExecGuard, GuardedResult, exec_guard
    from hookline.execguard.messages import FileWall, NetworkWall
    from hookline.execguard.supervision import Walls

__all__ = ["ExecGuard", "FileWall", "GuardedResult", "NetworkWall", "Walls", "exec_guard"]


def __getattr__(name: str) -> object:
    # Supervisors import modules of this package, and need no engine.
    if name in __all__:
        from hookline.execguard import guard  # noqa: PLC0415 see above

        return getattr(guard, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
