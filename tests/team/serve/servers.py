"""A real server of decisions on loopback, and raw requests to it."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookline import Engine
from hookline.handlers.registry import standard_handlers
from hookline.journal.file import JournalFile
from hookline.journal.journal import Journal
from hookline.journal.reader import read_journal
from hookline.journal.redaction import Redactor
from hookline.model.run import Run
from hookline.team.serve.app import DecisionApp, ServerLimits
from hookline.team.serve.decide import Decider, InServerDirectory, Lifetimes, revision_of
from hookline.team.serve.server import Listening, decision_server, open_socket

TOKEN = "a-token-that-nobody-guesses"


def payload(command: str, **more: Any) -> bytes:
    document = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": "/not/on/this/machine",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    return json.dumps(document | more).encode()


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def decision_id(self) -> str:
        return self.headers.get("hookline-decision-id", "")


@dataclass
class Deciding:
    app: DecisionApp
    engine: Engine
    port: int
    journal: Path
    tls: bool

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/v1/decide"

    @property
    def runs(self) -> list[Run]:
        return list(read_journal(str(self.journal)).runs)

    def refused(self, why: str) -> int:
        return self.app.counts.refused[why]

    async def ask(
        self,
        body: bytes,
        *,
        path: str = "/v1/decide",
        method: str = "POST",
        token: str | None = TOKEN,
        more: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> Reply:
        lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}"]
        lines += [] if token is None else [f"Authorization: Bearer {token}"]
        lines += [f"{name}: {value}" for name, value in (more or {}).items()]
        return await self.send("\r\n".join([*lines, "", ""]).encode() + body, tls=tls)

    async def send(self, raw: bytes, *, tls: ssl.SSLContext | None = None) -> Reply:
        """Return the answer to exactly these bytes."""
        reader, writer = await self.connect(tls)
        try:
            writer.write(raw)
            return await read_reply(reader)
        finally:
            writer.close()

    async def connect(
        self, tls: ssl.SSLContext | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=tls)


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")[:-2]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Reply(int(first.split(" ")[1]), headers, json.loads(body) if body else {})


@asynccontextmanager
async def deciding(
    directory: Path,
    config: str,
    *,
    bounds: ServerLimits | None = None,
    lifetimes: Lifetimes | None = None,
    token: str = TOKEN,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[Deciding]:
    """A server for the length of a block. Its deadline is long: a busy machine is slow, not wrong."""
    bounds = bounds or ServerLimits(deadline=60)
    file = directory / "guards.toml"
    file.write_text(config)
    journal = directory / "journal.jsonl"
    handlers = standard_handlers()
    engine = Engine(
        handlers=handlers | {"command": InServerDirectory(handlers["command"], str(directory))},
        journal=Journal(Redactor({}), file=JournalFile(str(journal)), caller="hookline serve"),
    )
    loaded = engine.load(directory, [str(file)])
    assert not loaded.diagnostics
    decider = Decider(
        engine, engine.loader.home, revision_of(loaded), bounds.deadline, lifetimes or Lifetimes()
    )
    app = DecisionApp(decider, (token.encode(),) if token else (), bounds)
    listening = Listening("127.0.0.1", 0, tls)
    listener = open_socket(listening)
    listener.listen()
    server = decision_server(app, listening, bounds)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield Deciding(app, engine, listener.getsockname()[1], journal, tls is not None)
    finally:
        server.should_exit = True
        await serving
        await engine.close()
