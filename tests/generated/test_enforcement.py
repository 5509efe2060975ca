"""The table of what agents can enforce: every answer is what the recorded case beside it shows."""

import json
from pathlib import Path
from typing import Any

from hookline.dialects.registry import standard_dialects
from tests.every import every
from tests.recorded import recorded_cases
from tools.clients import guard_cases
from tools.enforcement_page import QUESTIONS, enforcement_page, enforces

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
    if kind == "plugins":
        kept = {each["id"]: each for each in json.loads((directory / "recorded/plugins.json").read_text())}
        seen = kept[plain]["observed"]
        return {
            "blocked": not seen["ran"],
            "input": [each for each in seen["ran"] if each != "ran.txt"],
            "payloads": [each for each in seen["plugin_log"].splitlines() if each.startswith("before ")],
            # What the plugin writes when it is asked; the client rejects the call by itself.
            "permission": "ask" if "\nask" in seen["plugin_log"] else "none",
            "off": not seen["plugin_log"] and bool(seen["ran"]),
        }
    if kind == "mods":
        found = {each["id"]: each for each in json.loads((directory / "recorded/mods.json").read_text())}
        return {"ran": found[plain]["effect"]}
    recorded = recorded_cases(directory)[case]
    return {"payloads": recorded["payloads"], **recorded["expect"]}


def payload(name: str, file: str) -> dict[str, Any]:
    """Return what a hook of the real client got."""
    written = json.loads((DIALECTS / name.replace("-", "_") / f"recorded/payloads/{file}.json").read_text())
    found: dict[str, Any] = written.get("payload", written)
    return found


def test_every_recorded_agent_has_answers() -> None:
    kinds = ("cases", "plugins.json")
    recorded = {
        file.parent.parent.name.replace("_", "-")
        for kind in kinds
        for file in DIALECTS.glob(f"*/recorded/{kind}")
    }
    ran = {case.client.name for case in guard_cases.cases()}
    assert recorded <= {name for name, answers in KNOWN.items() if answers} <= recorded | ran


def test_every_agent_has_a_row_and_what_was_not_recorded_is_said() -> None:
    page = enforcement_page(ROOT)
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    for name, answers in KNOWN.items():
        title = standard_dialects()[name].build().title
        cells = [
            cell.strip() for row in rows if row.startswith(f"| {title} |") for cell in row.split(" | ")[1:]
        ]
        # Its version, and a cell for each question.
        assert len(cells) == 1 + len(QUESTIONS)
        assert "" not in cells
        unknown = [each for each in QUESTIONS if not answers.get(each)] + ([] if answers else ["client"])
        assert sum(cell.startswith("not recorded") for cell in cells) == len(unknown)


@every(("name", "question", "given"), [each for each in ANSWERS if "payload" in each[2]])
def test_an_answer_is_what_its_payload_shows(name: str, question: str, given: dict[str, str]) -> None:
    got = payload(name, given["payload"])
    shows = {"mcp": str(got["tool_name"]).startswith("mcp_"), "subagents": bool(got.get("agent_id"))}
    assert (shows[question], given["answer"]) == (True, "yes")


@every(("name", "question", "given"), [each for each in ANSWERS if "run" in each[2]])
def test_an_answer_is_what_the_real_client_is_run_for(
    name: str, question: str, given: dict[str, str]
) -> None:
    expected = {case.name: case.expected for case in guard_cases.cases()}[f"{name}: {given['run']}"]
    shows = {"see": "denied", "deny": "denied", "background": "denied", "rewrite": "rewritten"}
    assert (expected, given["answer"]) == (shows[question], "yes")


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
    if question == "see":
        assert bool(seen["payloads"]) == (answer == "yes")
    elif question in ("deny", "prompts"):
        assert bool(seen.get("blocked")) == (answer == "yes")
    elif question in ("crash", "timeout", "missing"):
        # A denial that was printed before the crash counts in some agents, and not in this one.
        assert bool(seen["blocked"]) == (answer == "closed")
    elif question == "rewrite":
        assert bool(new) == (answer == "yes")
    elif question == "context":
        assert bool(seen["context"]) == (answer == "yes")
    elif question == "ask":
        asked = (
            seen["permission"] == "ask" if "permission" in seen else seen.get("blocked") in (True, "asked")
        )
        assert asked == (answer == "yes") or name == "grok"  # its case is of the mode that asks for nothing
    elif question == "stop":
        assert bool(seen.get("stop")) == (answer == "yes")
    elif question == "flag":
        assert seen["off"] == (answer == "yes")
