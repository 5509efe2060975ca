"""Payloads beside the journal: kept only if the user says so, without secrets, and never more than a bound."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from hookline.journal.payloads import PayloadFile, kept_payload
from hookline.journal.redaction import Redactor
from tests.cli.run_cli import run_cli
from tests.journal.hostile_texts import ENV, PLANTED, PLANTED_FORMATS, Planted

_TOKEN = "ghp_" + "A1b2C3d4E5" * 4
_GUARD = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "guard"\ncommand = "true"\n'


class Kept:
    def __init__(self, directory: Path) -> None:
        self.path = directory / "payloads.jsonl"
        self.file = PayloadFile(str(self.path), Redactor(ENV))

    def __call__(self, payload: Any) -> Any:
        name = self.file.keep(payload)
        assert self.file.problems == ()
        return kept_payload(str(self.path), name)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_no_planted_secret_reaches_the_file_whatever_it_is_in(kept: Kept) -> None:
    all_planted: tuple[Planted, ...] = (*PLANTED, *PLANTED_FORMATS[::5])
    for text, _ in all_planted:
        kept(
            {"tool_input": {"command": text, "edits": [{"new": text}, [text]], text[:150]: 1}, "prompt": text}
        )
    text = kept.path.read_text()
    written = text + repr([json.loads(line) for line in text.splitlines()])
    assert [each.secret for each in all_planted if each.secret in written] == []


def test_the_name_of_a_field_says_that_its_value_is_a_secret(kept: Kept) -> None:
    secret = "hunter2-of-mine"
    payload = {
        "password": secret, "api_key": [secret, {"token": secret}], "X-Api-Key": secret, "client_secret": secret,
        "Authorization": f"Bearer {secret}", "Cookie": f"session={secret}", "passphrase": f"all of it, {secret}",
    }  # fmt: skip
    assert secret not in json.dumps(kept(payload))
    harmless = {
        "keyboard": "us", "path": "/etc/keys", "pattern": "password", "max_tokens": 7, "command": "git push",
        "description": "a token ring", "key_of_map": {"left": "right"},
    }  # fmt: skip
    assert kept(harmless) == harmless


def test_whatever_is_given_it_is_bounded_and_can_be_read_again(kept: Kept) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    large = {
        "text": "é" * 300_000, "deep": deep, "many": list(range(10_000)), "\ud800": "\ud800", "odd": object(),
        "fields": {str(number): "y" * 5000 for number in range(100)},
    }  # fmt: skip
    found = kept(large)
    assert kept.path.stat().st_size < 70_000
    assert "characters left out" in found["text"]
    assert "items left out" in found["many"][-1]
    assert found["odd"] == "[object]"
    whole = kept({"text": "z" * 5000, "lines": "a\nb\tc"})
    assert whole == {"text": "z" * 5000, "lines": "a\nb\tc"}


def test_the_file_is_the_users_own_and_the_oldest_payloads_go(kept: Kept) -> None:
    first = kept.file.keep({"n": "first"})
    # As if it were nearly full: existing content is not read again.
    with kept.path.open("ab") as file:
        file.truncate(16 * 1024 * 1024)
    second = kept.file.keep({"n": "second"})
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert sorted(each.name for each in kept.path.parent.iterdir()) == ["payloads.jsonl", "payloads.jsonl.1"]
    assert [kept_payload(str(kept.path), name) for name in (first, second)] == [
        {"n": "first"},
        {"n": "second"},
    ]
    with kept.path.open("ab") as file:
        file.truncate(16 * 1024 * 1024)
    kept.file.keep({})
    assert kept_payload(str(kept.path), first) is None


def test_what_is_damaged_or_asked_for_in_another_way_is_not_there(kept: Kept) -> None:
    name = kept.file.keep({"text": "whole"})
    assert kept_payload(str(kept.path), '","at":') is None
    assert kept_payload(str(kept.path.parent), name) is None
    kept.path.write_bytes(kept.path.read_bytes().replace(b"whole", b"other"))
    assert kept_payload(str(kept.path), name) is None


def test_a_file_that_cannot_be_written_is_a_problem() -> None:
    file = PayloadFile("/dev/full", Redactor({}))
    assert file.keep({"a": 1}) == ""
    assert "No space left" in file.problems[0]


@pytest.mark.parametrize(
    ("place", "setting", "keeps"),
    [
        ("~/.config/hookline/settings.toml", "keep_payloads = true", True),
        ("~/.config/hookline/settings.json", '{"keep_payloads": true}', True),
        ("~/.config/hookline/settings.toml", "", False),
        ("~/.config/hookline/settings.toml", "keep_payloads = false", False),
        ("~/.config/hookline/settings.toml", '# keep_payloads = true\nkeep_payloads = "true"', False),
        (".hookline/settings.toml", "keep_payloads = true", False),
    ],
)
def test_only_the_users_own_settings_switch_it_on(
    tmp_path: Path, place: str, setting: str, *, keeps: bool
) -> None:
    home = tmp_path / "home"
    project = home / "project"
    settings = home / place[2:] if place.startswith("~/") else project / place
    project.mkdir(parents=True)
    for file, text in ((settings, setting), (home / ".config/hookline/hooks.toml", _GUARD)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    ran = run_cli(
        ["fire", "PreToolUse", "Bash", f"command=curl -H 'X-Key: {_TOKEN}' x", "--trust"], project, home
    )
    assert ran.status == 0, ran.stderr
    state = home / ".local/state/hookline"
    run = json.loads((state / "journal.jsonl").read_text())
    assert ("payload" in run["call"], (state / "payloads.jsonl").exists()) == (keeps, keeps)
    if keeps:
        found = kept_payload(str(state / "payloads.jsonl"), run["call"]["payload"])
        assert found["tool_input"]["command"] == "curl -H 'X-Key: [redacted]' x"
        assert _TOKEN not in (state / "payloads.jsonl").read_text()
