"""Serve the commands of Hookline to agents over MCP, on standard input and output."""

import argparse
import asyncio
import os

from hookline.cli.output import ExitStatus
from hookline.cli.requests import RequestError
from hookline.dialects.files import user_setting
from hookline.extras import how_to_add

#: The user's setting that lets agents run hooks by `fire`.
FIRE_SETTING = "mcp_fire"


def run(args: argparse.Namespace) -> ExitStatus:
    del args
    try:
        from hookline.cli.commands.mcp.server import build_server
    except ImportError as problem:
        raise RequestError(f"hookline mcp needs the extra agent ({problem}): {how_to_add('agent')}") from None
    may_fire = any(value is True for _, value in user_setting(FIRE_SETTING, os.environ))
    asyncio.run(build_server(may_fire=may_fire).run_stdio_async())
    return ExitStatus.OK
