"""Test the conversation on disk: everything written comes back, whatever happened to the file or the writer."""

import os
import random
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.agent.transcript.reader import COMPACTION, earlier_session, read_transcript, with_results
from hookline.agent.transcript.records import (
    ClearRecord,
    CompactionRecord,
    GrantsRecord,
    MessageRecord,
    NoteRecord,
    Record,
    SessionFacts,
    SessionRecord,
    TurnRecord,
    decoded,
    encoded,
)
from hookline.agent.transcript.writer import TranscriptError, TranscriptWriter
from hookline.model.messages import Assistant, Message, ToolMessage, ToolUse, Usage, User
from tests.every import every

FACTS = SessionFacts(cwd="/project", model="m", parent="p")
CALL = ToolUse(id="c1", name="Bash", input={"command": "ls", "deep": [{"n": 1.5}]})
BROKEN_CALL = ToolUse(id="c2", name="Read", input="{not")
ONE_OF_EACH: tuple[Record, ...] = (
    SessionRecord(id="s", cwd="/project", model="m", started=1.0, parent="p"),
    MessageRecord(message=User(text="né\nline", cache=True), at=2.0),
    MessageRecord(message=User(text="from a hook", by="guard.sh"), who="agent-1", at=3.0),
    MessageRecord(message=Assistant(text="t", tool_calls=(CALL, BROKEN_CALL), reasoning="r"), at=4.0),
    MessageRecord(message=ToolMessage(tool_use_id="c1", name="Bash", text="out", is_error=True), at=5.0),
    TurnRecord(turn=3, status="completed", usage=Usage(input_tokens=1), totals=Usage(cost_usd=0.5), at=6.0),
    CompactionRecord(summary="so far", kept=(User(text="kept"),), at=7.0),
    ClearRecord(at=8.0),
    NoteRecord(text="a note", kind="warning", at=9.0),
    GrantsRecord(rules=("Bash(ls *)",), directories=("/other",), mode="acceptEdits", at=10.0),
)  # fmt: skip


def new(directory: Path, session_id: str = "s1") -> TranscriptWriter:
    return TranscriptWriter.create(str(directory), session_id, FACTS, clock=lambda: 100.0)


@every("record", ONE_OF_EACH)
def test_every_kind_of_record_comes_back_as_it_was(record: Record) -> None:
    line = encoded(record)
    assert line.count(b"\n") == 1
    assert decoded(line) == record


