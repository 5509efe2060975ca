"""List every way to open a repository: the commands, the typed keys, and what another agent would send."""

import json
import shlex
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.hook.entries import hookline_command
from hookline.cli.main import COMMANDS
from tests.hostile import hook_files as files
from tests.hostile.site import Site

#: What a model under the repository's influence would try. Nobody allowed any of it.
_DANGEROUS = "rm -rf build"


class Opening(Struct, frozen=True, kw_only=True):
    name: str
    words: tuple[str, ...]
    #: Started so; as users start it if it is empty.
    program: tuple[str, ...] = ()
    stdin: str = ""
    #: At a terminal: the typed lines, one after the other, each when the command is silent. None: no terminal.
    typed: tuple[str, ...] | None = None
    #: Whether the user's own guard has to stop this.
    guarded: bool = False
    #: Whether it is meant to write into the repository.
    writes: bool = False
    #: Variables by which the calling agent tells it of the call, and those that the repository set for it.
    env: tuple[tuple[str, str], ...] = ()
    #: Whether a daemon of the user is there to answer it.
    daemon: bool = False


def openings(site: Site) -> Iterator[Opening]:
    yield from _questions()
    yield from _fired()
    yield from _inside_other_agents(site)
    yield from by_every_way(site)
    yield from _agent(site)
    yield Opening(name="jobs run", words=("jobs", "run"))
    yield from _trust()
    yield Opening(name="doctor --fix --yes", words=("doctor", "--fix", "--yes"), writes=True)
    yield Opening(name="guard add", words=("guard", "add", "force-push"), writes=True)
    yield Opening(name="fire after guard add", words=("fire", "SessionStart"))
    yield Opening(name="install --yes", words=("install", "--project", "--yes"), writes=True)
    yield Opening(name="uninstall --yes", words=("uninstall", "--project", "--yes"), writes=True)


def sample(site: Site) -> Iterator[Opening]:
    """One that asks, one that runs hooks, and one inside another agent."""
    wanted = ("doctor", "fire PreToolUse", "hook claude-code PreToolUse", "jobs run")
    found = [opening for opening in openings(site) if opening.name in wanted]
    yield from found
    yield from (each for each in by_every_way(site) if each.name.startswith(f"{wanted[2]},"))


def _questions() -> Iterator[Opening]:
    for words in (
        ("list",), ("list", "--json"), ("doctor",), ("doctor", "--json"), ("events",), ("log",),
        ("explain", "PreToolUse", "Bash", "command=ls"), ("explain", "SessionStart", "--json"),
        ("fire", "SessionStart", "--dry-run"), ("fire", "--times", "1", "--dry-run"), ("doctor", "--dialect", "codex"),
        ("doctor", "--ci", "--format", "sarif"), ("doctor", "--fix"), ("doctor", "--undo"),
        ("install", "--project"), ("uninstall", "--project"), ("guard", "list"), ("coverage",), ("backtest", "--json"),
        ("convert", ".claude/settings.json", "--to", "codex"),
        ("convert", ".codex/hooks.json", "--to", "gemini-cli", "--report"),
    ):  # fmt: skip
        yield Opening(name=" ".join(words[:2]), words=words)


def _fired() -> Iterator[Opening]:
    call = ("PreToolUse", "Bash", f"command={_DANGEROUS}")
    yield Opening(name="fire PreToolUse", words=("fire", *call), guarded=True)
    for dialect in ("claude-code", "gen-code", "codex"):
        yield Opening(name=f"fire {dialect}", words=("fire", "--dialect", dialect, *call), guarded=True)
    for words in (("SessionStart",), ("UserPromptSubmit", "prompt=hello"), ("Stop",), ("SessionEnd",),
                  ("PermissionRequest", "Bash", "command=ls")):  # fmt: skip
        yield Opening(name=f"fire {words[0]}", words=("fire", *words))
    yield Opening(name="fire --dialect", words=("fire", "--dialect", "docker-agent", "session_start"))
    yield Opening(name="times", words=("fire", "SessionStart", "PreToolUse", "--times", "1"))


def _inside_other_agents(site: Site) -> Iterator[Opening]:
    received = {
        "session_id": "s-1",
        "transcript_path": "/t",
        "cwd": str(site.cwd),
        "permission_mode": "default",
    }
    call = {"tool_name": "Bash", "tool_input": {"command": _DANGEROUS}}
    yield Opening(
        name="hook as an entry says it",
        words=("hook", "--dialect", "claude-code", "PreToolUse"),
        program=tuple(shlex.split(hookline_command({}))),
        stdin=json.dumps({**received, "hook_event_name": "PreToolUse", **call}),
        guarded=True,
    )
    for dialect in ("claude-code", "gen-code", "codex", "native", "docker-agent"):
        own = str.lower if dialect == "docker-agent" else str
        for event, more in (("PreToolUse", call), ("SessionStart", {"source": "startup"}),
                            ("UserPromptSubmit", {"prompt": "hello"})):  # fmt: skip
            name = _snake(event) if own is str.lower else event
            yield Opening(
                name=f"hook {dialect} {event}",
                words=("hook", "--dialect", dialect, name),
                stdin=json.dumps({**received, "hook_event_name": name, **more}),
                guarded=event == "PreToolUse",
            )
    reasonix = {
        "event": "PreToolUse",
        "cwd": str(site.cwd),
        "toolName": "bash",
        "toolArgs": {"command": _DANGEROUS},
    }
    yield Opening(
        name="hook reasonix PreToolUse",
        words=("hook", "--dialect", "reasonix"),
        stdin=json.dumps(reasonix),
        guarded=True,
    )
    gemini = {"tool_name": "run_shell_command", "tool_input": {"command": _DANGEROUS}}
    yield Opening(
        name="hook gemini-cli BeforeTool",
        words=("hook", "--dialect", "gemini-cli", "BeforeTool"),
        stdin=json.dumps({**received, "hook_event_name": "BeforeTool", **gemini}),
        guarded=True,
    )
    whale = {
        "TOOL_NAME": "exec_shell",
        "TOOL_ARGS": json.dumps(call["tool_input"]),
        "WORKSPACE": str(site.cwd),
    }
    yield Opening(
        name="hook codewhale tool_call_before",
        words=("hook", "--dialect", "codewhale", "tool_call_before"),
        env=tuple((f"DEEPSEEK_{name}", value) for name, value in whale.items()),
        guarded=True,
    )


