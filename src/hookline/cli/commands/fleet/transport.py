"""Choose the transport of `hookline fleet`: the server of the settings, or a directory."""

import argparse
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from hookline.team.fleet.bundles.transport import DirectoryTransport, ServerTransport, Transport
from hookline.team.fleet.connection import connected
from hookline.team.fleet.settings import read_settings


@asynccontextmanager
async def transport_of(args: argparse.Namespace) -> AsyncGenerator[Transport]:
    """Yield the transport. Raises FleetError if the server cannot be reached."""
    if args.directory is not None:
        yield DirectoryTransport(args.directory)
        return
    async with connected(read_settings(os.environ)) as fleet:
        await fleet.prepare()
        yield ServerTransport(fleet)
