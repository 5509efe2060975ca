"""A question in a run without a user: Gemini CLI would wait for ever, so it gets a denial with the reason."""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.run_cli import Workspace, clean_env, workspace

GUARD = '[[hooks.PreToolUse]]\nhooks = [{ type = "builtin", command = "ask", args = ["sure?"] }]\n'
CALL = {
    "hook_event_name": "BeforeTool",
    "session_id": "s",
    "tool_name": "run_shell_command",
    "tool_input": {"command": "ls"},
}
#: A program called gemini that runs one hook, as the agent does: in a shell.
AGENT = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1], shell=True).returncode)"

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="parents of a process are known on Linux"
)


def asked(where: Workspace, *options: str, terminal: bool = False) -> dict[str, str]:
    """Return the answer to a call of an agent that was started with these options."""
    where.write("~/.config/hookline/hooks.toml", GUARD)
    program = where.home / "gemini"
    program.write_text(f"#!{sys.executable}\n{AGENT}\n")
    program.chmod(0o755)
    payload = where.write("payload.json", json.dumps({**CALL, "cwd": str(where.project)}))
    hook = f"{sys.executable} -I -m hookline hook --dialect gemini-cli --home {where.home} BeforeTool < {payload}; true"
    leader, follower = os.openpty()
    try:
        ran = subprocess.run(
            [str(program), hook, *options], cwd=where.project, env=clean_env(where.home), capture_output=True,
            stdin=follower if terminal else subprocess.DEVNULL, text=True, check=True,
        )  # fmt: skip
    finally:
        os.close(leader)
        os.close(follower)
    answer: dict[str, str] = json.loads(ran.stdout)
    return answer


@pytest.mark.parametrize(
    ("options", "terminal"), [(("-p", "do it"), True), (("--prompt=do it",), True), ((), False)]
)
def test_without_a_user_an_ask_is_a_denial_with_its_reason(options: tuple[str, ...], terminal: bool) -> None:
    with workspace() as where:
        answer = asked(where, *options, terminal=terminal)
    assert answer["decision"] == "deny"
    assert answer["reason"].startswith("sure? (no user can be asked: Gemini CLI runs without one")


def test_at_a_terminal_the_user_is_asked() -> None:
    with workspace() as where:
        answer = asked(where, "--model", "x", terminal=True)
    assert (answer["decision"], answer["reason"]) == ("ask", "sure?")
