"""Plays a recorded case in the engine: its settings, its scripts, its payloads; and says where the two disagree."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hookline import Engine, Outcome
from hookline.dialects.gemini_cli import dialect
from hookline.dialects.gemini_cli.tools import TABLE
from hookline.extending import Handler, Run
from hookline.handlers.command import CommandHandler
from hookline.handlers.process.pool import Processes
from tests.dialects.hooked_agent import File, read_hooks
from tests.recorded import Case

HERE = Path(__file__).parent
_PROJECT = "/home/user/project"


class Played(Struct):
    """The results of a case in Hookline."""

    outcomes: list[Outcome] = []
    runs: list[Run] = []
    #: What each hook got on stdin, by the name of its script.
    got: dict[str, list[Any]] = {}

    @property
    def first(self) -> Outcome:
        return self.outcomes[0]


class CaseDirectory:
    """A scratch directory instead of the one in which a case was recorded."""

    def __init__(self, case: Case, root: Path) -> None:
        self.case = case
        self.project, self.home, self.hooks, self.log = (
            root / name for name in ("project", "home", "hooks", "log")
        )
        for directory in (self.project, self.home, self.hooks, self.log):
            directory.mkdir()
        for name, text in case["scripts"].items():
            file = self.hooks / name
            keeps = f'printf "%s\\n" "$P" >> {self.log}/{name}'
            file.write_text(f"#!/bin/sh\nP=$(cat)\n{keeps}\n{self.here(text)}\n")
            file.chmod(0o755)

    def here(self, value: Any) -> Any:
        """Return a recorded value with the paths of this run."""
        text = json.dumps(value).replace("@HOOKS@", str(self.hooks)).replace(_PROJECT, str(self.project))
        return json.loads(text)

    def there(self, text: str) -> str:
        return text.replace(str(self.project), _PROJECT)

    def files(self) -> list[File]:
        project = {"hooks": self.case["hooks"], **self.case.get("settings", {})}
        files: list[File] = []
        if "user_hooks" in self.case:
            user = json.dumps(self.here({"hooks": self.case["user_hooks"]}))
            files.append((f"{self.home}/.gemini/settings.json", "user", user))
        return [
            *files,
            (f"{self.project}/.gemini/settings.json", "project", json.dumps(self.here(project))),
        ]

    def got(self) -> dict[str, list[Any]]:
        return {
            file.name: [json.loads(line) for line in self.there(file.read_text()).splitlines()]
            for file in self.log.iterdir()
        }


def play_case(case: Case, root: Path) -> Played:
    directory = CaseDirectory(case, root)
    env = {"PATH": os.environ["PATH"], "HOME": str(directory.home), "LANG": "C.UTF-8"}
    handlers: dict[str, Handler] = {"command": CommandHandler(Processes(), env)}
    gemini, played = dialect(), Played()
    reading = read_hooks(gemini, directory.files(), handlers)
    engine = Engine(reading.hooks, handlers=handlers)
    engine.journal.subscribe(played.runs.append)

    async def play() -> None:
        session = engine.session("s", cwd=str(directory.project))
        session.tools = gemini.own_tools
        for document in map(directory.here, case["payloads"]):
            parsed = gemini.wire.parse(document)
            info: dict[str, Any] = msgspec.structs.asdict(parsed.info)
            info["project_dir"] = str(directory.project)
            session.update(**info)
            played.outcomes.append(await session.dispatch(parsed.event, parsed.payload))
        await engine.close()

    asyncio.run(play())
    played.got = directory.got()
    return played


def disagreements(case: Case, played: Played) -> list[str]:
    """One sentence each; none when they agree."""
    return [
        f"{what}: the client {wanted!r}, Hookline {found!r}"
        for what, wanted in case["expect"].items()
        if (found := _SHOWN[what](played)) != wanted
    ]


def _blocked(played: Played) -> bool | str:
    return "asked" if played.first.permission == "ask" else played.first.blocked


def _offered(played: Played) -> Any:
    """The client sorts them."""
    names: Any = played.first.answer
    forms = [
        own
        for name in names
        for own, tool in TABLE.tools.items()
        if tool.kind and TABLE.canonical_name(own) == name
    ]
    return sorted(set(forms) & {"glob", "read_file"})


_SHOWN: Mapping[str, Callable[[Played], Any]] = {
    "runs": lambda played: sum(run.status != "skipped" for run in played.runs),
    "blocked": _blocked,
    "reason": lambda played: played.first.reason,
    "stop": lambda played: played.first.stop_reason,
    "input": lambda played: played.first.updated_input,
    "output": lambda played: played.first.updated("tool_response"),
    "response": lambda played: played.first.updated("response"),
    "context": lambda played: "\n".join(played.first.context),
    "told": lambda played: [message.text for message in played.first.messages],
    "offered": _offered,
    "second_hook_got": lambda played: played.got["hook1.sh"][0],
    # No outcome has a word for these.
    "reply": lambda _played: None,
    "history": lambda _played: "kept",
    "temperature": lambda _played: None,
}
