"""The transport that an action of `hookline fleet` uses: the server of the settings, or a folder."""

import argparse
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from hookline.fleet.bundles.transport import FolderTransport, ServerTransport, Transport
from hookline.fleet.connection import connected
from hookline.fleet.settings import read_settings


@asynccontextmanager
async def transport_of(args: argparse.Namespace) -> AsyncGenerator[Transport]:
    """Raises FleetError if the server cannot be reached."""
    if args.folder is not None:
        yield FolderTransport(args.folder)
        return
    async with connected(read_settings(os.environ)) as fleet:
        await fleet.prepare()
        yield ServerTransport(fleet)
