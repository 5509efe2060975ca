"""Servers behind a URL."""

import asyncio
from pathlib import Path

from tests.agent.mcp.http_server import serving
from tests.agent.mcp.server_sessions import configure, session_with
from tests.agent.scripted_session import call, calls, says


def test_a_server_behind_a_url_is_called_with_the_headers_of_its_entry(tmp_path: Path):
    with serving() as (url, heard):
        configure(tmp_path, far={"type": "http", "url": url, "headers": {"Authorization": "Bearer ${HOME}"}})

        async def main() -> None:
            async with session_with(
                tmp_path, calls(call("mcp__far__echo", text="x")), says("done")
            ) as scripted:
                await scripted.play("go")
                assert scripted.results() == ["echo x"]
                assert heard.authorizations == {f"Bearer {scripted.home}"}

        asyncio.run(main())
    assert "tools/call" in heard.methods


def test_a_server_that_goes_away_fails_its_calls_with_words(tmp_path: Path):
    async def main() -> None:
        with serving() as (url, _):
            configure(tmp_path, far={"type": "http", "url": url, "timeout": 5000})
            scripted = session_with(
                tmp_path, says("one"), calls(call("mcp__far__echo", text="x")), says("two")
            )
            await scripted.__aenter__()
            await scripted.play("one")
        try:
            received = await scripted.play("two")
            assert received is not None
            assert received.status == "completed"
            (failed,) = scripted.events("PostToolUseFailure")
            assert "the MCP server far" in failed.payload.error
        finally:
            await scripted.__aexit__()

    asyncio.run(main())
