"""Write what is derived from the tables: `python -m tools.generate`, or `--check` that it is all fresh."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookline.dialects.dialect import SUFFIXES
from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from hookline.model.events import EVENTS, EventSpec
from hookline.schemas.agent_config import agent_config_schema
from hookline.schemas.answer import answer_schema
from hookline.schemas.config import config_schema
from hookline.schemas.payload import payload_schema
from tools.adapters_page import adapters_page
from tools.agent_events_page import agent_events_page
from tools.api_page import api_page
from tools.cli_schemas import cli_schemas
from tools.config_page import config_page
from tools.enforcement_page import enforcement_page
from tools.events_page import events_page
from tools.firing_page import firing_page
from tools.guards_page import guards_page
from tools.markdown import json_pretty
from tools.outcome_page import outcome_page
from tools.plugins import plugins
from tools.reach_page import reach_page
from tools.recorded_page import recorded_pages
from tools.recorded_payloads import recorded_payloads
from tools.rules_page import load_rules, rules_page
from tools.secrets_page import secrets_page
from tools.telemetry_page import telemetry_page
from tools.tools_page import tools_page
from tools.transcripts_page import transcripts_page

ROOT = Path(__file__).resolve().parent.parent
#: Nothing else may be in them: a file whose event or agent is gone is stale too.
OWN_DIRECTORIES = ("schemas/events", "schemas/agents")


def artefacts(events: Mapping[str, EventSpec[Any]]) -> dict[str, str]:
    """Every generated file by its path, with its text."""
    files = {
        "schemas/hooks.json": json_pretty(config_schema(events)) + "\n",
        "docs/reference/events.md": events_page(events),
        "docs/reference/agent-events.md": agent_events_page(),
        "docs/reference/api.md": api_page(events),
        "docs/reference/adapters.md": adapters_page(ROOT),
        "docs/reference/enforcement.md": enforcement_page(ROOT),
        "docs/reference/outcome.md": outcome_page(),
        "docs/reference/firing.md": firing_page(ROOT, events),
        "docs/reference/config.md": config_page(events),
        "docs/reference/secrets.md": secrets_page(),
        "docs/reference/guards.md": guards_page(),
        "docs/reference/telemetry.md": telemetry_page(),
        "docs/reference/tools.md": tools_page(),
        "docs/reference/reach.md": reach_page(ROOT),
        "docs/reference/transcripts.md": transcripts_page(),
        "docs/dialects/rules.md": rules_page(load_rules(ROOT)),
        **recorded_pages(ROOT),
        **recorded_payloads(ROOT),
        **cli_schemas(),
        **agent_config_schemas(),
        **plugins(),
        "src/hookline/hook/relay/observed.txt": observed_events(),
        "schemas/schemastore.json": json_pretty(schemastore_entry()) + "\n",
    }
    for event in events.values():
        files[f"schemas/events/{event.name}.payload.json"] = json_pretty(payload_schema(event)) + "\n"
        files[f"schemas/events/{event.name}.answer.json"] = json_pretty(answer_schema(event)) + "\n"
    return dict(sorted(files.items()))


def agent_config_schemas() -> dict[str, str]:
    """The schemas of other agents' files, by path."""
    return {
        f"schemas/agents/{name}.json": json_pretty(agent_config_schema(listed.build())) + "\n"
        for name, listed in standard_dialects().items()
        if name != OWN_FORMAT and listed.has_files
    }


def observed_events() -> str:
    """The events that guard nothing, for the relay: broken, it must block calls at all others."""
    return "".join(
        f"{name} {event.name}\n"
        for name, listed in standard_dialects().items()
        for event in listed.build().events.values()
        if not event.guards
    )


def schemastore_entry() -> dict[str, Any]:
    """The entry for the catalog of SchemaStore, from which editors take the schemas of files they know by name."""
    return {
        "name": "Hookline hooks",
        "description": "Hooks and guards for AI agents",
        "fileMatch": [
            f"**/.hookline/{name}.{suffix}" for name in ("hooks", "hooks.local") for suffix in SUFFIXES
        ],
        "url": "https://www.schemastore.org/hookline.json",
    }


def stale(root: Path, files: Mapping[str, str]) -> list[str]:
    """The files that are missing, differ, or should not be there."""
    different = [name for name, text in files.items() if _text(root / name) != text]
    there = {
        path.relative_to(root).as_posix()
        for directory in OWN_DIRECTORIES
        for path in (root / directory).glob("*")
    }
    return sorted({*different, *(there - set(files))})


def write(root: Path, files: Mapping[str, str]) -> list[str]:
    """Write or remove stale files, and return their names."""
    changed = stale(root, files)
    for name in changed:
        path = root / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name].encode())
        else:
            path.unlink()
    return changed


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def main(words: Sequence[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is stale")
    args = parser.parse_args(words)
    files = artefacts(EVENTS)
    if args.check:
        found = stale(root, files)
        if found:
            print("stale, run `make generate`:\n  " + "\n  ".join(found), file=sys.stderr)
        return 1 if found else 0
    changed = write(root, files)
    print(f"{len(files)} files, {len(changed)} changed" + "".join(f"\n  {name}" for name in changed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
