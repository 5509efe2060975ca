import tomllib
from pathlib import Path
from typing import Any

from tests.dialects.gencode.stage import HERE

ROOT = HERE.parents[2]
RULES: list[dict[str, Any]] = tomllib.loads((HERE / "rules.toml").read_text())["rule"]


def test_every_rule_is_held_by_exactly_one_thing() -> None:
    assert [rule["id"] for rule in RULES] == [f"R-GC-{number}" for number in range(1, 41)]
    for rule in RULES:
        assert len({"test", "different", "not_yet"} & set(rule)) == 1, rule["id"]
        assert rule["says"].strip()


def test_every_test_that_holds_a_rule_is_there() -> None:
    for rule in RULES:
        if "test" in rule:
            file, _, name = rule["test"].partition("::")
            assert f"def {name.split('[')[0]}(" in Path(ROOT, file).read_text(), rule["id"]