def test_a_new_transcript_is_this_users_alone_and_begins_with_the_session(tmp_path: Path) -> None:
    directory = tmp_path / "state" / "sessions" / "p"
    transcript = new(directory)
    transcript.message(User(text="hello"))
    transcript.close()
    assert stat.S_IMODE(os.stat(transcript.path).st_mode) == 0o600
    for each in (directory, directory.parent, directory.parent.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
    read = read_transcript(transcript.path)
    assert read.records == (
        SessionRecord(id="s1", cwd="/project", model="m", started=100.0, parent="p"),
        MessageRecord(message=User(text="hello"), at=100.0),
    )
    assert read.problems == ()


def test_a_record_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    transcript = new(tmp_path)
    for number in range(5):
        transcript.append(NoteRecord(text=str(number)))
        assert len(read_transcript(transcript.path).records) == number + 2
    transcript.close()


def test_what_the_agent_tells_its_records_is_what_a_resumed_session_knows(tmp_path: Path) -> None:
    transcript = new(tmp_path)
    transcript.message(User(text="old"))
    transcript.cleared()
    transcript.message(User(text="first"))
    transcript.message(Assistant(text="answer"))
    transcript.turn(1, "completed", Usage(input_tokens=5), Usage(input_tokens=5))
    transcript.compacted("they greeted", [User(text="So far: they greeted", by="compaction")])
    transcript.message(User(text="second"))
    transcript.message(User(text="of another agent"), who="agent-1")
    transcript.turn(2, "completed", Usage(input_tokens=7), Usage(input_tokens=12))
    transcript.append(GrantsRecord(rules=("Read",)))
    transcript.close()
    again = TranscriptWriter.resume(transcript.path)
    past = again.past
    assert past.messages == (
        User(text="So far: they greeted", by="compaction"),
        User(text="second"),
    )
    assert (past.turns, past.totals, past.grants.rules) == (2, Usage(input_tokens=12), ("Read",))
    assert past.session is not None
    assert (past.session.id, past.session.model, past.problems) == ("s1", "m", ())
    again.message(Assistant(text="third"))
    again.close()
    read = read_transcript(again.path)
    assert earlier_session(read).messages[-1] == Assistant(text="third")
    assert earlier_session(read, "agent-1").messages == (User(text="of another agent"),)


def test_nothing_from_before_a_clear_is_said_again(tmp_path: Path) -> None:
    transcript = new(tmp_path)
    transcript.message(User(text="old"))
    transcript.cleared()
    transcript.message(User(text="new"))
    transcript.close()
    assert earlier_session(read_transcript(transcript.path)).messages == (User(text="new"),)


def test_a_compaction_that_kept_nothing_leaves_its_summary(tmp_path: Path) -> None:
    transcript = new(tmp_path)
    transcript.message(User(text="old"))
    transcript.compacted("they greeted", ())
    transcript.close()
    past = earlier_session(read_transcript(transcript.path))
    assert past.messages == (User(text="they greeted", by=COMPACTION),)


def test_any_cut_leaves_every_whole_record_and_later_records_stand_on_their_own_line(tmp_path: Path) -> None:
    lines = [encoded(record) for record in ONE_OF_EACH] * 3
    whole = b"".join(lines)
    pick = random.Random(5)
    path = tmp_path / "cut.jsonl"
    first = len(lines[0])
    for cut in [first, len(whole), len(whole) - 1, *(pick.randrange(first, len(whole)) for _ in range(300))]:
        path.write_bytes(whole[:cut])
        kept: list[Record] = [decoded(line) for line in whole[: cut + 1].split(b"\n")[:-1]]
        read = read_transcript(str(path))
        assert list(read.records) == kept
        assert bool(read.problems) == (sum(map(len, map(encoded, kept))) not in (cut, cut + 1))
        transcript = TranscriptWriter.resume(str(path))
        transcript.append(NoteRecord(text="after", at=1.0))
        transcript.close()
        again = read_transcript(str(path))
        assert list(again.records) == [*kept, NoteRecord(text="after", at=1.0)]
        assert again.problems == ()


def test_garbage_in_the_middle_is_skipped_and_told_with_its_line(tmp_path: Path) -> None:
    transcript = new(tmp_path)
    transcript.close()
    rubbish = (b"\xff\x00\x1b[31m", b'{"type":"newer","x":1}', b"[" * 100_000, b'{"type":"note"}', b"", b"7")
    with open(transcript.path, "ab") as stream:
        stream.write(b"\n".join(rubbish) + b"\n" + encoded(NoteRecord(text="after")))
    read = read_transcript(transcript.path)
    assert len(read.records) == 2
    assert [problem.split(":")[0] for problem in read.problems] == [
        f"line {number} is not a record" for number in (2, 3, 4, 5, 7)
    ]
    assert "\x1b" not in "".join(read.problems)
    before = Path(transcript.path).read_bytes()
    TranscriptWriter.resume(transcript.path).close()
    assert Path(transcript.path).read_bytes() == before


def test_endless_damage_is_told_in_part(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"rubbish\n" * 500)
    read = read_transcript(str(path))
    assert len(read.problems) == 51
    assert read.problems[-1] == "and 450 more"


def test_a_file_that_is_no_transcript_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_bytes(b"my notes, without a last line break")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(other)
    (tmp_path / "empty").touch()
    for name, says in (
        ("notes.txt", "is not a transcript: line 1 is incomplete"),
        ("empty", "is not a transcript: it is empty"),
        ("pipe", "not a regular file"),
        ("link", "cannot be resumed"),
        ("nowhere", "No such file"),
        ("nul\0", "null"),
        (".", "cannot be resumed"),
    ):
        with pytest.raises(TranscriptError, match=says):
            TranscriptWriter.resume(str(tmp_path / name))
    assert other.read_bytes() == b"my notes, without a last line break"
    assert read_transcript(str(tmp_path / "pipe")).problems != ()


@pytest.mark.parametrize("session_id", ["", "../x", "a/b", ".hidden", "x" * 200, "a\nb", "é"])
def test_an_id_that_is_no_file_name_is_refused(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(TranscriptError, match="cannot be the id"):
        TranscriptWriter.create(str(tmp_path), session_id, FACTS)
    assert os.listdir(tmp_path) == []


def test_an_id_that_is_taken_is_refused_and_a_session_has_one_writer(tmp_path: Path) -> None:
    transcript = new(tmp_path)
    with pytest.raises(TranscriptError, match="session with this id exists"):
        new(tmp_path)
    with pytest.raises(TranscriptError, match="another process uses this session"):
        TranscriptWriter.resume(transcript.path)
    transcript.close()
    TranscriptWriter.resume(transcript.path).close()


def test_a_directory_that_cannot_be_made_is_told_once_and_the_session_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said: list[str] = []
    transcript = TranscriptWriter.create(str(tmp_path / "file" / "below"), "s", FACTS, report=said.append)
    for number in range(10):
        transcript.message(User(text=str(number)))
    transcript.close()
    assert len(said) == 1
    assert said[0].startswith("the transcript cannot be written: Not a directory")
    assert transcript.problems == tuple(said)


def test_records_wait_for_a_disk_that_has_room_again(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "folder").touch()
    transcript = TranscriptWriter.create(str(tmp_path / "folder"), "s", FACTS, report=said.append)
    transcript.message(User(text="one"))
    (tmp_path / "folder").unlink()
    transcript.message(User(text="two"))
    transcript.close()
    assert len(said) == 1
    past = earlier_session(read_transcript(transcript.path))
    assert past.messages == (User(text="one"), User(text="two"))
    assert past.session is not None


def test_of_records_that_wait_too_long_the_oldest_go_and_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").touch()
    transcript = TranscriptWriter(str(tmp_path / "folder" / "s.jsonl"), most_waiting=500)
    for number in range(50):
        transcript.message(User(text=f"text {number:02}"))
    assert any("were dropped" in problem for problem in transcript.problems)
    (tmp_path / "folder").unlink()
    transcript.message(User(text="last"))
    transcript.close()
    texts = [message.text for message in earlier_session(read_transcript(transcript.path)).messages]
    assert texts[0] == "text 00"
    assert texts[-2:] == ["text 49", "last"]
    assert len(texts) < 12


FULL_DISK = """
import resource, signal, sys
from hookline.model.messages import User
from hookline.agent.transcript.writer import TranscriptWriter
from hookline.agent.transcript.records import SessionFacts
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))
said = []
transcript = TranscriptWriter.create(sys.argv[1], "s", SessionFacts(cwd="/"), report=said.append)
for number in range(100):
    transcript.message(User(text=f"text {number}"))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
transcript.message(User(text="text 100"))
print(len(said), said[0])
"""


def test_a_disk_that_fills_up_in_the_middle_of_a_line_loses_nothing(tmp_path: Path) -> None:
    if resource.getrlimit(resource.RLIMIT_FSIZE)[1] != resource.RLIM_INFINITY:
        pytest.skip("file sizes are limited here")
    child = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert child.stdout.startswith("1 the transcript cannot be written: File too large")
    read = read_transcript(str(tmp_path / "s.jsonl"))
    assert read.problems == ()
    assert [message.text for message in earlier_session(read).messages] == [
        f"text {number}" for number in range(101)
    ]


def test_what_no_json_can_hold_costs_its_record_only(tmp_path: Path) -> None:
    transcript = new(tmp_path)
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    transcript.message(Assistant(tool_calls=(ToolUse(id="1", name="x", input={"a": deep}),)))
    transcript.message(Assistant(tool_calls=(ToolUse(id="2", name="x", input={"a": object()}),)))
    transcript.message(User(text="half a pair \ud800", by="\udfff"))
    transcript.message(
        Assistant(tool_calls=(ToolUse(id="3", name="x", input={"\ud800": ["\ud800", 10**30]}),))
    )
    transcript.close()
    assert len(transcript.problems) == 2
    messages = earlier_session(read_transcript(transcript.path)).messages
    assert messages[0] == User(text="half a pair \\ud800", by="\\udfff")
    assert isinstance(messages[1], Assistant)
    assert messages[1].tool_calls[0].input == {"\\ud800": ["\\ud800", 10**30]}


WRITER = """
import sys
from hookline.model.messages import User
from hookline.agent.transcript.writer import TranscriptWriter
from hookline.agent.transcript.records import SessionFacts
transcript = TranscriptWriter.create(sys.argv[1], "s", SessionFacts(cwd="/"))
number = 0
while True:
    transcript.message(User(text=f"{number} " + "x" * (number * 37 % 5000)))
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
    number += 1
"""


@pytest.mark.parametrize("acknowledged", [0, 1, 57, 400, 1500])
def test_a_killed_agent_keeps_every_record_it_was_told_is_written(tmp_path: Path, acknowledged: int) -> None:
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    last = -1
    with child.stdout as acknowledgements:
        for _ in range(acknowledged + 1):
            last = int(acknowledgements.readline())
        child.send_signal(signal.SIGKILL)
        last = max([last, *(int(line) for line in acknowledgements if line.endswith(b"\n"))])
    assert child.wait() == -signal.SIGKILL
    transcript = TranscriptWriter.resume(str(tmp_path / "s.jsonl"))
    texts = [message.text for message in transcript.past.messages]
    assert [text.split()[0] for text in texts] == [str(number) for number in range(len(texts))]
    assert last < len(texts) <= last + 2
    transcript.message(User(text="resumed"))
    transcript.close()
    read = read_transcript(transcript.path)
    assert read.problems == ()
    assert earlier_session(read).messages[-1] == User(text="resumed")


def result(use: str, text: str = "fine") -> ToolMessage:
    return ToolMessage(tool_use_id=use, name="Bash", text=text)


def asked(*ids: str) -> Assistant:
    return Assistant(tool_calls=tuple(ToolUse(id=each, name="Bash") for each in ids))


INTERRUPTED = ToolMessage(
    tool_use_id="b", name="Bash", text="The call was interrupted before it gave a result.", is_error=True
)


@every(
    ("recorded", "resumed"),
    [
        ([asked("a", "b"), result("a")], [asked("a", "b"), result("a"), INTERRUPTED]),
        ([asked("b")], [asked("b"), INTERRUPTED]),
        ([asked("b"), User(text="go on")], [asked("b"), INTERRUPTED, User(text="go on")]),
        ([asked("a"), result("a"), asked("b")], [asked("a"), result("a"), asked("b"), INTERRUPTED]),
        ([result("a"), User(text="x")], [User(text="x")]),
        ([asked("a"), result("a"), result("a", "again")], [asked("a"), result("a")]),
        ([asked("a", "c"), result("c"), result("a")], [asked("a", "c"), result("a"), result("c")]),
        (
            [asked("a", "a"), result("a", "1"), result("a", "2")],
            [asked("a", "a"), result("a", "1"), result("a", "2")],
        ),
        (
            [asked("a", "b"), result("a"), User(text="hook", by="h"), Assistant(text="x")],
            [asked("a", "b"), result("a"), INTERRUPTED, User(text="hook", by="h"), Assistant(text="x")],
        ),
    ],
)
def test_every_call_of_a_resumed_session_has_one_result(
    recorded: list[Message], resumed: list[Message]
) -> None:
    assert list(with_results(recorded)) == resumed
    assert list(with_results(resumed)) == resumed


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
CALLS = st.builds(ToolUse, id=TEXTS, name=TEXTS, input=st.dictionaries(TEXTS, JSON, max_size=3) | TEXTS)
MESSAGES = (
    st.builds(User, text=TEXTS, by=TEXTS, cache=st.booleans())
    | st.builds(
        Assistant, text=TEXTS, tool_calls=st.lists(CALLS, max_size=3).map(tuple), reasoning=st.none() | TEXTS
    )
    | st.builds(ToolMessage, tool_use_id=TEXTS, name=TEXTS, text=TEXTS, is_error=st.booleans())
)


@given(MESSAGES)
def test_any_message_comes_back_as_it_was(message: Message) -> None:
    line = encoded(MessageRecord(message=message))
    assert line.count(b"\n") == 1
    assert decoded(line) == MessageRecord(message=message)


@given(st.binary(max_size=200))
def test_no_bytes_are_more_than_a_problem(line: bytes) -> None:
    try:
        record = decoded(line)
    except ValueError:
        return
    assert decoded(encoded(record)) == record
