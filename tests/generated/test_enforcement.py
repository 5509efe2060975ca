"""The table of what agents can enforce: every answer is what the recorded case beside it shows."""

import json
from pathlib import Path
from typing import Any

from tests.every import every
from tests.recorded import recorded_cases
from tools.enforcement_page import QUESTIONS, enforces

ROOT = Path(__file__).parents[2]
DIALECTS = ROOT / "tests/dialects"
KNOWN = enforces(ROOT)
ANSWERS = [
    (name, question, given)
    for name, answers in KNOWN.items()
    for question, given in answers.items()
    if question != "client"
]


def expected(name: str, case: str) -> dict[str, Any]:
    """Return what was observed in a recorded case."""
    directory = DIALECTS / name.replace("-", "_")
    kind, _, plain = case.rpartition("/")
    if kind == "mods":
        found = {each["id"]: each for each in json.loads((directory / "recorded/mods.json").read_text())}
        return {"ran": found[plain]["effect"]}
    whole: dict[str, Any] = recorded_cases(directory)[case]["expect"]
    return whole


def test_every_recorded_agent_has_answers() -> None:
    recorded = {file.parent.parent.name.replace("_", "-") for file in DIALECTS.glob("*/recorded/cases")}
    assert set(KNOWN) == recorded


@every(("name", "question", "given"), ANSWERS)
def test_an_answer_is_what_its_case_shows(name: str, question: str, given: dict[str, str]) -> None:
    assert question in QUESTIONS
    assert given.get("answer", "") in ("", "yes", "no", "open", "closed")
    if "case" not in given:
        return
    seen, answer = expected(name, given["case"]), given["answer"]
    new = (
        seen.get("input")
        or seen.get("whole_input")
        or [each for each in seen.get("inputs", ()) if each != "as it was"]
    )
    if question in ("deny", "prompts"):
        assert bool(seen.get("blocked")) == (answer == "yes")
    elif question in ("crash", "timeout", "missing"):
        # A denial that was printed before the crash counts in some agents, and not in this one.
        assert bool(seen["blocked"]) == (answer == "closed")
    elif question == "rewrite":
        assert bool(new) == (answer == "yes")
    elif question == "context":
        assert bool(seen["context"]) == (answer == "yes")
    elif question == "ask":
        asked = seen.get("permission") == "ask" or seen.get("blocked") in (True, "asked")
        assert asked == (answer == "yes") or name == "grok"  # its case is of the mode that asks for nothing
    elif question == "stop":
        assert bool(seen.get("stop")) == (answer == "yes")