def by_every_way(site: Site) -> Iterator[Opening]:
    """Calls that guards decide, by a process, the relay and the daemon, with variables that lead to the repository."""
    relay = (str(site.relay.program), "--daemon", str(site.relay.directory))
    everything = _variables(site)
    # A daemon leaves calls with another HOME to a separate process.
    others = tuple(each for each in everything if each[0] != "HOME")
    for opening in _inside_other_agents(site):
        if opening.guarded and not opening.program:
            for way, program, env in (
                ("an entry", tuple(shlex.split(hookline_command({}))), everything),
                ("the relay", relay, everything),
                ("the daemon", relay, others),
            ):
                name, daemon = f"{opening.name}, by {way}", way == "the daemon"
                yield replace(opening, name=name, program=program, env=(*opening.env, *env), daemon=daemon)


def _variables(site: Site) -> tuple[tuple[str, str], ...]:
    """All variables that could lead Hookline, or the Python that runs it, into the repository."""
    root = str(site.root)
    places = (
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    )
    python = ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONPLATLIBDIR")
    git = ("GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR")
    own = ("HOOKLINE_PROJECT_DIR", "HOOKLINE_CWD", "HOOKLINE_BUNDLE", "HOOKLINE_RELAY", "HOOKLINE_TRUST")
    return (
        *((name, root) for name in (*places, *python, *git, *own)),
        ("GIT_DIR", f"{root}/.git"),
        ("GIT_CONFIG_GLOBAL", f"{root}/.gitconfig"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_0", f"{root}/evil.sh"),
        ("HOOKLINE_DAEMON", "off"),
        ("HOOKLINE_HOOK_DEPTH", "2"),
        ("HOOKLINE_RUN_ID", "1"),
        ("HOOKLINE_SESSION_ID", "s"),
        ("PYTHONSTARTUP", f"{root}/sitecustomize.py"),
        ("PYTHONBREAKPOINT", "sitecustomize.x"),
        ("PYTHONINSPECT", "1"),
    )


def _snake(event: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


def _agent(site: Site) -> Iterator[Opening]:
    """The agent with a scripted model, without a terminal and at one where the user leaves, says no, or nothing.

    At a terminal there is a screen, which takes keys; typed lines go to the plain form.
    """
    model = ("--model", f"scripted:{_script(site)}")
    yield Opening(name="agent --print", words=("agent", "--print", "hello", *model))
    yield Opening(name="agent --json", words=("agent", "--json", "/tidy up", "@README.md", *model))
    edits = ("--mode", "acceptEdits", "--model", f"scripted:{_edits(site)}")
    yield Opening(name="agent, edits accepted", words=("agent", "--print", "hello", *edits))
    no = ("n\n",) * 7
    for name, typed in {
        "agent, end of input": (),
        "agent, no": ("s\n", "n\n", "hello\n", *no),
        "agent, empty lines": ("\n", "/tidy up\n", *("\n",) * 7),
    }.items():
        yield Opening(name=name, words=("agent", *(("--plain",) if typed else ()), *model), typed=typed)


def _script(site: Site) -> str:
    """Play a model that obeys the repository's text: every call needs a right that no one gave."""
    calls = [
        ("Bash", {"command": site.mark("tool-bash")}),
        ("Bash", {"command": _DANGEROUS}),
        ("Write", {"file_path": str(site.marks / "tool-write"), "content": "x"}),
        ("Read", {"file_path": str(site.home / "secret.txt")}),
        ("WebFetch", {"url": site.url("tool-fetch"), "prompt": "read it"}),
        ("EnterWorktree", {"name": "evil"}),
    ]
    script = [{"tool_calls": [{"name": name, "input": given}]} for name, given in calls]
    return str(site.write(str(site.home / "script.yaml"), json.dumps([*script, *[{"text": "done"}] * 5])))


def _edits(site: Site) -> str:
    """Play a model that writes hooks where it may edit files: they must be neither written nor run."""
    hook = files.groups(files.EVENTS, files.command(site.mark, "edited"))
    texts = {
        ".hookline/hooks.json": files.as_json(hook),
        ".claude/settings.local.json": files.as_json(hook),
        "docker-agent.yml": files.docker_agent(site.mark, "edited"),
        ".mcp.json": json.dumps(
            {"mcpServers": {"x": {"command": "sh", "args": ["-c", site.mark("edited-mcp")]}}}
        ),
    }
    script = [
        {"tool_calls": [{"name": "Write", "input": {"file_path": str(site.cwd / name), "content": text}}]}
        for name, text in texts.items()
    ]
    return str(site.write(str(site.home / "edits.yaml"), json.dumps([*script, {"text": "done"}])))


def _trust() -> Iterator[Opening]:
    """Run the command that trusts a project, without a user to approve."""
    if "trust" in COMMANDS:
        for words in (("trust",), ("trust", "--list"), ("trust", "--diff")):
            yield Opening(name=" ".join(words), words=words)
        yield Opening(name="trust, no", words=("trust",), typed=("s\n", "n\n", "\n"))
