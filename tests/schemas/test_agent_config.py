"""Files of other agents by their schemas: what their readers accept is valid, what they refuse is not."""

import subprocess
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from hookline.documents.document import format_of, read_document
from hookline.schemas.agent_config import agent_config_schema
from tests.agents import WITH_FILES
from tests.checks.corpus import Case, read_corpus
from tests.schemas.samples import Checker

ROOT = Path(__file__).parents[2]
EXAMPLES, SCHEMAS = ROOT / "examples", ROOT / "schemas"
AGENTS = [name for name in WITH_FILES if name != OWN_FORMAT]
#: Findings about the shape of an entry, which a schema can have, too.
OF_SHAPE = ("unknown-event", "unknown-field", "wrong-type", "missing-field", "unknown-type", "not-a-list")

#: Found by doctor alone: a schema measures no text, and keys that an agent only ignores are valid.
ONLY_DOCTOR = ("an empty command", "hooks of CodeWhale in the wrong table", "matcher in Reasonix")


@cache
def checker(agent: str) -> Checker:
    return Checker(agent_config_schema(standard_dialects()[agent].build()))


def document(agent: str, text: str, name: str) -> Any:
    comments = standard_dialects()[agent].build().json_comments
    return read_document(text, format_of(name) or "json", name, comments=comments).value


def files(cases: Iterator[Case]) -> Iterator[tuple[Case, str, Any]]:
    """Each file that is one agent's by its path, with that agent."""
    built = {name: standard_dialects()[name].build() for name in AGENTS}
    for one in cases:
        for name, text, _mode in one.files:
            path = "/" + name.removeprefix("~/")
            owners = [agent for agent, dialect in built.items() if dialect.owns(path)]
            if len(owners) == 1 and format_of(path) is not None:
                yield one, owners[0], document(owners[0], text, name)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_example_of_each_agent_is_valid(agent: str) -> None:
    found = [
        each for each in (EXAMPLES / agent.replace("gen-code", "gencode")).rglob("*") if format_of(str(each))
    ]
    assert found
    for file in found:
        assert checker(agent).mistakes(document(agent, file.read_text(), str(file))) == [], file


def test_sound_files_are_valid() -> None:
    seen = [(one.what, checker(agent).mistakes(value)) for one, agent, value in files(read_corpus("sound"))]
    assert [each for each in seen if each[1]] == []
    assert len(seen) >= 40


def test_mistakes_of_shape_are_not() -> None:
    seen = [(one, checker(agent).valid(value)) for one, agent, value in files(read_corpus("mistakes"))
            if one.code in OF_SHAPE]  # fmt: skip
    assert sorted(one.what for one, valid in seen if valid) == sorted(ONLY_DOCTOR)
    assert len(seen) >= 10


def test_the_tools_of_editors_read_the_schemas(tmp_path: Path) -> None:
    """`check-jsonschema` and `taplo` are what editors and CI use: they find what is wrong, and nothing else."""
    scripts = Path(sysconfig.get_path("scripts"))

    def run(*words: str) -> int:
        return subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=60).returncode

    def check(schema: Path, file: Path) -> int:
        return run(str(scripts / "check-jsonschema"), "--schemafile", str(schema), str(file))

    claude = EXAMPLES / "claude-code" / ".claude" / "settings.json"
    wrong = tmp_path / "settings.json"
    wrong.write_text(claude.read_text().replace('"PreToolUse"', '"PreTolUse"'))
    assert wrong.read_text() != claude.read_text()
    assert (
        check(SCHEMAS / "agents" / "claude-code.json", claude),
        check(SCHEMAS / "agents" / "claude-code.json", wrong),
    ) == (0, 1)
    (tmp_path / "hooks.schema.json").write_text((SCHEMAS / "hooks.json").read_text())
    hooks = tmp_path / "hooks.toml"
    sound = (
        '#:schema hooks.schema.json\n[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "true" }]\n'
    )
    statuses: list[int] = []
    for text in (sound, sound.replace("command =", "comand =")):
        hooks.write_text(text)
        statuses.append(run(str(scripts / "taplo"), "lint", str(hooks)))
    assert statuses == [0, 1]
