"""`--dialect` of events, schema and fire: an agent's event, keys, answers and exit codes, in the agent's own words."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.main import run
from hookline.cli.requests import read_request
from hookline.dialects.registry import standard_dialects
from hookline.events import EVENTS
from hookline.schemas.agent_event import own_event
from tests.agents import WITH_FILES
from tests.cli.in_process import InProcess, in_process
from tests.schemas.samples import Checker

AGENTS = [name for name in WITH_FILES if name != "native"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def translated(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def events_of(name: str) -> list[str]:
    return list(standard_dialects()[name].build().events)


# -- events ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_the_table_of_an_agent_has_its_own_names_and_hooklines_beside_them(
    agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = translated(capsys, "events", "--dialect", agent)
    assert document["dialect"] == agent
    assert [each["event"] for each in document["events"]] == events_of(agent)
    for each in document["events"]:
        assert set(each["hookline"]) <= set(EVENTS)
    assert run(["events", "--dialect", agent]) == 0
    named = re.findall(r"^  (\w+)(?: \[.*\])?: ", capsys.readouterr().out, re.MULTILINE)
    assert named == events_of(agent)


def test_message_submit_is_described_as_its_own_document_describes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """RFC 1364: the event can transform or block the text; stdin, the answer and exit code 2 are documented."""
    assert run(["events", "message_submit", "--dialect", "codewhale"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("message_submit [UserPromptSubmit] of CodeWhale\n")
    for part in (
        "block, rewrite",
        '"text": "Fix the login form."',
        '{"text":"Fix the login form. Do not touch the database."}',
        "DEEPSEEK_SESSION_ID",
    ):
        assert part in page
    (line,) = [line for line in page.splitlines() if line.strip().startswith("exit 2 ")]
    assert "blocks" in line
    assert "UserPromptSubmit" not in page.partition("\n")[2]


@pytest.mark.parametrize("agent", AGENTS)
def test_every_event_of_every_agent_has_a_page_that_names_all_that_its_hooks_get(
    agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in events_of(agent):
        document = translated(capsys, "events", name, "--dialect", agent)
        assert run(["events", name, "--dialect", agent]) == 0
        page = capsys.readouterr().out
        assert page.startswith(name)
        for key in document["keys"]:
            assert f"\n  {key['name']} " in page
        sent: set[str] = {*(document["stdin"] or {}), *document["environment"]}
        assert sent <= {key["name"] for key in document["keys"]}, name
        for answer in document["answers"]:
            assert answer["stdout"] in page.replace("\n" + " " * 4, "\n"), (name, answer)


def test_hooklines_own_name_works_with_a_dialect_and_others_do_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert translated(capsys, "events", "PreToolUse", "--dialect", "codewhale")["event"] == "tool_call_before"
    several = translated(capsys, "events", "PreModelCall", "--dialect", "docker-agent")
    assert [each["event"] for each in several["events"]] == ["turn_start", "before_llm_call"]
    assert run(["events", "mesage_submit", "--dialect", "codewhale"]) == 1
    assert "did you mean 'message_submit'?" in capsys.readouterr().err
    assert run(["events", "Elicitation", "--dialect", "codewhale"]) == 1
    assert "codewhale has no event Elicitation" in capsys.readouterr().err
    assert run(["events", "--dialect", "codewale"]) == 1
    assert "did you mean 'codewhale'?" in capsys.readouterr().err


def test_a_name_that_only_agents_have_leads_to_their_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["events", "message_submit"]) == 0
    assert "`hookline events message_submit --dialect codewhale`" in capsys.readouterr().out


# -- schema ----------------------------------------------------------------------------------------

#: From the contract of message_submit in the RFC, section 3.1.
SUBMITTED = {
    "event": "message_submit",
    "text": "original user text",
    "session_id": "sess_xxxx",
    "workspace": "/path/to/workspace",
    "mode": "agent",
    "model": "deepseek-chat",
    "total_tokens": 1234,
}


def test_the_schemas_of_an_agent_are_in_its_own_keys(capsys: pytest.CaptureFixture[str]) -> None:
    payload = translated(capsys, "schema", "payload", "message_submit", "--dialect", "codewhale")
    assert set(SUBMITTED) <= set(payload["properties"])
    assert payload["properties"]["text"]["type"] == "string"
    answer = translated(capsys, "schema", "answer", "message_submit", "--dialect", "codewhale")
    assert set(answer["properties"]) == {"text", "reason"}
    assert Checker(answer).valid({"text": "replacement user text"})
    variables = translated(capsys, "schema", "payload", "tool_call_before", "--dialect", "codewhale")
    assert "DEEPSEEK_TOOL_ARGS" in variables["required"]
    assert "environment variables" in variables["description"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["answer", "shell_env", "--dialect", "codewhale"], "hooks of codewhale answer no JSON at shell_env"),
        (["config", "Stop", "--dialect", "codewhale"], "one word too many"),
        (["payload", "--dialect", "codewhale"], "say of which event"),
        (["payload", "PreModelCall", "--dialect", "docker-agent"], "means turn_start and before_llm_call"),
        (["payload", "Setup", "--dialect", "codewhale"], "codewhale has no event Setup"),
    ],
)
def test_a_schema_that_does_not_exist_says_why(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schema", *words]) == 1
    assert said in capsys.readouterr().err


# -- fire ------------------------------------------------------------------------------------------

HOOK = """
[[hooks.hooks]]
event = "message_submit"
command = "cat > got.json; env > got.env"
"""


def got(here: InProcess) -> Any:
    return json.loads((here.workspace.project / "got.json").read_text())


@pytest.mark.parametrize(
    "words", [["text=hello"], ["prompt=hello"], ["text=hello", "--dialect", "codewhale"]]
)
def test_an_event_that_one_agent_has_is_fired_in_its_own_words(here: InProcess, words: list[str]) -> None:
    (here.workspace.home / ".codewhale").mkdir()
    (here.workspace.home / ".codewhale/config.toml").write_text(HOOK)
    ran = here.call("fire", "message_submit", *words)
    assert (ran.status, ran.stderr) == (0, "")
    assert ran.stdout.startswith("message_submit [UserPromptSubmit] of codewhale\n")
    assert (got(here)["event"], got(here)["text"]) == ("message_submit", "hello")


def test_keys_of_the_agent_set_the_scene_too(here: InProcess) -> None:
    words = ["text=hi", "session_id=sess_1", "model=deepseek-chat", "mode=plan"]
    here.call(
        "fire", "message_submit", *words, "--hook", "message_submit=cat > got.json", "--dialect", "codewhale"
    )
    assert {key: got(here)[key] for key in ("text", "session_id", "model", "mode")} == {
        "text": "hi", "session_id": "sess_1", "model": "deepseek-chat", "mode": "plan",
    }  # fmt: skip


def test_variables_are_words_as_well(here: InProcess) -> None:
    for words in (
        ["DEEPSEEK_TOOL_NAME=exec_shell", 'DEEPSEEK_TOOL_ARGS={"command": "ls"}'],
        ["tool_name=exec_shell", 'tool_args={"command": "ls"}'],
        ["exec_shell", "command=ls"],
    ):
        command = 'printf %s "$DEEPSEEK_TOOL_NAME $DEEPSEEK_TOOL_ARGS" > got.txt'
        ran = here.call(
            "fire",
            "tool_call_before",
            *words,
            "--dialect",
            "codewhale",
            "--hook",
            f"tool_call_before={command}",
        )
        assert ran.status == 0, ran.stderr
        assert (here.workspace.project / "got.txt").read_text() == 'exec_shell {"command":"ls"}'


def test_words_are_added_to_a_payload_of_the_agent(here: InProcess) -> None:
    here.write("payload.json", json.dumps({**SUBMITTED, "workspace": str(here.workspace.project)}))
    here.call(
        "fire", "message_submit", "text=other", "--payload", "payload.json", "--dialect", "codewhale",
        "--hook", "message_submit=cat > got.json",
    )  # fmt: skip
    assert (got(here)["text"], got(here)["session_id"]) == ("other", "sess_xxxx")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["message_submit", "txet=hello", "--dialect", "codewhale"], "did you mean 'text'?"),
        (["message_submit", "zzzzzz=1"], "`hookline events message_submit --dialect codewhale` lists them"),
        (["TurnEnd", "lastAssistantTxt=x", "--dialect", "reasonix"], "did you mean 'lastAssistantText'?"),
    ],
)
def test_a_key_that_the_agent_does_not_have_is_told_with_the_nearest(
    here: InProcess, words: list[str], said: str
) -> None:
    ran = here.call("fire", *words)
    assert ran.status == 1
    assert said in ran.stderr


@pytest.mark.parametrize("agent", AGENTS)
def test_every_key_of_every_event_can_be_said_as_a_word(agent: str) -> None:
    """A payload made of words is the one that the agent's own document makes."""
    dialect = standard_dialects()[agent].build()
    for name in dialect.events:
        described = own_event(dialect, name)
        document = {**(described.stdin or {}), **described.environment}
        parsed = dialect.wire.parse({**document, dialect.event_key: name})
        words = [f"{key}:={json.dumps(value)}" for key, value in document.items() if key != dialect.event_key]
        request = read_request([name, *words], None, "/", EVENTS, dialect)
        assert request.payload == parsed.payload, name
        assert request.event_name == name
