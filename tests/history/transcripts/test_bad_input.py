"""Test bad transcripts: damage is counted and skipped, in little memory, and the rest is read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.recorded_event import RecordedEvent, Tally
from hookline.dialects.registry import dialect_named
from hookline.dialects.transcript_reader import Transcripts, lines_of

SESSION: dict[str, Any] = {
    "sessionId": "s1",
    "cwd": "/p",
    "timestamp": "2026-11-16T02:00:00Z",
    "entrypoint": "cli",
}


def prompt(text: str, **more: Any) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}, **SESSION, **more})


def call(use: str, command: str, **more: Any) -> str:
    block = {"type": "tool_use", "id": use, "name": "Bash", "input": {"command": command}}
    message = {"id": f"m{use}", "model": "x", "content": [block], "stop_reason": "tool_use"}
    return json.dumps({"type": "assistant", "message": message, **SESSION, **more})


def result(use: str, text: str = "ok", **more: Any) -> str:
    block = {"type": "tool_result", "tool_use_id": use, "content": text}
    return json.dumps({"type": "user", "message": {"role": "user", "content": [block]}, **SESSION, **more})


def reader(name: str) -> Transcripts:
    dialect = dialect_named(name)
    assert dialect is not None
    assert dialect.transcripts is not None
    return dialect.transcripts


def read(
    file: Path, lines: list[str], ending: str = "\n", name: str = "claude-code"
) -> tuple[list[RecordedEvent], Tally]:
    file.write_text("\n".join(lines) + ending)
    tally = Tally()
    return [item for item in reader(name).read(str(file), tally) if isinstance(item, RecordedEvent)], tally


def test_half_a_line_is_torn_and_the_rest_is_read(tmp_path: Path) -> None:
    found, tally = read(
        tmp_path / "s1.jsonl", [prompt("hi"), call("a", "ls")[:80], call("b", "pwd"), result("b")]
    )
    assert [m.input for m in found if m.kind == "call"] == [b'{"command": "pwd"}']
    assert tally.torn == 1
    found, tally = read(tmp_path / "s2.jsonl", [prompt("hi"), call("a", "ls"), result("a")[:60]], ending="")
    assert [(m.kind, m.certain) for m in found if m.kind == "call"] == [("call", False)]
    assert tally.torn == 1


def test_records_of_a_newer_version_are_counted_as_unknown(tmp_path: Path) -> None:
    newer = [
        json.dumps({"type": "hologram", "payload": [1, 2], **SESSION}),
        json.dumps({"kind": "without a type"}),
        json.dumps({"type": "user", "message": {"content": {"new": "shape"}}, **SESSION}),
        json.dumps({"type": "assistant", "message": 7, **SESSION}),
        json.dumps({"type": ["no", "text"]}),
        "[1, 2]",
        "null",
    ]
    found, tally = read(tmp_path / "s1.jsonl", [prompt("hi"), *newer, call("a", "ls"), result("a")])
    assert [m.kind for m in found] == ["start", "prompt", "call", "result", "batch", "end"]
    assert tally.unknown == 6  # a kind of record that is not ours is none of our business
    assert tally.torn == 0


def test_a_call_that_was_copied_is_counted_once(tmp_path: Path) -> None:
    found, tally = read(tmp_path / "s1.jsonl", [call("a", "ls"), result("a"), call("a", "ls"), result("a")])
    assert len([m for m in found if m.kind == "call"]) == 1
    assert tally.duplicates == 1


def test_a_clock_that_jumps_is_counted_and_believed(tmp_path: Path) -> None:
    back = {"timestamp": "2026-11-15T02:00:00Z"}
    found, tally = read(
        tmp_path / "s1.jsonl", [prompt("hi"), call("a", "ls", **back), result("a", timestamp="soon")]
    )
    assert tally.clock_jumps == 1
    assert [round(m.at) for m in found if m.kind in ("prompt", "call", "result")] == [
        1794794400,
        1794708000,
        1794708000,
    ]


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "native"])
def test_no_reader_raises_whatever_it_reads(tmp_path: Path, name: str) -> None:
    lines = [
        "", "{}", "[]", "7", "nonsense", '{"type": 1}', '{"type":"session_meta","payload":{"cwd":7}}', "{" * 5000,
        '{"type":"response_item","payload":{"type":"function_call","arguments":"{not json","call_id":"x","name":"n"}}',
        '{"type":"response_item","payload":{"type":"function_call_output","call_id":"x","output":{"a":[]}}}',
        '{"sessionId":"s","startTime":"never","kind":"main"}', '{"id":"g","type":"gemini","toolCalls":[{"id":"t"}]}',
        '{"type":"session","id":"x","cwd":"/"}', '{"type":"message","message":{"role":"tool","tool_use_id":"z"}}',
        '{"type":"message","message":{"role":"assistant","tool_calls":[{"id":"q","name":"Bash","input":"text"}]}}',
        "\ufffd\u0000", '{"$set":{"messages":"none"}}',
    ]  # fmt: skip
    file = tmp_path / "chats" / "x.jsonl"
    file.parent.mkdir()
    found, tally = read(file, lines, name=name)
    for recorded in found:
        recorded.document()
    assert tally.lines == len(lines)
    assert tally.torn + tally.unknown > 0


def test_a_line_of_200_megabytes_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    with file.open("wb") as stream:
        stream.write(prompt("before").encode() + b"\n")
        stream.seek(200 * 1024 * 1024, 1)  # a sparse file: it takes no space on the disk
        stream.write(b"\n" + prompt("after").encode() + b"\n")
    code = (
        "import sys\n"
        "from hookline.dialects.registry import dialect_named\n"
        "from hookline.dialects.recorded_event import Tally\n"
        "tally = Tally()\n"
        "kinds = [m.kind for m in dialect_named('claude-code').transcripts.read(sys.argv[1], tally)]\n"
        # Not that of `getrusage`, which counts what the process was forked from.
        "most = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(kinds, tally.too_long, int(most.split()[1]) // 1024)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    said, too_long, megabytes = ran.stdout.rsplit(" ", 2)
    assert said == "['start', 'prompt', 'prompt', 'end']"
    assert int(too_long) == 1
    assert int(megabytes) < 200


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    tally = Tally()
    assert list(lines_of(str(tmp_path / "gone.jsonl"), tally)) == []
    assert list(lines_of(str(tmp_path), tally)) == []
    assert len(tally.unreadable) == 2
