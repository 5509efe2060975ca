"""Run an action of `hookline fleet`."""

import argparse
from collections.abc import Coroutine
from importlib import import_module
from typing import Any


def run(args: argparse.Namespace) -> "int | Coroutine[Any, Any, int]":
    return import_module(f"hookline.cli.commands.fleet.{args.action}").run(args)
