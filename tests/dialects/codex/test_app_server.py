"""Doctor asks Codex itself which hooks it runs, over a program that answers as `codex app-server` does."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run_cli import Workspace, run_cli, workspace

#: Answers `hooks/list` with what is in a file; other lines are between, as in the real one.
SERVER = """#!{python}
import json, sys
open({asked!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
for line in sys.stdin:
    question = json.loads(line)
    if question["method"] == "initialize":
        print(json.dumps({{"id": question["id"], "result": {{}}}}), flush=True)
        print(json.dumps({{"method": "configWarning", "params": {{}}}}), flush=True)
    elif question["method"] == "hooks/list":
        print(open({answer!r}).read(), flush=True)
"""


class Codex:
    def __init__(self, where: Workspace, directory: Path) -> None:
        self.where, self.directory = where, directory
        self.asked, self.answer = where.home / "asked", where.home / "answer.json"
        directory.mkdir(parents=True, exist_ok=True)
        program = directory / "codex"
        text = SERVER.format(python=sys.executable, asked=str(self.asked), answer=str(self.answer))
        program.write_text(text)
        program.chmod(0o755)
        run_cli(["install", "codex", "--events", "PreToolUse", "--yes"], where.project, where.home)

    def says(self, *hooks: dict[str, Any]) -> None:
        result = {"data": [{"cwd": str(self.where.project), "hooks": hooks}]}
        self.answer.write_text(json.dumps({"id": 2, "result": result}))

    def hook(self, **state: Any) -> dict[str, Any]:
        key = f"{self.where.home}/.codex/hooks.json:pre_tool_use:0:0"
        return {"key": key, "eventName": "preToolUse", "enabled": True, "trustStatus": "trusted", **state}

    def site(self) -> tuple[str, str]:
        path = f"{self.directory}:/usr/bin:/bin"
        words = ["doctor", "--dialect", "codex", "--json"]
        ran = run_cli(words, self.where.project, self.where.home, env={"PATH": path})
        (site,) = [each for each in json.loads(ran.stdout)["agents"][0]["sites"] if each["events"]]
        return site["trusted_by_agent"], site["agent_says"]


@pytest.fixture
def where() -> Iterator[Workspace]:
    with workspace() as made:
        yield made


def test_codex_is_believed_before_our_own_hashes(where: Workspace) -> None:
    codex = Codex(where, where.home / "bin")
    codex.says(codex.hook())
    assert codex.site() == ("trusted", "Codex says so itself")
    assert codex.asked.read_text() == "app-server\n"
    codex.says(codex.hook(trustStatus="modified"))
    standing, why = codex.site()
    assert (standing, "is modified" in why) == ("untrusted", True)
    codex.says(codex.hook(enabled=False))
    assert "is off" in codex.site()[1]
    codex.says()
    assert "does not load" in codex.site()[1]


@pytest.mark.parametrize(
    "answer", ['{"id": 2, "error": {"code": -32601}}', '{"id": 2, "result": {"data": 5}}', "no"]
)
def test_a_codex_that_cannot_say_it_leaves_it_to_the_hashes(where: Workspace, answer: str) -> None:
    codex = Codex(where, where.home / "bin")
    codex.answer.write_text(answer)
    standing, why = codex.site()
    assert (standing, "has the trusted hash" in why) == ("trusted", True)


def test_a_codex_in_the_project_is_not_started(where: Workspace) -> None:
    codex = Codex(where, where.project / "node_modules/.bin")
    codex.says()
    assert codex.site()[0] == "trusted"
    assert not codex.asked.exists()
