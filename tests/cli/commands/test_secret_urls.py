"""Secrets in the addresses and headers of http hooks: no command tells them, and the journal does not keep them."""

import json
from pathlib import Path

import pytest

from hookline.dialects.labels import url_label
from hookline.model.safe_text import bare_url
from tests.cli.in_process import InProcess, in_process
from tests.every import every

SECRETS = ("hiddenuser", "hiddenword", "hiddenquery", "hiddenheader", "hiddenvariable")
ENTRIES = [
    {
        "url": "http://127.0.0.1:9/hook?key=hiddenquery#hiddenquery",
        "headers": {"X-Key": "hiddenheader $PLAIN"},
    },
    {"url": "http://hiddenuser:hiddenword@127.0.0.1:9/hook"},
    {"url": "http://hiddenuser:hidden?hiddenword@127.0.0.1:9/hook"},
    {"url": "http://127.0.0.1:9/hook?x=a@hiddenquery", "headers": {"X-Key": "hiddenheader\r\n$PLAIN"}},
    {"url": "ftp://hiddenuser:hiddenword@127.0.0.1/?hiddenquery"},
    {"url": "http://127.0.0.1:hiddenword/?hiddenquery"},
    {"url": "http://169.254.169.254/latest?hiddenquery"},
    {"url": "hiddenuser:hiddenword@127.0.0.1/x"},
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    monkeypatch.setenv("PLAIN", "hiddenvariable")
    return in_process(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("dialect", ["claude", "native"])
def test_no_command_tells_them(here: InProcess, dialect: str) -> None:
    entries = [{"type": "http", "allowedEnvVars": ["PLAIN"], **entry} for entry in ENTRIES]
    file = "~/.claude/settings.json" if dialect == "claude" else "~/.config/hookline/hooks.json"
    here.write(file, json.dumps({"hooks": {"PreToolUse": [{"hooks": entries}]}}))
    shown = ""
    for words in (
        ("list",), ("list", "--json"), ("doctor",), ("doctor", "--json"), ("explain", "PreToolUse", "Bash"),
        ("fire", "PreToolUse", "Bash", "command=ls"), ("fire", "PreToolUse", "Bash", "command=ls", "--json"),
        ("log",), ("log", "--json"),
    ):  # fmt: skip
        ran = here.call(*words)
        assert "127.0.0.1" in ran.stdout + ran.stderr, words
        shown += ran.stdout + ran.stderr
    journals = [file for file in here.workspace.home.rglob("*.jsonl") if file.is_file()]
    assert journals
    shown += "".join(file.read_text() for file in journals)
    assert [secret for secret in SECRETS if secret in shown] == []


@every(
    ("url", "bare"),
    [
        ("https://h/mcp?k=s", "https://h/mcp"),
        ("https://u:p@h:80/x#s", "https://h:80/x"),
        ("https://[::1]:80/x", "https://[::1]:80/x"),
        ("https://${HOST}:${PORT}/${T}?x", "https://${HOST}:${PORT}/${T}"),
        ("${URL}/x", "${URL}/x"),
        ("https://u:p?s@h/x", "https://..."),
        ("https://u:p#s@h", "https://..."),
        ("https://u:p/s@h", "https://..."),
        ("https://u:p\\s@h", "https://..."),
        ("//u:p@h/x", "h/x"),
        ("", ""),
    ],
)
def test_an_address_without_what_may_be_secret(url: str, bare: str) -> None:
    assert bare_url(url) == bare
    assert url_label(url) == (bare.removeprefix("https://") or "http")
