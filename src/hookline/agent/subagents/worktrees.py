"""Enter and leave git worktrees. A WorktreeCreate hook may make one itself and return its path."""

import asyncio
import os
import re
import subprocess
from typing import Annotated, Literal

from msgspec import Meta, Struct

from hookline.agent.tools.base import MAIN, RecordTool, ToolOutput, Workplace
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import ToolError
from hookline.model.safe_text import one_line

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
_DIRECTORY = os.path.join(".hookline", "worktrees")
_GIT_SECONDS = 60.0


class Entered(Struct, frozen=True, kw_only=True):
    path: str
    came_from: str
    #: A hook made it, so the hook removes it, not git.
    by_hook: bool


class Worktrees:
    """Worktrees of a session. It works in at most one at a time."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.entered: Entered | None = None

    async def create(self, name: str, workplace: Workplace) -> tuple[str, bool]:
        """Create a worktree; return its path, and True if a hook made it. Raises ToolError."""
        if _NAME.fullmatch(name) is None:
            raise ToolError(
                f"{one_line(name, 80)!r} cannot be the name of a worktree: letters, digits, . _ -"
            )
        wanted = await workplace.hooks.dispatch(e.WORKTREE_CREATE, p.WorktreeWanted(name=name))
        if wanted.blocked:
            raise ToolError(f"no worktree created: {wanted.reason or 'a hook blocked it'}")
        if isinstance(wanted.answer, str) and wanted.answer:
            path = workplace.path(wanted.answer)
            if not await asyncio.to_thread(os.path.isdir, path):
                raise ToolError(f"a hook returned the worktree {path}, but that directory does not exist")
            return path, True
        path = os.path.join(self._root, _DIRECTORY, name)
        if not await asyncio.to_thread(os.path.isdir, path):
            await _git(self._root, "worktree", "add", "-B", f"hookline/{name}", path)
        return path, False

    async def remove(self, path: str, workplace: Workplace, *, by_hook: bool, discard: bool) -> None:
        await workplace.hooks.dispatch(e.WORKTREE_REMOVE, p.WorktreeGone(worktree_path=path))
        if not by_hook:
            force = ("--force",) if discard else ()
            await _git(self._root, "worktree", "remove", *force, path)

    async def remove_unchanged(self, path: str, workplace: Workplace) -> bool:
        """Remove a worktree without changes; return False if something would be lost."""
        branch = f"hookline/{os.path.basename(path)}"
        commits = ("rev-list", "HEAD", "--not", f"--exclude={branch}", "--branches")
        if await _git(path, "status", "--porcelain") or await _git(path, *commits):
            return False
        await self.remove(path, workplace, by_hook=False, discard=False)
        await _git(self._root, "branch", "-D", branch)
        return True

    async def enter(self, name: str, workplace: Workplace) -> str:
        if self.entered is not None:
            raise ToolError(f"the session is in the worktree {self.entered.path} already: leave it first")
        path, by_hook = await self.create(name, workplace)
        self.entered = Entered(path=path, came_from=workplace.cwd, by_hook=by_hook)
        workplace.worktree = path
        return path

    async def leave(self, workplace: Workplace, *, remove: bool, discard: bool = False) -> Entered:
        here = self.entered
        if here is None:
            raise ToolError("the session is not in a worktree")
        if remove:
            await self.remove(here.path, workplace, by_hook=here.by_hook, discard=discard)
        self.entered, workplace.worktree = None, ""
        return here


class EnterArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="A name for the worktree and its branch.")]


class ExitArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    action: Annotated[Literal["keep", "remove"], Meta(description="Keep or remove the worktree.")] = "keep"
    discard_changes: Annotated[bool, Meta(description="Remove it even if something would be lost.")] = False


def worktree_tools(worktrees: Worktrees) -> tuple[RecordTool[EnterArguments], RecordTool[ExitArguments]]:
    """Return EnterWorktree and ExitWorktree, for the main agent only."""

    async def enter(arguments: EnterArguments, workplace: Workplace) -> ToolOutput:
        path = await worktrees.enter(arguments.name, workplace)
        message = f"Created worktree at {path}. The session works there now; ExitWorktree leaves it."
        return ToolOutput(text=message, response={"worktreePath": path, "message": message}, moved_to=path)

    async def leave(arguments: ExitArguments, workplace: Workplace) -> ToolOutput:
        remove = arguments.action == "remove"
        left = await worktrees.leave(workplace, remove=remove, discard=arguments.discard_changes)
        done = "Left and removed" if remove else "Left"
        message = f"{done} the worktree at {left.path}. The session is back in {left.came_from}."
        return ToolOutput(
            text=message,
            response={
                "action": arguments.action,
                "originalCwd": left.came_from,
                "worktreePath": left.path,
                "message": message,
            },
            moved_to=left.came_from,
        )

    only_main = frozenset({MAIN})
    enter_text = "Makes a git worktree and works there from now on."
    exit_text = "Goes back to where the session was before it entered the worktree."
    return (
        RecordTool("EnterWorktree", enter_text, "run", EnterArguments, enter, only_main),
        RecordTool("ExitWorktree", exit_text, "run", ExitArguments, leave, only_main),
    )


async def _git(root: str, *words: str) -> str:
    """Run git and return its output. Raises ToolError with git's error message."""

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-C", root, *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    try:
        done = await asyncio.to_thread(run)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"git did not run: {error}") from None
    if done.returncode:
        raise ToolError(f"git {words[0]} {words[1]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()
