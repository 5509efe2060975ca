"""`hookline fleet worker`."""

import argparse
import os

from hookline.cli.output import ExitStatus
from hookline.fleet.settings import read_settings


async def run(args: argparse.Namespace) -> int:
    settings = read_settings(os.environ)
    del args, settings
    return ExitStatus.OK
