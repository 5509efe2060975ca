"""Every rule of the contract has a row, and every row that names a test names one that is there."""

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

RULES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "rules.toml").read_text())["rule"]


def test_every_rule_is_there_once():
    assert [rule["id"] for rule in RULES] == [f"R-DA-{number}" for number in range(1, 41)]


def test_every_rule_is_held_in_exactly_one_way():
    for rule in RULES:
        assert len(rule.keys() & {"test", "different", "not_yet"}) == 1, rule["id"]
        assert rule["says"]


def test_every_test_named_is_there():
    for rule in RULES:
        file, _, name = rule.get("test", "").partition("::")
        if file:
            module = import_module(file.removesuffix(".py").replace("/", "."))
            assert callable(getattr(module, name.partition("[")[0])), rule["id"]
