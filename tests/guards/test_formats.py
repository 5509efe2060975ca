"""Guards in every way in which hooks are configured: native files, Docker Agent's format, Python; trusted or not."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome
from hookline.actions import patch, shell
from hookline.events import PERMISSION_REQUEST, PRE_TOOL_USE, PermissionAsked, ToolCall
from hookline.extending import Run, standard_builtins, standard_handlers
from hookline.guards import FORBIDDING, GUARD_NAMES, Guard, guard
from hookline.handlers.specs import GUARDS

FORCED: Mapping[str, Any] = {"command": "cd app && git push -uf"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    found = home / "project"
    found.mkdir(parents=True)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return found


def native(project: Path, name: str, *args: str, more: str = "", event: str = "PreToolUse") -> Path:
    file = project / ".hookline" / "hooks.toml"
    file.parent.mkdir(exist_ok=True)
    texts = ", ".join(f'"{arg}"' for arg in args)
    file.write_text(
        f'[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = "builtin"\ncommand = "{name}"\nargs = [{texts}]\n{more}\n'
    )
    return file


def asked(engine: Engine, project: Path, tool: str, arguments: Mapping[str, Any]) -> Outcome:
    async def ask() -> Outcome:
        async with engine:
            session = engine.session("s", cwd=str(project), project_dir=str(project))
            return await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name=tool, tool_input=arguments))

    return asyncio.run(ask())


def loaded(project: Path, file: Path, dialect: str = "native") -> Engine:
    engine = Engine()
    assert engine.load(str(project), [str(file)], [dialect]).diagnostics == ()
    return engine


def test_the_names_are_the_same_everywhere() -> None:
    assert (*GUARD_NAMES, *FORBIDDING) == GUARDS
    assert set(GUARD_NAMES) < set(standard_builtins())


def test_a_native_file_names_a_guard(project: Path) -> None:
    outcome = asked(loaded(project, native(project, "force-push")), project, "Bash", FORCED)
    assert outcome.blocked
    assert outcome.reason is not None
    assert outcome.reason.startswith("`git push -uf` overwrites")
    assert not asked(
        loaded(project, native(project, "force-push")), project, "Bash", {"command": "git push"}
    ).votes


def test_a_guard_asks_if_it_is_told_to(project: Path) -> None:
    outcome = asked(loaded(project, native(project, "force-push", "ask")), project, "Bash", FORCED)
    assert outcome.permission == "ask"


def test_it_holds_where_a_permission_is_asked_for(project: Path) -> None:
    engine = loaded(project, native(project, "force-push", event="PermissionRequest"))

    async def ask() -> Outcome:
        async with engine:
            call = PermissionAsked(tool_name="Bash", tool_input=FORCED)
            return await engine.session("s", cwd=str(project)).dispatch(PERMISSION_REQUEST, call)

    assert asyncio.run(ask()).blocked


@pytest.mark.parametrize(
    ("more", "args", "permission"),
    [
        ("", (), "deny"),
        ('in_doubt = "ask"', (), "ask"),
        ('in_doubt = "pass"', (), None),
        ("", ("in_doubt=ask",), "ask"),
        ("", ("in_doubt=pass",), None),
        ('in_doubt = "pass"', ("in_doubt=match",), "deny"),
        ("", ("ask",), "ask"),
    ],
)
def test_doubt_is_said_and_counts_as_the_hook_says(
    project: Path, more: str, args: tuple[str, ...], permission: str | None
) -> None:
    engine = loaded(project, native(project, "force-push", *args, more=more))
    runs: list[Run] = []
    engine.journal.subscribe(runs.append)
    outcome = asked(engine, project, "Bash", {"command": 'git "$WHAT" -f'})
    assert outcome.permission == permission
    doubt = "its sub-command is known only to the shell"
    assert [run.doubt for run in runs] == [doubt if permission else None]
    assert permission is None or f"(in doubt: {doubt})" in (outcome.reason or "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("aks",), "force-push has no option 'aks'; did you mean 'ask'?"),
        (("with=delet",), "force-push has no part 'delet'; did you mean 'delete'?"),
        (("in_doubt=maybe",), "force-push: in_doubt is 'maybe'; there are match, ask, pass"),
        (("allow=",), "force-push: allow= says nothing; it takes a pattern of commands"),
        (("force pushes are bad",), "force-push has no option 'force pushes are bad'"),
    ],
)
def test_a_wrong_option_is_told_when_it_is_loaded(project: Path, args: tuple[str, ...], said: str) -> None:
    engine = Engine()
    [found] = engine.load(str(project), [str(native(project, "force-push", *args))], ["native"]).diagnostics
    assert said in found.message
    # It stays active as a guard that cannot run: it stops what it should stop.
    assert asked(engine, project, "Bash", {"command": "ls"}).blocked
    with pytest.raises(ValueError, match=said[:30]):
        guard("force-push", *args)


def test_a_misspelt_name_is_told(project: Path) -> None:
    [found] = Engine().load(str(project), [str(native(project, "force-psh"))], ["native"]).diagnostics
    assert "did you mean 'force-push'?" in found.message
    with pytest.raises(ValueError, match="did you mean 'force-push'"):
        guard("force-psh")


def test_a_guard_of_an_untrusted_project_counts_and_its_words_do_not(project: Path) -> None:
    native(project, "force-push")
    engine = Engine()
    engine.load(str(project))
    outcome = asked(engine, project, "Bash", FORCED)
    assert outcome.blocked
    assert outcome.reason is not None
    assert "overwrites" not in outcome.reason
    assert "hooks.toml" in outcome.reason


def test_docker_agents_format_names_a_guard(project: Path) -> None:
    file = project / "agent.yaml"
    file.write_text(
        "agents:\n  root:\n    model: auto\n    description: x\n    instruction: x\n    hooks:\n      pre_tool_use:\n"
        "        - matcher: '*'\n          hooks:\n"
        "            - {type: builtin, command: force-push}\n"
        "            - {type: builtin, command: secrets-read, args: [ask]}\n"
    )
    engine = loaded(project, file, "docker-agent")
    outcome = asked(engine, project, "Bash", FORCED)
    assert outcome.blocked
    engine = loaded(project, file, "docker-agent")
    assert asked(engine, project, "Read", {"file_path": str(project / ".env")}).permission == "ask"
    engine = loaded(project, file, "docker-agent")
    assert not asked(engine, project, "Read", {"file_path": str(project / "a.py")}).votes


def test_a_program_adds_guards_and_its_tools_are_judged(project: Path) -> None:
    engine = Engine(tools={"run_it": shell("line"), "patch_it": patch("text")})
    hook = engine.add(PRE_TOOL_USE, guard("force-push"))
    engine.add(PRE_TOOL_USE, guard("write-outside-project", "ask"))
    assert (hook.name, hook.kind) == ("force-push", "builtin")
    outside = "../" * 12 + "etc/b.txt"
    text = f"*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: {outside}\n+x\n*** End Patch"

    async def ask() -> list[str | None]:
        async with engine:
            session = engine.session("s", cwd=str(project))
            calls = [
                ToolCall(tool_name="run_it", tool_input={"line": "git push origin +main"}),
                ToolCall(tool_name="run_it", tool_input={"line": "git push"}),
                # Every file of a patch counts.
                ToolCall(tool_name="patch_it", tool_input={"text": text}),
            ]
            return [(await session.dispatch(PRE_TOOL_USE, call)).permission for call in calls]

    assert asyncio.run(ask()) == ["deny", None, "ask"]


def test_a_guard_is_a_record() -> None:
    assert guard("disk", "ask") == Guard("disk", ("ask",))


@pytest.mark.parametrize(
    ("tool", "arguments", "blocked"),
    [
        ("Bash", {"command": "sed -i s/deny/allow/ .hookline/hooks.toml"}, True),
        ("Bash", {"command": "truncate -s 0 .hookline/hooks.toml"}, True),
        ("Bash", {"command": "echo > check.sh"}, True),
        ("Bash", {"command": "hookline trust --yes"}, True),
        ("Bash", {"command": "rm -rf ~/.local/state/hookline"}, True),
        ("Bash", {"command": "cat .hookline/hooks.toml"}, False),
        ("Bash", {"command": "echo x > notes.txt"}, False),
        ("Bash", {"command": "hookline doctor"}, False),
        ("Write", {"file_path": ".hookline/hooks.toml", "content": ""}, True),
        ("Edit", {"file_path": "check.sh", "old_string": "a", "new_string": "b"}, True),
        ("Delete", {"file_path": ".mcp.json"}, True),
        ("Move", {"source": "x", "destination": ".mcp.json"}, True),
        ("Write", {"file_path": "src/app.py", "content": ""}, False),
        ("Read", {"file_path": ".hookline/hooks.toml"}, False),
    ],
)
def test_self_protection_knows_what_guards_the_agent(
    project: Path, tool: str, arguments: Mapping[str, Any], blocked: bool
) -> None:
    (project / "check.sh").write_text("exit 0\n")
    engine = Engine()
    engine.add(PRE_TOOL_USE, guard("self-protection"))
    # A script that a hook runs guards as well as the file that names it.
    engine.add(PRE_TOOL_USE, "sh ./check.sh", "NoSuchTool")
    outcome = asked(engine, project, tool, arguments)
    assert outcome.blocked == blocked
    assert not blocked or "guards the agent" in (outcome.reason or "")


def test_self_protection_holds_beside_builtins_of_a_host(project: Path) -> None:
    engine = Engine(handlers=standard_handlers(builtins=standard_builtins()))
    engine.add(PRE_TOOL_USE, guard("self-protection"))
    assert asked(engine, project, "Write", {"file_path": ".mcp.json", "content": ""}).blocked


def test_a_link_out_of_the_project_is_outside(project: Path, tmp_path: Path) -> None:
    (project / "link").symlink_to("/etc")
    engine = Engine()
    engine.add(PRE_TOOL_USE, guard("write-outside-project"))
    assert asked(engine, project, "Write", {"file_path": "link/x", "content": ""}).blocked


def test_a_link_to_a_secret_is_a_secret(project: Path) -> None:
    (project / ".env").write_text("A=1\n")
    (project / "notes.txt").symlink_to(project / ".env")
    engine = Engine()
    engine.add(PRE_TOOL_USE, guard("secrets-read"))
    assert asked(engine, project, "Read", {"file_path": "notes.txt"}).blocked


def test_a_directory_is_not_deleted_by_a_tool(project: Path) -> None:
    (project / "src").mkdir()
    engine = Engine()
    engine.add(PRE_TOOL_USE, guard("delete-recursive"))
    assert asked(engine, project, "Delete", {"file_path": "src"}).blocked


def test_who_names_no_guard_does_not_load_them(project: Path) -> None:
    code = (
        "import sys; from hookline import Engine; engine = Engine(); "
        f"engine.load({str(project)!r}, [{str(native(project, 'deny'))!r}], ['native']); "
        "print([name for name in sys.modules if name.startswith('hookline.guards')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "[]\n"
