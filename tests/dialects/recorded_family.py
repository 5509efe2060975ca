"""Play a recorded case of a small dialect: its files and scripts, with real processes, and the payloads of its run.

A case has `files` (with their scopes), `scripts`, `payloads`, what was `observed`, and `expect`: the same without what
the client puts around the words of a hook. `<TMP>` stands for the scratch directory.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline import Engine, Outcome
from hookline.dialects.registry import dialect_named
from hookline.documents.document import format_of, read_document
from hookline.extending import ConfigPath, Layer, Run, Tools, standard_handlers
from hookline.matching.patterns import Patterns
from hookline.model.outcome import merged
from hookline.shell import ShellReader
from tests.recorded import Case


class Played(Struct, frozen=True):
    """The results of a case in Hookline."""

    outcome: Outcome
    runs: tuple[Run, ...]
    directory: str


def player(name: str) -> Callable[[Case, Path], Played]:
    """Return the function that plays cases of a dialect."""
    return lambda case, directory: asyncio.run(_play(name, case, directory))


async def _play(name: str, case: Case, directory: Path) -> Played:
    def here(text: str) -> str:
        return text.replace("<TMP>", str(directory)).replace("/home/user/project", str(directory / "ws"))

    dialect = dialect_named(name)
    assert dialect is not None
    for place in ("ws", "log", "home/.cursor", "home/.claude", "etc", "team"):
        (directory / place).mkdir(parents=True, exist_ok=True)
    for script, text in case["scripts"].items():
        body = here(text).replace("$HKLOG", str(directory / "log")).replace("__D__", str(directory / "log"))
        (directory / script).write_text(f"#!/bin/sh\nP=$(cat)\n{body}\n")
        (directory / script).chmod(0o755)
    layers: list[Layer] = []
    for each in case["files"]:
        file, text = here(each["file"]), here(each["text"])
        form = format_of(file)
        assert form is not None
        document = read_document(text, form, file, comments=dialect.json_comments)
        layers.append(Layer(ConfigPath(file, each["scope"]), document))
    handlers = standard_handlers()
    loaded = dialect.read(layers, Tools(handlers, Patterns(), ShellReader()))
    runs: list[Run] = []
    said: list[Outcome] = []
    for payload in case["payloads"]:
        parsed = dialect.wire.parse(json.loads(here(json.dumps(payload))))
        own = payload["hook_event_name"]
        # Several of its events are one of Hookline's: those of the other names are not fired.
        hooks = [hook for hook in loaded.hooks if hook.policy.event_name == own]
        engine = Engine(hooks, handlers=handlers)
        engine.journal.subscribe(runs.append)
        session = engine.session("recorded")
        session.tools = dialect.own_tools
        session.info = replace(parsed.info, cwd=str(directory / "ws"))
        said.append(await session.dispatch(parsed.event, parsed.payload))
        await engine.drain(30)
    for handler in handlers.values():
        await handler.close()
    return Played(merged(said), tuple(runs), str(directory))


def _input(played: Played) -> Any:
    new: Any = played.outcome.updated_input
    table: Mapping[str, Any] = cast("Mapping[str, Any]", new) if isinstance(new, Mapping) else {}
    return table.get("command") or table.get("file_path")


_SEEN: Mapping[str, Callable[[Played], Any]] = {
    "runs": lambda played: len([run for run in played.runs if run.status not in ("skipped", "background")]),
    "blocked": lambda played: played.outcome.blocked,
    "reason": lambda played: played.outcome.reason,
    "permission": lambda played: played.outcome.permission,
    "input": _input,
    "whole_input": lambda played: played.outcome.updated_input,
    "output": lambda played: played.outcome.updated_output,
    "context": lambda played: "\n".join(played.outcome.context),
}


def disagreements(case: Case, played: Played) -> list[str]:
    return [
        f"{what}: the client {wanted!r}, Hookline {_SEEN[what](played)!r}"
        for what, wanted in case["expect"].items()
        if _plain(_SEEN[what](played), played.directory) != _plain(wanted, "<TMP>")
    ]


def _plain(value: Any, directory: str) -> Any:
    """Return a text without what joins the words of several hooks, and without the scratch directory."""
    if not isinstance(value, str):
        return value
    text = value.replace(directory, "<TMP>")
    return "\n".join(line for line in text.split("\n") if line and line != "---")
