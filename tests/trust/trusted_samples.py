"""Projects whose hooks are trusted, one for each dialect, and what may be done to them behind the user's back."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import yaml
from msgspec import Struct
from msgspec.structs import asdict

from hookline import Engine
from hookline.config.load import Loaded, Loader
from hookline.dialects.registry import home_dialect
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.extending import Hook, Run, SessionInfo, standard_handlers
from hookline.trust.trust import Trust
from tests.dialects.codex.hooks import trust_in_codex

Document = dict[str, Any]
Render = Callable[[Document], str]

SCRIPT = "tools/guard.sh"


class Sample(Struct, frozen=True):
    """A configuration with hooks before a tool runs, the first of which runs the script."""

    dialect: str
    #: The file, and others of the same agent that it could be moved to.
    files: tuple[str, ...]
    document: Document
    render: Render
    #: The agent's tool for commands.
    tool: str = "Bash"


def _groups(*hooks: Document) -> Document:
    return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": list(hooks)}]}}


def toml(document: Document) -> str:
    """As CodeWhale's project files are: a list of tables."""
    hooks = document.get("hooks")
    if not isinstance(hooks, list) or not all(isinstance(one, dict) for one in cast("list[Any]", hooks)):
        return _lines(document)
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return _lines(rest) + "".join(f"[[hooks]]\n{_lines(one)}" for one in cast("list[Document]", hooks))


def _lines(table: Document) -> str:
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        table = cast("Document", value)
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in table.items()) + " }"
    return json.dumps("" if value is None else value)


_WEB = {"type": "http", "url": "http://127.0.0.1:9/judge", "headers": {"X-Team": "shop"}, "timeout": 5}

