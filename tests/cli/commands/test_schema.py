"""`hookline schema`: the JSON Schemas that there are."""

import json
from pathlib import Path

import pytest

from hookline.events import EVENTS
from tests.cli.golden import check_golden
from tests.cli.in_process import InProcess, in_process
from tests.cli.run_cli import run_cli, workspace
from tests.schemas.samples import Checker

SCHEMAS = Path(__file__).parents[3] / "schemas"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def test_with_nothing_it_lists_what_there_is() -> None:
    with workspace() as where:
        ran = run_cli(["schema"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("schema.txt", ran.stdout)


def test_the_list_as_json(here: InProcess) -> None:
    document = json.loads(here.call("schema", "--json").stdout)
    schema = json.loads((SCHEMAS / "cli-schema.schema.json").read_text())
    assert Checker(schema).mistakes(document) == []
    assert [each["kind"] for each in document["schemas"]] == ["payload", "answer", "config"]
    assert document["schemas"][0]["events"] == list(EVENTS)


@pytest.mark.parametrize("kind", ["payload", "answer"])
@pytest.mark.parametrize("event", ["PreToolUse", "Stop", "SessionStart"])
def test_what_is_printed_is_the_schema_of_the_reference(here: InProcess, kind: str, event: str) -> None:
    ran = here.call("schema", kind, event)
    assert ran.status == 0
    assert json.loads(ran.stdout) == json.loads((SCHEMAS / "events" / f"{event}.{kind}.json").read_text())


def test_the_schema_of_the_configuration(here: InProcess) -> None:
    assert json.loads(here.call("schema", "config").stdout) == json.loads(
        (SCHEMAS / "hooks.json").read_text()
    )


def test_an_agents_own_name_is_understood_where_it_means_one_event(here: InProcess) -> None:
    assert (
        json.loads(here.call("schema", "payload", "before_llm_call").stdout)["title"]
        == "PreModelCall payload"
    )
    ran = here.call("schema", "payload", "on_error")
    assert (ran.status, ran.stdout) == (1, "")
    assert "'on_error' means Error and PostToolUseFailure" in ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["confg"], "did you mean 'config'?"),
        (["xyzzy"], "there are: payload, answer, config"),
        (["payload"], "say of which event"),
        (["answer", "pretooluse"], "did you mean 'PreToolUse'?"),
        (["payload", "xyzzy"], "`hookline events` lists them"),
        (["config", "Stop"], "one word too many"),
        (["\x1b[2J"], "unknown schema"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_1(here: InProcess, words: list[str], said: str) -> None:
    ran = here.call("schema", *words)
    assert (ran.status, ran.stdout) == (1, "")
    assert said in ran.stderr
    assert "\x1b" not in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
