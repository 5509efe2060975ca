"""Every numbered rule of the contract is accounted for, once, by something that exists."""

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

RULES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "rules.toml").read_text())["rule"]


def test_all_rules_are_there_in_order() -> None:
    assert [rule["id"] for rule in RULES] == [f"R-CW-{number}" for number in range(1, 45)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_a_rule_is_held_in_one_way(rule: dict[str, Any]) -> None:
    assert len({"test", "different", "not_yet"} & set(rule)) == 1
    assert rule["says"].endswith(".")
    if "test" in rule:
        file, _, name = rule["test"].partition("::")
        module = import_module(file.removesuffix(".py").replace("/", "."))
        assert callable(getattr(module, name.split("[")[0]))
