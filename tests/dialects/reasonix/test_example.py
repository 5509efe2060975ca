"""The example shows every event, every kind of hook and every field, and gives no diagnostic."""

import json
from pathlib import Path

from hookline.dialects.reasonix import dialect
from hookline.dialects.reasonix.settings import FIELDS
from tests.dialects.hooked_agent import HookedAgent
from tests.dialects.reasonix.hooks import PAYLOADS, PROJECT, read_settings

FILE = Path(__file__).parents[3] / "examples/reasonix/.reasonix/settings.json"
TEXT = FILE.read_text()
#: Not for settings; naming them there is a mistake.
ELSEWHERE = {"contextFile", "model_context"}


def test_the_example_has_no_mistake():
    assert read_settings(TEXT).diagnostics == ()


def test_the_example_has_every_event_and_every_field():
    reading = read_settings(TEXT)
    assert {hook.policy.event_name for hook in reading.hooks} == set(dialect().events)
    assert {hook.kind for hook in reading.hooks} == {"command"}
    hooks = json.loads(TEXT)["hooks"]
    used = {key for entries in hooks.values() for entry in entries for key in entry}
    assert used == set(FIELDS) - ELSEWHERE


def test_the_example_runs():
    agent = HookedAgent(dialect(), [(PROJECT, "project", TEXT)], cwd=str(FILE.parents[1]))
    for event, payload in PAYLOADS.items():
        assert not agent.fire(event, payload).blocked, event
    assert {run.status for run in agent.runs} == {"ok"}
    dangerous = PAYLOADS["PreToolUse"].__class__(tool_name="bash", tool_input={"command": "git push --force"})
    assert agent.fire("PreToolUse", dangerous).reason == "force pushes are not allowed here"
