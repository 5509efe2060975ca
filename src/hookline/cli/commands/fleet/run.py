"""Run an action of `hookline fleet`, by the server of the settings or by a directory."""

import argparse
import os
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from hookline.cli.commands.fleet import foreign_options
from hookline.cli.requests import RequestError
from hookline.team.fleet.bundles.transport import DirectoryTransport, ServerTransport, Transport
from hookline.team.fleet.connection import connected
from hookline.team.fleet.settings import read_settings


def run(args: argparse.Namespace) -> "int | Coroutine[Any, Any, int]":
    args.action = args.action or "status"
    foreign = foreign_options(args)
    if foreign:
        raise RequestError(
            f"{args.action} has no {foreign[0]}; `hookline fleet {args.action} --help` lists its options"
        )
    return import_module(f"hookline.cli.commands.fleet.{args.action}").run(args)


@asynccontextmanager
async def transport_of(args: argparse.Namespace) -> AsyncGenerator[Transport]:
    """Yield the transport that the options choose. Raises FleetError if the server cannot be reached."""
    if args.directory is not None:
        yield DirectoryTransport(args.directory)
        return
    async with connected(read_settings(os.environ)) as fleet:
        await fleet.prepare()
        yield ServerTransport(fleet)
