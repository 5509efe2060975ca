"""Run an action of `hookline fleet`."""

import argparse
from collections.abc import Coroutine
from importlib import import_module
from typing import Any

from hookline.cli.commands.fleet import foreign_options
from hookline.cli.requests import RequestError


def run(args: argparse.Namespace) -> "int | Coroutine[Any, Any, int]":
    args.action = args.action or "status"
    foreign = foreign_options(args)
    if foreign:
        raise RequestError(
            f"{args.action} has no {foreign[0]}; `hookline fleet {args.action} --help` lists its options"
        )
    return import_module(f"hookline.cli.commands.fleet.{args.action}").run(args)
