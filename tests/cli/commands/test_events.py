import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.cli.main import run
from hookline.cli.requests import all_event_names, other_dialects
from hookline.events import EVENTS
from tests.cli.golden import check_golden
from tests.cli.run_cli import run_cli, workspace
from tests.schemas.samples import Checker

SCHEMA = json.loads((Path(__file__).parents[3] / "schemas/cli-events.schema.json").read_text())


def call(*words: str) -> int:
    return run(["events", *words])


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def test_the_table_lists_every_event_in_its_order(capsys: pytest.CaptureFixture[str]):
    assert call() == 0
    out = capsys.readouterr().out
    named = re.findall(r"^(\w+)\*? ", out, re.MULTILINE)
    assert [name for name in named if name in EVENTS] == list(EVENTS)
    assert out.splitlines()[0].split() == ["EVENT", "FIRES", "HOOKS", "MAY", "MATCHER"]


def test_events_that_nothing_fires_are_marked(capsys: pytest.CaptureFixture[str]):
    call()
    marked = re.findall(r"^(\w+)\* ", capsys.readouterr().out, re.MULTILINE)
    assert marked == [name for name, event in EVENTS.items() if event.declared_only]


@pytest.mark.parametrize("wide", [72, 80, 100, 160])
def test_the_table_fits_the_terminal(
    wide: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("COLUMNS", str(wide))
    call()
    lines = capsys.readouterr().out.split("\n")
    assert max(map(len, lines)) <= wide
    assert not any(line.endswith(" ") for line in lines)


def test_the_json_of_the_table_has_the_same_facts(capsys: pytest.CaptureFixture[str]):
    assert call("--json") == 0
    listed = json.loads(capsys.readouterr().out)["events"]
    assert [each["event"] for each in listed] == list(EVENTS)
    for each in listed:
        event = EVENTS[each["event"]]
        assert each["fires"] == event.fires
        assert each["matcher"] == event.subject
        assert each["declared_only"] == event.declared_only
        assert each["guard"] == event.guard
        assert len(each["may"]) == len(event.may)


@pytest.mark.parametrize("name", EVENTS)
def test_everything_about_an_event_in_text_and_json(name: str, capsys: pytest.CaptureFixture[str]):
    assert call(name) == 0
    text = capsys.readouterr().out
    assert call(name, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert text.startswith(f"{name}\n  Fires ")
    for field in facts["fields"]:
        assert re.search(rf"^  {field['name']} ", text, re.MULTILINE)
    for key, value in facts["payload"].items():
        assert f'    "{key}": ' in text, value
    assert [each["does"] for each in facts["answers"]] == [*facts["may"], "message"]
    assert facts["native"]["on_failure"] == ("closed" if EVENTS[name].guard else "open")
    assert "failures" in text


def test_the_text_about_pre_tool_use():
    with workspace() as where:
        ran = run_cli(["events", "PreToolUse"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("events_PreToolUse.txt", ran.stdout)


def test_an_event_says_what_each_agent_calls_it(capsys: pytest.CaptureFixture[str]):
    assert call("PreModelCall", "--json") == 0
    names = json.loads(capsys.readouterr().out)["names"]
    assert {"dialect": "docker-agent", "name": "turn_start"} in names
    assert {"dialect": "docker-agent", "name": "before_llm_call"} in names
    assert all(each["dialect"] != "claude-code" for each in names)


@pytest.mark.parametrize(("name", "dialect"), [("Setup", "claude-code"), ("Stop", "gen-code")])
def test_the_same_name_is_told_too(name: str, dialect: str, capsys: pytest.CaptureFixture[str]):
    call(name)
    (line,) = re.findall(r"^  called +(.*)$", capsys.readouterr().out, re.MULTILINE)
    assert f"{name} in " in line
    assert dialect in line


def test_an_event_that_another_agent_calls_so_is_told_apart(capsys: pytest.CaptureFixture[str]):
    call("Stop")
    assert "Stop of reasonix is another event, TurnSettled" in capsys.readouterr().out
    call("Stop", "--json")
    elsewhere = json.loads(capsys.readouterr().out)["elsewhere"]
    assert elsewhere == [{"dialect": "reasonix", "name": "Stop", "event": "TurnSettled"}]


def test_an_agents_own_name_leads_to_its_event(capsys: pytest.CaptureFixture[str]):
    assert call("before_llm_call") == 0
    out = capsys.readouterr().out
    assert out.startswith("before_llm_call of docker-agent is PreModelCall\n")
    assert "\n\nPreModelCall\n  Fires " in out


def test_a_name_that_stands_for_several_events_shows_each(capsys: pytest.CaptureFixture[str]):
    assert call("on_error", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["event"] for each in document["events"]] == ["Error", "PostToolUseFailure"]
    assert {(each["dialect"], each["event"]) for each in document["meant"]} == {
        ("codewhale", "Error"),
        ("codewhale", "PostToolUseFailure"),
        ("docker-agent", "Error"),
    }


@pytest.mark.parametrize("words", [[], ["Stop"], ["turn_start"]])
def test_the_json_is_what_its_schema_says(words: list[str], capsys: pytest.CaptureFixture[str]):
    call(*words, "--json")
    assert Checker(SCHEMA).mistakes(json.loads(capsys.readouterr().out)) == []


def test_every_event_of_every_agent_is_found_by_its_own_name(capsys: pytest.CaptureFixture[str]):
    names = {each.name for each in all_event_names(other_dialects())}
    assert len(names) > 60
    for name in sorted(names)[::7]:
        assert call(name, "--json") == 0
        document = json.loads(capsys.readouterr().out)
        assert document.get("asked", document.get("event")) == name


def test_an_unknown_name_is_told_the_nearest_one(capsys: pytest.CaptureFixture[str]):
    assert call("pretooluse") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "hookline events: no event is called 'pretooluse'; did you mean 'PreToolUse'?\n"


def test_a_name_like_no_other_is_told_where_the_names_are(capsys: pytest.CaptureFixture[str]):
    assert call("xyzzy") == 1
    assert "`hookline events` lists them" in capsys.readouterr().err


def test_a_hostile_name_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]):
    assert call("\x1b]0;owned\x07\x1b[2J\u202e" + "x" * 100_000) == 1
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert len(err) < 500


def test_listing_events_loads_nothing_heavy():
    script = """if True:
        import sys
        from hookline.cli.main import run
        run(["events"])
        heavy = {"httpx2", "yaml", "re2", "hookline.shell.walk.lines", "pydantic", "rich", "asyncio"}
        print(sorted(heavy & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_agents_call_an_event_is_not_asked_for_the_table():
    script = """if True:
        import sys
        from hookline.cli.main import run
        for words in (["events"], ["events", "Stop"]):
            run(words)
            print(any(name.startswith("hookline.dialects.codewhale") for name in sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if line in ("True", "False")] == ["False", "True"]
