"""Keep the newest backtest reports in the user's state, for the console."""

import os
import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hookline.journal.file import state_dir

_KEPT = 20
_LONGEST = 32 * 1024 * 1024
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9]{1,9}\.json")


class KeptReport(Struct, frozen=True):
    """One report: the document of `hookline backtest --json`."""

    name: str
    #: Seconds since the epoch: when it was made.
    at: float
    report: dict[str, Any]


def keep_report(env: Mapping[str, str], document: bytes, now: float) -> None:
    """Store a report and delete the oldest. Raises OSError."""
    directory = _directory(env)
    for each in (state_dir(env), directory):
        os.makedirs(each, mode=0o700, exist_ok=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{os.getpid()}.json"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(os.path.join(directory, name), flags, 0o600), "wb") as file:
        file.write(document)
    for old in _names(directory)[_KEPT:]:
        os.unlink(os.path.join(directory, old))


def kept_reports(env: Mapping[str, str]) -> list[KeptReport]:
    """Return the stored reports, newest first, without those that cannot be read."""
    found = (kept_report(env, name) for name in _names(_directory(env))[:_KEPT])
    return [each for each in found if each is not None]


def kept_report(env: Mapping[str, str], name: str) -> KeptReport | None:
    path = os.path.join(_directory(env), name)
    if _NAME.fullmatch(name) is None:
        return None
    try:
        with open(path, "rb") as file:
            report = msgspec.json.decode(file.read(_LONGEST), type=dict[str, Any])
        return KeptReport(name, os.stat(path).st_mtime, report)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def _directory(env: Mapping[str, str]) -> str:
    return os.path.join(state_dir(env), "backtests")


def _names(directory: str) -> list[str]:
    try:
        return sorted((name for name in os.listdir(directory) if _NAME.fullmatch(name)), reverse=True)
    except OSError:
        return []
