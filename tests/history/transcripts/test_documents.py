"""Chats of Gemini CLI up to 0.38, one document each, are read as those of today."""

import hashlib
import json
from pathlib import Path
from typing import Any

from hookline.dialects.recorded_event import RecordedEvent, Tally
from hookline.dialects.registry import dialect_named
from hookline.dialects.transcript_reader import Transcripts
from hookline.history.sources import find_sources
from tests.history.transcripts.rebuilt import RECORDED

NAME = "session-2026-01-16T02-56-ebe84eaa"
CHAT = next((RECORDED / "gemini/1-shell-edit-read").rglob("session-*.jsonl"))


def reader() -> Transcripts:
    dialect = dialect_named("gemini-cli")
    assert dialect is not None
    assert dialect.transcripts is not None
    return dialect.transcripts


def document() -> dict[str, Any]:
    """The recorded chat as that client would have kept it."""
    head, *lines = map(json.loads, CHAT.read_text().splitlines())
    messages: dict[str, Any] = {line["id"]: line for line in lines if "id" in line}
    kept = [each for each in messages.values() if "functionResponse" not in json.dumps(each["content"])]
    kind = head.pop("kind")
    return {**head, "messages": kept, "summary": "a typo", "kind": kind}


def write(home: Path, text: str, directory: str = "ws") -> Path:
    file = home / f".gemini/tmp/{directory}/chats/{NAME}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def read(file: Path) -> tuple[list[RecordedEvent], Tally]:
    tally = Tally()
    return [item for item in reader().read(str(file), tally) if isinstance(item, RecordedEvent)], tally


def received(recorded_events: list[RecordedEvent]) -> list[dict[str, Any]]:
    return [{**recorded.document(), "transcript_path": "", "cwd": ""} for recorded in recorded_events]


def test_a_document_says_what_the_lines_of_today_say(tmp_path: Path) -> None:
    file = write(tmp_path, json.dumps(document(), indent=2, ensure_ascii=False))
    assert list(reader().files({"HOME": str(tmp_path)})) == [str(file)]
    (source,) = find_sources([d for d in (dialect_named("gemini-cli"),) if d], {}, [str(tmp_path)]).found
    assert (source.dialect, source.path) == ("gemini-cli", str(file))
    found, tally = read(file)
    assert received(found) == received(read(CHAT)[0])
    assert (tally.torn, tally.unknown, tally.files) == (0, 0, 1)


def test_texts_and_parts_are_read_in_every_form(tmp_path: Path) -> None:
    whole = document()
    for content in ("fix the typo in a.txt", {"text": "fix the typo in a.txt"}, ["fix the typo in a.txt"]):
        whole["messages"][0]["content"] = content
        found, tally = read(write(tmp_path, json.dumps(whole, indent=2)))
        assert received(found) == received(read(CHAT)[0])
        assert tally.unknown == 0


def test_of_half_a_document_the_first_half_is_read(tmp_path: Path) -> None:
    text = json.dumps(document(), indent=2)
    found, tally = read(write(tmp_path, text[: text.index('"replace"')]))
    assert [recorded.tool for recorded in found if recorded.kind == "call"] == ["read_file"]
    assert tally.torn == 1


def test_a_document_in_another_layout_is_counted(tmp_path: Path) -> None:
    found, tally = read(write(tmp_path, json.dumps(document())))
    assert found == []
    assert tally.unknown > 0


def test_a_chat_that_was_resumed_is_read_once(tmp_path: Path) -> None:
    file = write(tmp_path, json.dumps(document(), indent=2))
    lines = file.with_suffix(".jsonl")
    lines.write_bytes(CHAT.read_bytes())
    assert list(reader().files({"HOME": str(tmp_path)})) == [str(lines)]


def test_the_directory_is_found_by_its_hash(tmp_path: Path) -> None:
    place = "/home/user/project"
    file = write(tmp_path, json.dumps(document(), indent=2), hashlib.sha256(place.encode()).hexdigest())
    assert {recorded.cwd for recorded in read(file)[0]} == {""}
    (tmp_path / ".gemini/trustedFolders.json").write_text(json.dumps({"/srv": "x", place: "TRUST_FOLDER"}))
    assert {recorded.cwd for recorded in read(file)[0]} == {place}


def test_a_sub_agent_of_then_is_one(tmp_path: Path) -> None:
    found, _ = read(write(tmp_path, json.dumps({**document(), "kind": "subagent"}, indent=2)))
    assert {recorded.kind for recorded in found} == {"call", "result"}
    assert {recorded.subagent for recorded in found} == {document()["sessionId"]}
