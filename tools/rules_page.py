"""Write docs/dialects/rules.md: the rules of the agents' hook contracts, each with its test.

The rows are beside the tests, in tests/dialects/*/rules.toml.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from tools.markdown import GENERATED, code, page, table

RULES = "tests/dialects/*/rules.toml"

_INTRODUCTION = """\
How each agent treats its hooks, rule by rule, and how Hookline follows it: a test checks the rule with every change,
or Hookline differs on purpose. A rule that is not implemented yet says so, with the reason. A rule with none of these
fails the build."""


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    says: str
    #: Exactly one of these three says how it is held.
    test: str | None = None
    different: str | None = None
    not_yet: str | None = None
    note: str = ""

    @property
    def number(self) -> int:
        return int(self.id.rsplit("-", 1)[-1])


class _File(Struct, forbid_unknown_fields=True):
    rule: list[Rule] = []


def load_rules(root: Path) -> Mapping[str, tuple[Rule, ...]]:
    """Load the rules by the dialect's directory. Raise ValueError that names the file."""
    return {path.parent.name: _read(path) for path in sorted(root.glob(RULES))}


def _read(path: Path) -> tuple[Rule, ...]:
    try:
        return tuple(msgspec.convert(tomllib.loads(path.read_text()), _File).rule)
    except (ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}") from None


def rules_page(rules: Mapping[str, tuple[Rule, ...]]) -> str:
    blocks = ["# The rules of the dialects", GENERATED, _INTRODUCTION, _counts(rules)]
    for dialect, some in rules.items():
        rows = [(each.id, each.says, _held(each)) for each in sorted(some, key=lambda each: each.number)]
        blocks += [f"## {_title(dialect)}", table(("rule", "says", "held by"), rows)]
    return page(*blocks)


def _counts(rules: Mapping[str, tuple[Rule, ...]]) -> str:
    rows = [
        (
            f"[{_title(dialect)}](#{_title(dialect)})",
            str(len(some)),
            *(str(sum(1 for each in some if getattr(each, how))) for how in ("test", "different", "not_yet")),
        )
        for dialect, some in rules.items()
    ]
    return table(("dialect", "rules", "tested", "different on purpose", "not yet"), rows)


def _title(directory: str) -> str:
    return directory.replace("_", "-")


def _held(rule: Rule) -> str:
    if rule.test:
        held = code(rule.test.removeprefix("tests/dialects/"))
    elif rule.different:
        held = f"different on purpose: {rule.different}"
    else:
        held = f"**not yet**: {rule.not_yet}"
    return f"{held.rstrip('.')}. {rule.note}" if rule.note else held
