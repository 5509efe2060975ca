"""Read what the actions that sign bundles have in common: scopes, stages, times, and the question before they sign."""

import argparse
import re
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from hookline.cli.output import note, show
from hookline.cli.requests import RequestError
from hookline.cli.times import parse_duration
from hookline.config.bundles.format import WHOLE, BundleScope, ScopeException
from hookline.model.safe_text import one_line, printable
from hookline.team.fleet.access import FleetError
from hookline.team.fleet.bundles.publish import KnownFleet
from hookline.team.fleet.bundles.transport import Transport
from hookline.team.fleet.status import fleet_status

_SCOPES = {"machine": "machines", "machine!": "not_machines", "group": "groups", "project": "projects"}
_LONGEST = 500


async def known_fleet(transport: Transport) -> KnownFleet:
    """Return what machines have reported so far; nothing if that cannot be read."""
    try:
        seen = await transport.machines()
    except FleetError:
        return KnownFleet()
    return KnownFleet(
        tuple(each.report for each in fleet_status((), seen.reports, {}, for_all=seen.for_all).machines)
    )


def overruled(args: argparse.Namespace, objections: Sequence[str]) -> bool:
    """Say what speaks against it. Returns True if nothing does, or the user said --force."""
    for each in objections:
        note(one_line(f"hookline fleet {args.action}: {each}", _LONGEST))
    if objections and not args.force:
        note(f"hookline fleet {args.action}: nothing was published; --force does it all the same")
    return not objections or args.force


def agreed(action: str, lines: Sequence[str], *, as_json: bool) -> bool:
    text = printable("\n".join(lines))
    if as_json or not sys.stdin.isatty():
        note(text)
        note(f"hookline fleet {action}: nothing was published; say --yes to publish without a question")
        return False
    show(text)
    sys.stdout.write("Sign and publish it? [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    show("nothing was published")
    return False


def scope_of(args: argparse.Namespace) -> BundleScope:
    found: dict[str, list[str]] = {}
    for text in args.scope:
        what, _, pattern = text.partition("=")
        if what not in _SCOPES or not pattern:
            raise RequestError(
                f"--scope {text[:80]!r} is none of machine=NAME, machine!=NAME, group=NAME, project=DIRECTORY"
            )
        found.setdefault(_SCOPES[what], []).append(pattern)
    patterns = {name: tuple(each) for name, each in found.items()}
    return msgspec.convert({**patterns, "exceptions": exceptions_of(args)}, BundleScope)


def exceptions_of(args: argparse.Namespace) -> tuple[ScopeException, ...]:
    return tuple(map(_exception, args.exceptions))


def _exception(text: str) -> ScopeException:
    given = re.fullmatch(r"([^=]+)=([^:]+):(.+)", text.strip(), re.DOTALL)
    if given is None or not given[3].strip():
        raise RequestError(
            f"--except {text[:80]!r}: say MACHINE=UNTIL:REASON, such as 'laptop-7=7d: it breaks the build'"
        )
    return ScopeException(given[1].strip(), int(_until(given[2].strip())), given[3].strip()[:_LONGEST])


def _until(text: str) -> float:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        try:
            found = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        except ValueError:
            raise RequestError(f"--except: {text} is not a date") from None
        if found <= time.time():
            raise RequestError(f"--except: {text} is over")
        return found
    return time.time() + seconds_of(text, "--except")


def stages_of(text: str | None) -> list[int]:
    """Return the stages, each larger than the one before it."""
    stages = [_stage(each) for each in (text or "100%").split(",")]
    if stages != sorted(set(stages)):
        raise RequestError(f"--stage {(text or '')[:40]!r}: each stage is larger than the one before it")
    return stages


def _stage(text: str) -> int:
    number = re.fullmatch(r"(\d{1,3}(?:\.\d{1,2})?)\s*%?", text.strip())
    if number is None or not 0 <= float(number[1]) <= 100:
        raise RequestError(f"--stage {text[:40]!r} is not a share: say 10%")
    return round(float(number[1]) * WHOLE / 100)


def seconds_of(text: str, option: str) -> float:
    """Return a time above 0 in seconds."""
    seconds = parse_duration(text, option)
    if not seconds:
        raise RequestError(f"{option} {text!r} is not a time")
    return seconds
