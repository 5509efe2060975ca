"""Every numbered rule of the agents' contracts is held by a test, is different on purpose, or says what it awaits."""

from collections import Counter
from importlib import import_module

import pytest

from tools.generate import ROOT
from tools.rules_page import Rule, load_rules, rules_page

#: How many rules each contract has.
CONTRACTS = {"R-CW": 44, "R-GC": 40, "R-RX": 38, "R-DA": 40}
RULES = load_rules(ROOT)
ALL = [rule for some in RULES.values() for rule in some]
NUMBERED = [f"{prefix}-{number}" for prefix, most in CONTRACTS.items() for number in range(1, most + 1)]


def there(test: str) -> bool:
    """Return True if a test has that name: `tests/x/test_y.py::test_z`, perhaps with a case in brackets."""
    file, _, name = test.partition("::")
    if not (ROOT / file).is_file() or not name.startswith("test_"):
        return False
    module = import_module(file.removesuffix(".py").replace("/", "."))
    return callable(getattr(module, name.partition("[")[0], None))


def problems(rule: Rule) -> list[str]:
    """Return why no test holds a rule."""
    held = [how for how in ("test", "different", "not_yet") if getattr(rule, how) is not None]
    found = [] if len(held) == 1 else [f"held by {len(held)} of test, different, not_yet"]
    if not rule.says.strip().endswith("."):
        found.append("says no sentence")
    if rule.test is not None and not there(rule.test):
        found.append(f"no test is called {rule.test}")
    if rule.different is not None and len(rule.different.split()) < 3:
        found.append("does not say why it is different")
    if rule.not_yet is not None and len(rule.not_yet.split()) < 3:
        found.append("does not say what it waits for")
    return found


@pytest.mark.parametrize("prefix", CONTRACTS)
def test_every_rule_of_a_contract_is_there_once(prefix: str):
    found = Counter(rule.id for rule in ALL if rule.id.startswith(f"{prefix}-"))
    expected = [number for number in NUMBERED if number.startswith(f"{prefix}-")]
    assert [number for number in expected if number not in found] == []
    assert [number for number, times in found.items() if times > 1 or number not in expected] == []


def test_every_rule_is_held():
    assert {rule.id: found for rule in ALL if (found := problems(rule))} == {}


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (Rule("R-RX-1", "It holds."), "held by 0"),
        (
            Rule("R-RX-1", "It holds.", test=f"{__name__.replace('.', '/')}.py::test_none"),
            "no test is called",
        ),
        (Rule("R-RX-1", "It holds.", test="tests/nowhere/test_x.py::test_y"), "no test is called"),
        (Rule("R-RX-1", "It holds.", different="so"), "why it is different"),
        (Rule("R-RX-1", "It holds.", not_yet="later"), "what it waits for"),
        (Rule("R-RX-1", "It holds.", different="it is better here", not_yet="it comes later"), "held by 2"),
        (Rule("R-RX-1", "", different="it is better here"), "no sentence"),
    ],
)
def test_a_rule_held_by_nothing_is_found(rule: Rule, problem: str):
    assert any(problem in found for found in problems(rule))


def test_every_rule_is_a_row_of_the_page():
    rows = rules_page(RULES).splitlines()
    assert [rule.id for rule in ALL if not any(row.startswith(f"| {rule.id} |") for row in rows)] == []
