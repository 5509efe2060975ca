"""Command hooks: how an entry becomes an argv, an environment, a directory and a document."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookline.extending import (
    Background,
    CommandSpec,
    Encoded,
    Exited,
    Failed,
    Hook,
    HookInvocation,
    Policy,
    RawResult,
    SessionInfo,
)
from hookline.handlers.command import CommandHandler
from hookline.handlers.process.pool import Processes
from tests.handlers.calls import POLICY, PlainWire, call_with

BASE = {"PATH": "/usr/bin:/bin", "HOME": "/home/somebody", "EDITOR": "vi", "API_TOKEN": "secret"}
MINIMAL = msgspec.structs.replace(POLICY, project_env="minimal")


class WireWithVariables(PlainWire):
    def encode(self, call: HookInvocation) -> Encoded:
        return Encoded(b"document", {"CLAUDE_PROJECT_DIR": "/project", "COLOUR": "wire"})


class UnwritableWire(PlainWire):
    def encode(self, call: HookInvocation) -> Encoded:
        raise RecursionError("too deep")


def command_call(
    spec: CommandSpec, *, files: Mapping[str, bytes] = {}, info: SessionInfo | None = None, **hook: Any
) -> HookInvocation:
    call = call_with(spec, kind="command", info=info)
    if hook:
        call.hook = msgspec.structs.replace(call.hook, **hook)
    call.files = files
    return call


def ran(call: HookInvocation, base_env: Mapping[str, str] | None = BASE) -> RawResult:
    async def main() -> RawResult:
        handler = CommandHandler(Processes(), base_env)
        try:
            result = await handler.run(call)
            return await result.rest if isinstance(result, Background) else result
        finally:
            await handler.close()
            await handler.close()

    return asyncio.run(main())


def output(call: HookInvocation, base_env: Mapping[str, str] | None = BASE) -> str:
    result = ran(call, base_env)
    assert isinstance(result, Exited), result
    return result.stdout.decode()


def why(call: HookInvocation) -> str:
    result = ran(call)
    assert isinstance(result, Failed), result
    assert result.cause == "not_started"
    return result.detail


def test_a_command_line_goes_to_the_shell_with_the_document_on_stdin() -> None:
    assert output(command_call(CommandSpec("cat; echo $((1 + 1))"))).endswith("}\n2\n")


def test_with_args_no_shell_is_involved() -> None:
    spec = CommandSpec("printf", args=("%s|", "$HOME; echo", "a b"))
    assert output(command_call(spec)) == "$HOME; echo|a b|"


def test_empty_args_are_still_the_exec_form() -> None:
    assert "no program 'true; echo'" in why(command_call(CommandSpec("true; echo", args=())))


def test_a_named_shell_is_used_and_an_unknown_one_is_refused() -> None:
    assert output(command_call(CommandSpec("echo ${BASH_VERSION:+bash}", shell="bash"))) == "bash\n"
    assert "unknown shell 'fish'" in why(command_call(CommandSpec("x", shell="fish")))


def test_powershell_is_started_without_a_profile(tmp_path: Path) -> None:
    pwsh = tmp_path / "pwsh"
    pwsh.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    pwsh.chmod(0o755)
    call = command_call(CommandSpec("Get-Date; $x", shell="powershell"))
    env = {**BASE, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert output(call, env) == "-NoProfile|-Command|Get-Date; $x|"
    assert "pwsh" in why(call)


def test_the_program_is_looked_up_on_the_path_the_hook_gets(tmp_path: Path) -> None:
    tool = tmp_path / "my-tool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    spec = CommandSpec("my-tool", args=(), env={"PATH": f"{tmp_path}:/bin"})
    assert output(command_call(spec, scope="user")) == "found\n"
    assert "no program 'my-tool'" in why(command_call(CommandSpec("my-tool", args=())))


def test_the_working_directory_is_the_entrys_then_the_scenes_then_our_own(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    info = SessionInfo(cwd=str(tmp_path))
    assert output(command_call(CommandSpec("pwd"), info=info)) == f"{tmp_path}\n"
    assert output(command_call(CommandSpec("pwd", cwd="sub"), info=info)) == f"{tmp_path}/sub\n"
    assert output(command_call(CommandSpec("pwd", cwd="/usr"), info=info)) == "/usr\n"
    assert output(command_call(CommandSpec("pwd"))) == f"{Path.cwd()}\n"
    assert "working directory" in why(command_call(CommandSpec("pwd", cwd="gone"), info=info))


def test_a_tilde_in_the_working_directory_is_the_home_directory() -> None:
    home = os.path.realpath(os.path.expanduser("~"))
    assert output(command_call(CommandSpec("pwd -P", cwd="~"))) == f"{home}\n"


def test_later_layers_of_the_environment_win() -> None:
    spec = CommandSpec(
        "echo $EDITOR $COLOUR $CLAUDE_PROJECT_DIR $OWN", env={"COLOUR": "entry", "OWN": "mine"}
    )
    call = command_call(spec, scope="user", wire=WireWithVariables())
    assert output(call) == "vi entry /project mine\n"


def test_the_environment_of_the_host_is_taken_when_the_handler_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SNAPSHOT", "before")

    async def main() -> RawResult:
        handler = CommandHandler(Processes())
        monkeypatch.setenv("SNAPSHOT", "after")
        result = await handler.run(command_call(CommandSpec("echo $SNAPSHOT"), scope="user"))
        await handler.close()
        return result

    assert asyncio.run(main()) == Exited(0, b"before\n")


def test_every_hook_can_name_its_run() -> None:
    spec = CommandSpec("echo $HOOKLINE_RUN_ID", env={"HOOKLINE_RUN_ID": "forged"})
    engine, _, run = output(command_call(spec)).strip().partition(".")
    assert (len(engine), run) == (12, "1")


def test_the_policy_says_what_a_project_hook_sees_of_the_environment() -> None:
    spec = CommandSpec("echo ${API_TOKEN:-none} ${EDITOR:-none} $TERM")
    assert output(command_call(spec, policy=MINIMAL)) == "none none dumb\n"
    assert output(command_call(spec), {**BASE, "TERM": "x"}) == "secret vi x\n"


def test_a_project_entry_cannot_set_what_makes_programs_load_code() -> None:
    spec = CommandSpec("true", env={"LD_PRELOAD": "/tmp/x.so"})
    assert "LD_PRELOAD" in why(command_call(spec, policy=MINIMAL))
    assert output(command_call(spec, policy=MINIMAL, scope="user")) == ""


def test_a_host_can_bring_its_own_rules_for_the_environment() -> None:
    def only_this(snapshot: Mapping[str, str], hook: Hook, extra: Mapping[str, str]) -> Mapping[str, str]:
        return {"PATH": snapshot["PATH"], "NAME": hook.name}

    async def main() -> RawResult:
        handler = CommandHandler(Processes(), BASE, only_this)
        result = await handler.run(command_call(CommandSpec("echo $NAME ${HOME:-none}")))
        await handler.close()
        return result

    assert asyncio.run(main()) == Exited(0, b"h none\n")


def test_given_bytes_run_in_place_of_the_file_that_was_swapped(tmp_path: Path) -> None:
    script = tmp_path / "guard.sh"
    checked = {str(script): b'#!/bin/sh\necho "checked $1"\n'}
    script.write_bytes(b"#!/bin/sh\necho swapped\n")
    script.chmod(0o755)
    assert output(command_call(CommandSpec(str(script), args=("one",)), files=checked)) == "checked one\n"
    for line in (
        f"{script} one",
        f"cat >/dev/null; {script} one",
        f'sh "{script}" one',
        f"sh <{script} -s one",
    ):
        assert output(command_call(CommandSpec(line), files=checked)) == "checked one\n", line
    assert (
        output(command_call(CommandSpec("sh", args=(str(script), "one")), files=checked)) == "checked one\n"
    )
    assert (
        output(command_call(CommandSpec("env", args=(f"X={script}", "sh", "-c", ". $X")), files=checked))
        == "checked \n"
    )


def test_every_file_has_its_own_bytes_and_only_whole_names_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.sh.old").write_text("on disk\n")
    files = {"a.sh": b"first\n", '"$DIR"/b.sh': b"second\n"}
    spec = CommandSpec("cat 'a.sh' \"$DIR\"/b.sh a.sh.old a.sh", env={"DIR": "/nowhere"})
    call = command_call(spec, files=files, info=SessionInfo(cwd=str(tmp_path)))
    assert output(call) == "first\nsecond\non disk\nfirst\n"


def test_given_bytes_can_be_changed_by_nobody() -> None:
    script = b"#!/bin/sh\n(echo 'echo bad' > $0) 2>/dev/null || echo sealed\n"
    assert output(command_call(CommandSpec("x", args=()), files={"x": script})) == "sealed\n"
    assert output(command_call(CommandSpec("x"), files={"x": script})) == "sealed\n"


def test_given_bytes_that_are_no_program_say_why() -> None:
    assert "no #! line" in why(command_call(CommandSpec("x", args=()), files={"x": b"echo hi"}))
    assert "interpreter '/no/such'" in why(
        command_call(CommandSpec("x", args=()), files={"x": b"#!/no/such\n"})
    )
    assert "PowerShell" in why(command_call(CommandSpec("x", shell="powershell"), files={"x": b"x"}))


def test_given_bytes_leave_no_descriptor_behind() -> None:
    async def main() -> None:
        handler = CommandHandler(Processes(), BASE)
        before = 0
        for _ in range(5):
            for program in (b"#!/bin/sh\nexit 0\n", b"no program"):
                files = {"x": program, "y": b"more"}
                await handler.run(command_call(CommandSpec("x", args=("y",)), files=files))
            before = before or len(os.listdir("/proc/self/fd"))
        assert len(os.listdir("/proc/self/fd")) <= before
        await handler.close()

    asyncio.run(main())


def test_only_a_hook_that_is_waited_for_can_move_to_the_background() -> None:
    spec = CommandSpec("echo '{\"async\": true}'; sleep 0.2; echo late")

    async def main() -> None:
        handler = CommandHandler(Processes(), BASE)
        assert isinstance(await handler.run(command_call(spec)), Background)
        assert isinstance(await handler.run(command_call(spec, waiting="async")), Exited)
        await handler.close()

    asyncio.run(main())


def test_the_timeout_of_the_call_is_kept() -> None:
    call = command_call(CommandSpec("sleep 31"))
    call.timeout = 0.2
    result = ran(call)
    assert isinstance(result, Failed)
    assert (result.cause, result.detail) == ("timed_out", "after 0.2 s")


def test_the_policy_says_whether_leftovers_stay(tmp_path: Path) -> None:
    spec = CommandSpec(f"(sleep 0.4; touch {tmp_path}/late) >/dev/null 2>&1 & exit 0")
    assert isinstance(ran(command_call(spec)), Exited)
    leave = Policy(event_name="x", may=POLICY.may, leftovers="leave")
    assert isinstance(
        ran(command_call(CommandSpec(spec.command.replace("late", "kept")), policy=leave)), Exited
    )

    async def wait() -> None:
        while not (tmp_path / "kept").exists():
            await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(wait(), 20))
    assert not (tmp_path / "late").exists()


def test_a_payload_that_cannot_be_written_is_a_hook_that_did_not_start() -> None:
    assert "RecursionError" in why(command_call(CommandSpec("true"), wire=UnwritableWire()))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (CommandSpec("true"), None),
        (CommandSpec("no-such-program", args=()), None),
        (CommandSpec("  "), "the command is empty"),
        (CommandSpec("x", shell="fish"), "unknown shell 'fish'; known are sh, bash, powershell, pwsh"),
        (object(), "a command hook needs a command"),
    ],
)
def test_what_can_never_run_is_said_when_the_configuration_is_read(spec: Any, problem: str | None) -> None:
    assert CommandHandler(Processes(), BASE).problem(spec) == problem
