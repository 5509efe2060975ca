"""Servers behind a URL."""

import asyncio
from pathlib import Path

from tests.agent.mcp.http_server import serving
from tests.agent.mcp.scene import configure, stage
from tests.agent.stage import call, calls, says


def test_a_server_behind_a_url_is_called_with_the_headers_of_its_entry(tmp_path: Path):
    with serving() as (url, heard):
        configure(tmp_path, far={"type": "http", "url": url, "headers": {"Authorization": "Bearer ${HOME}"}})

        async def main() -> None:
            async with stage(tmp_path, calls(call("mcp__far__echo", text="x")), says("done")) as scene:
                await scene.play("go")
                assert scene.results() == ["echo x"]
                assert heard.authorizations == {f"Bearer {scene.home}"}

        asyncio.run(main())
    assert "tools/call" in heard.methods


def test_a_server_that_goes_away_fails_its_calls_with_words(tmp_path: Path):
    async def main() -> None:
        with serving() as (url, _):
            configure(tmp_path, far={"type": "http", "url": url, "timeout": 5000})
            scene = stage(tmp_path, says("one"), calls(call("mcp__far__echo", text="x")), says("two"))
            await scene.__aenter__()
            await scene.play("one")
        try:
            told = await scene.play("two")
            assert told is not None
            assert told.status == "completed"
            (failed,) = scene.events("PostToolUseFailure")
            assert "the MCP server far" in failed.payload.error
        finally:
            await scene.__aexit__()

    asyncio.run(main())
