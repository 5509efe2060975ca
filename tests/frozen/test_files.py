"""The published schemas, and how far the recorded behaviour of other agents is matched."""

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tests.frozen.approved import check_approved
from tests.recorded import recorded_cases

ROOT = Path(__file__).parents[2]
DIALECTS = ROOT / "tests/dialects"
IN_AGENT = ROOT / "tests/agent/recorded"
#: What a schema says to people, and not to a validator.
_PROSE = ("title", "description", "$comment", "examples", "markdownDescription")


def test_no_published_schema_accepts_or_refuses_anything_new() -> None:
    """`tests/generated` proves that these files are what the code would write."""
    files = sorted((ROOT / "schemas").rglob("*.json"))
    lines = (f"{_digest(file)}  {file.relative_to(ROOT).as_posix()}\n" for file in files)
    check_approved("schemas.txt", "".join(lines))


def _digest(file: Path) -> str:
    schema = json.loads(file.read_text())
    meant = _meant(schema, schema.get("$defs", {}), ())
    return hashlib.sha256(json.dumps(meant, sort_keys=True).encode()).hexdigest()[:16]


def _meant(value: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """Without prose, and each reference replaced by what it refers to: the name of a definition means nothing."""
    if isinstance(value, list):
        return [_meant(each, definitions, inside) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    schema = cast("dict[str, Any]", value)
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in inside:
        return {"back": len(inside) - inside.index(name)}
    if name:
        return _meant(definitions[name], definitions, (*inside, name))
    return {
        key: inner if key in ("enum", "const", "default") else _inner(key, inner, definitions, inside)
        for key, inner in schema.items()
        if key not in _PROSE and key != "$defs"
    }


def _inner(key: str, value: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if key == "properties":  # here the keys are names of fields, and one may be called `title`
        return {name: _meant(each, definitions, inside) for name, each in value.items()}
    return _meant(value, definitions, inside)


def test_as_many_recorded_cases_agree_as_ever() -> None:
    recorded = recorded_cases()
    different = _ids(DIALECTS / "claude_code/different.toml")
    needs_agent = _ids(DIALECTS / "claude_code/needs_agent.toml")
    order = tomllib.loads((IN_AGENT / "order_different.toml").read_text())
    counts = {
        "recorded": len(recorded),
        "agree": len(recorded) - len(different) - len(needs_agent),
        "different on purpose": len(different),
        "need an agent": len(needs_agent),
        "different in the agent": len(_ids(IN_AGENT / "different.toml")),
        "differences in the order of events": len(order["difference"]),
        "sessions not played": len(order["not_played"]),
    }
    lines = [f"claude-code: {count} {what}" for what, count in counts.items()]
    check_approved("agreement.txt", "\n".join([*lines, *_rules()]) + "\n")


def _ids(file: Path) -> list[str]:
    return [row["id"] for row in tomllib.loads(file.read_text())["case"]]


def _rules() -> list[str]:
    """Of the numbered rules of each contract: how many a test holds, and which are held otherwise."""
    lines: list[str] = []
    for file in sorted(DIALECTS.glob("*/rules.toml")):
        rules = tomllib.loads(file.read_text())["rule"]
        held = Counter(how for rule in rules for how in ("test", "different", "not_yet") if how in rule)
        counts = ", ".join(f"{count} {how}" for how, count in sorted(held.items()))
        lines.append(f"{file.parent.name}: {len(rules)} rules: {counts}")
    return lines