SAMPLES = (
    Sample(
        "native",
        (".hookline/hooks.json", ".hookline/hooks.local.json", ".hookline/hooks.toml"),
        _groups(
            {"command": "sh ./guard.sh list.txt", "cwd": "tools", "env": {"LEVEL": "1"}, "timeout": 20},
            {"command": "sh", "args": ["tools/guard.sh", "tools/list.txt"], "timeout": 20},
            _WEB,
        ),
        json.dumps,
    ),
    Sample(
        "claude-code",
        (".claude/settings.json", ".claude/settings.local.json"),
        _groups(
            {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/tools/guard.sh tools/list.txt', "timeout": 20},
            _WEB,
        ),
        json.dumps,
    ),
    Sample(
        "gen-code",
        (".gen/settings.json", ".gen/settings.local.json"),
        _groups({"type": "command", "command": "sh tools/guard.sh tools/list.txt", "timeout": 20}, _WEB),
        json.dumps,
    ),
    Sample(
        "codewhale",
        (".codewhale/hooks.toml",),
        {
            "hooks": [
                {
                    "event": "tool_call_before",
                    "command": "sh tools/guard.sh tools/list.txt",
                    "timeout_secs": 20,
                    "condition": {"type": "tool_name", "name": "exec_shell"},
                }
            ]
        },
        toml,
        "exec_shell",
    ),
    Sample(
        "reasonix",
        (".reasonix/settings.json",),
        {
            "hooks": {
                "PreToolUse": [
                    {
                        "match": "bash",
                        "command": "sh ./guard.sh list.txt",
                        "cwd": "tools",
                        "env": {"LEVEL": "1"},
                        "timeout": 20000,
                    }
                ]
            }
        },
        json.dumps,
        "bash",
    ),
    Sample(
        "codex",
        (".codex/hooks.json",),
        _groups(
            {
                "type": "command", "command": "sh tools/guard.sh tools/list.txt", "timeout": 20, "async": False,
                "statusMessage": "looking", "additionalContextLimit": 100,
            }
        ),
        json.dumps,
    ),
    Sample(
        "gemini-cli",
        (".gemini/settings.json",),
        {
            "hooks": {
                "BeforeTool": [
                    {
                        "matcher": "run_shell_command",
                        "sequential": True,
                        "hooks": [
                            {
                                "type": "command",
                                "name": "guard",
                                "command": "sh tools/guard.sh tools/list.txt",
                                "env": {"LEVEL": "1"},
                                "timeout": 20000,
                            }
                        ],
                    }
                ]
            }
        },
        json.dumps,
        "run_shell_command",
    ),
    Sample(
        "docker-agent",
        ("agent.yaml", "cagent.yaml"),
        {
            "agents": {
                "root": {
                    "model": "openai/toy",
                    "hooks": {
                        "pre_tool_use": [
                            {
                                "matcher": "shell",
                                "hooks": [
                                    {
                                        "type": "command",
                                        "command": "sh ./guard.sh list.txt",
                                        "working_dir": "tools",
                                        "env": {"LEVEL": "1"},
                                        "timeout": 20,
                                    }
                                ],
                            }
                        ]
                    },
                }
            }
        },
        lambda document: yaml.safe_dump(document, sort_keys=False),
        "shell",
    ),
)  # fmt: skip


class TrustedProject:
    """A project of a sample, whose user has trusted it as it is."""

    def __init__(self, directory: Path, sample: Sample) -> None:
        self.sample = sample
        self.home, self.root, self.marker = directory / "home", directory / "project", directory / "ran.txt"
        self.home.mkdir(parents=True)
        self.env: Mapping[str, str] = {"HOME": str(self.home)}
        self.restore()
        trust, loaded = self.load()
        trust.accept([trust.item(hook) for hook in loaded.hooks])
        self._meanings = [meaning(hook) for hook in loaded.hooks]

    @property
    def config(self) -> Path:
        return self.root / self.sample.files[0]

    @property
    def script(self) -> Path:
        return self.root / SCRIPT

    def text(self, word: str = "good") -> str:
        """A script that lets everything pass and leaves a word behind."""
        return f"#!/bin/sh\ncat > /dev/null\necho {word} >> {self.marker}\n"

    def restore(self) -> None:
        """Everything is as the user has trusted it."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.config.parent.mkdir(parents=True)
        self.script.parent.mkdir()
        self.script.write_text(self.text())
        self.script.chmod(0o755)
        (self.root / "evil").mkdir()
        (self.root / "evil/guard.sh").write_text(self.text("evil"))
        (self.root / "evil/guard.sh").chmod(0o755)
        self.write(self.sample.document)

    def write(self, document: Document) -> None:
        self.config.write_text(self.sample.render(document))
        if self.sample.dialect == "codex":
            # Its user trusts everything in Codex: what was trusted here must be enough.
            with suppress(AttributeError, KeyError, TypeError):
                trust_in_codex(self.home, self.config)

    def load(self, env: Mapping[str, str] | None = None) -> tuple[Trust, Loaded]:
        """As a command does at its start."""
        given = self.env if env is None else env
        trust = Trust(str(self.root), given)
        loader = Loader(home_dialect(), standard_handlers(), env=given)
        return trust, loader.directory(str(self.root), [self.sample.dialect], trust=trust)

    def refused(self, env: Mapping[str, str] | None = None) -> list[bool]:
        """For each hook, in the order of the file, whether it may not start now."""
        trust, loaded = self.load(env)
        return [not may_start(trust, hook) for hook in loaded.hooks]

    def strangers(self) -> tuple[int, list[Document]]:
        """Count hooks that do something untrusted, and return what those do that may start now."""
        trust, loaded = self.load()
        strange = [hook for hook in loaded.hooks if meaning(hook) not in self._meanings]
        return len(strange), [meaning(hook) for hook in strange if may_start(trust, hook)]

    def engine(self) -> Engine:
        trust, loaded = self.load()
        engine = Engine(admit=trust.admit)
        engine.use(loaded)
        return engine

    async def fire(self, engine: Engine) -> Sequence[Run]:
        """The runs of one call of the agent's tool for commands."""
        runs: list[Run] = []
        engine.journal.subscribe(runs.append)
        key = "cmd" if self.sample.tool == "shell" else "command"
        call = ToolCall(tool_name=self.sample.tool, tool_input={key: "ls"})
        await engine.session("s", cwd=str(self.root)).dispatch(PRE_TOOL_USE, call)
        return [run for run in runs if run.type == "command"]

    def ran(self) -> list[str]:
        """The words that scripts left behind, which are then forgotten."""
        words = self.marker.read_text().split() if self.marker.exists() else []
        self.marker.unlink(missing_ok=True)
        return words


def may_start(trust: Trust, hook: Hook) -> bool:
    admission = trust.admit(hook, SessionInfo(cwd=trust.root))
    return hook.mode != "off" and admission.admitted and not admission.only_tightens


def meaning(hook: Hook) -> Document:
    """Everything that decides what a hook does and when."""
    facts = asdict(hook)
    for name in ("where", "wire", "policy", "event", "matcher", "condition", "identity"):
        del facts[name]
    return facts | {
        "file": hook.where.file,
        "event": (hook.event.name, hook.policy.event_name),
        "matcher": None if hook.matcher is None else hook.matcher.text,
        "condition": None if hook.condition is None else hook.condition.text,
    }


# Changes of an entry

_ALIKE = str.maketrans("aceopxyBHKMT", "асеорхуВНКМТ")
#: Keys that are added to every table, whether its agent knows them or not.
_ADDED: Mapping[str, Any] = {
    "if": "Bash(ls)", "async": True, "asyncRewake": True, "once": True, "shell": "bash", "timeout": 1,
    "env": {"PATH": "evil"}, "cwd": "evil", "args": ["evil/guard.sh"], "mode": "shadow", "on_failure": "block",
    "onFailure": "block", "required": True, "type": "prompt", "matcher": "Read", "match": "read", "command": "evil",
    "background": True, "working_dir": "evil", "output": "ignore", "payloadFormat": "claude", "url": "http://[::1]/",
    "default_timeout_secs": 3, "rewrites": True, "strict_output": True, "on_error": "block", "continue_on_error": False,
}  # fmt: skip


def changes(document: Document) -> Iterator[tuple[str, Document]]:
    """Documents with one change somewhere, each with what was done."""
    for path, value in _places(document):
        for what, other in _others(value):
            yield f"{what} {'.'.join(map(str, path))}", _with(document, path, other)
        if path:
            yield f"remove {'.'.join(map(str, path))}", _with(document, path, _GONE)


_GONE = object()


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield path, value
    inner: Any = ()
    if isinstance(value, dict):
        inner = cast("Document", value).items()
    elif isinstance(value, list):
        inner = enumerate(cast("list[Any]", value))
    for key, each in inner:
        yield from _places(each, (*path, key))


def _others(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        table = cast("Document", value)
        for name, added in _ADDED.items():
            if name not in table:
                yield f"add {name} to", {**table, name: added}
    elif isinstance(value, str):
        yield "lengthen", f"{value}x"
        yield "pad", f"{value} "
        yield "end with a carriage return", f"{value}\r"
        yield "swap the case of", value.swapcase()
        if (alike := value.translate(_ALIKE)) != value:
            yield "look like", alike
        yield "turn around", value[::-1]
    elif isinstance(value, int):
        yield "count up", value + 1
        yield "negate", -value


def _with(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    copy = document.copy()
    key, *rest = path
    if rest:
        copy[key] = _with(copy[key], tuple(rest), value)
    elif value is _GONE:
        del copy[key]
    else:
        copy[key] = value
    return copy


# Changes of the files that an entry names

Change = Callable[[TrustedProject], object]


def _rewritten(text: str) -> Change:
    return lambda project: project.script.write_text(text.replace("MARKER", str(project.marker)))


def _unseen(project: TrustedProject) -> None:
    """Other bytes, as many as before and with the same times."""
    before = project.script.stat()
    project.script.write_text(project.text("evil"))
    os.utime(project.script, ns=(before.st_atime_ns, before.st_mtime_ns))


def _renamed(project: TrustedProject) -> None:
    os.replace(project.root / "evil/guard.sh", project.script)


def _linked(project: TrustedProject) -> None:
    project.script.unlink()
    project.script.symlink_to(project.root / "evil/guard.sh")


def _linked_directory(project: TrustedProject) -> None:
    project.script.parent.rename(project.root / "before")
    project.script.parent.symlink_to("evil")


def _directory(project: TrustedProject) -> None:
    project.script.unlink()
    project.script.mkdir()


def _pipe(project: TrustedProject) -> None:
    project.script.unlink()
    os.mkfifo(project.script)


def _added(project: TrustedProject) -> None:
    (project.script.parent / "list.txt").write_text("everything\n")


SCRIPT_CHANGES: Mapping[str, Change] = {
    "other bytes": _rewritten("#!/bin/sh\necho evil >> MARKER\n"),
    "one byte more": lambda project: project.script.write_text(f"{project.text()}\n"),
    "line endings": lambda project: project.script.write_bytes(project.text().replace("\n", "\r\n").encode()),
    "another interpreter": _rewritten("#!evil/guard.sh\ncat > /dev/null\necho good >> MARKER\n"),
    "nothing in it": _rewritten(""),
    "other bytes with the same times": _unseen,
    "another file under its name": _renamed,
    "a link in its place": _linked,
    "a link in place of its folder": _linked_directory,
    "a folder in its place": _directory,
    "a pipe in its place": _pipe,
    "gone": lambda project: project.script.unlink(),
    "a file that an argument names appears": _added,
}  # fmt: skip
