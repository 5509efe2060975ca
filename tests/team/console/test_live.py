"""Test live runs: every client gets them in order, catches up after a break, and a slow one delays no other."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from hookline.team.console.index import Index
from hookline.team.console.live import Client, Live
from hookline.team.console.queries import Queries
from hookline.team.console.source import JournalSource
from tests.team.console.scene import append, journal_of
from tests.waiting import until


def events(message: bytes) -> tuple[str, str, Any]:
    fields = dict(line.split(": ", 1) for line in message.decode().strip().split("\n"))
    return fields.get("event", ""), fields.get("id", ""), json.loads(fields.get("data", "null"))


async def next_of(stream: AsyncGenerator[bytes]) -> tuple[str, str, Any]:
    return events(await asyncio.wait_for(anext(stream), 30))


def hooks(data: Any) -> list[str]:
    return [run["hook"] for run in data["runs"]]


async def follow(home: Path) -> None:
    source = JournalSource(str(journal_of(home)), "box")
    index = Index(str(home / "index.sqlite"), [source], lambda _text: None)
    queries = Queries(index)
    live = Live(index, queries, lambda row: (row.n, f"<li>{row.hook}"))
    append(home, hook="before")
    task = asyncio.create_task(live.run())
    try:
        await until(lambda: (home / "index.sqlite").exists() and index.progress == 1)
        first, second = live.listen(""), live.listen("")
        for stream in (first, second):
            assert (await anext(stream)).startswith(b"retry:")
            kind, last, _ = await next_of(stream)
            assert (kind, last.rpartition("-")[2]) == ("now", "1")
        append(home, hook="one", status="blocked", decision="deny", input="git push")
        for stream in (first, second):
            kind, last, data = await next_of(stream)
            assert (kind, hooks(data), data["left_out"]) == ("runs", ["one"], 0)
            assert data["runs"][0] | {"flags": 1, "q": "Bash git push", "html": "<li>one"} == data["runs"][0]
        await first.aclose()
        await until(lambda: live.clients == 1)
        for number in range(130):
            append(home, hook=f"while away {number}")
        again = live.listen(last)
        await anext(again)
        await until(lambda: queries.newest() == 132)
        _, newest, data = await next_of(again)
        got = hooks(data)
        while newest.rpartition("-")[2] != "132":
            _, newest, data = await next_of(again)
            got += hooks(data)
        assert got[-1] == "while away 129"
        assert len(got) + data["left_out"] >= 100
        await again.aclose()
        live.close()
        async for message in second:
            assert message
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        index.close()
        source.close()


def test_clients_get_runs_as_they_happen_and_those_that_they_missed(tmp_path: Path) -> None:
    asyncio.run(follow(tmp_path))


def test_a_slow_client_loses_its_oldest_messages_and_is_told_how_many() -> None:
    async def play() -> list[bytes]:
        client = Client()
        for number in range(100):
            client.put(b"%d" % number)
        client.put(b"last")
        got: list[bytes] = []
        async for message in client.messages():
            got.append(message)
            if message == b"last":
                client.close()
        return got

    got = asyncio.run(play())
    assert got[0] == b"event: lost\ndata: 37\n\n"
    assert got[1:3] == [b"37", b"38"]
    assert len(got) == 1 + 64
