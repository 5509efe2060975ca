import asyncio
import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.commands.log.report import run_lines
from hookline.events import ToolCall
from hookline.extending import Journal, JournalFile, Redactor, Run
from hookline.journal.journal import Trace, trace_line, trace_wanted
from hookline.journal.reader import read_journal
from hookline.model.run import Called
from tests.every import every
from tests.journal.hostile_texts import (
    EACH_FORMAT,
    ENV,
    GITHUB,
    PLANTED,
    Planted,
    terminal_tricks,
    unsafe_characters,
)


def journal(env: Mapping[str, str] | None = None) -> Journal:
    return Journal(Redactor(env or {}))


def test_runs_are_remembered_newest_last_and_only_so_many() -> None:
    small = Journal(Redactor({}), memory=3)
    for number in range(5):
        small.record(Run(hook=str(number)))
    assert [run.hook for run in small.recent()] == ["2", "3", "4"]
    assert [run.hook for run in small.recent(2)] == ["3", "4"]
    assert small.recent(0) == ()
    assert len(small.recent(99)) == 3
    assert small.runs == 5


def test_a_run_without_texts_is_kept_as_it_is() -> None:
    log = journal()
    run = Run(hook="guard", source="hooks.toml:3", duration_ms=1.5)
    log.record(run)
    log.record(run)
    assert all(kept is run for kept in log.recent())


def test_counts_are_kept_by_status_and_for_passes_without_an_answer() -> None:
    log = journal()
    for run in (
        Run(hook="a"),
        Run(hook="a", status="blocked"),
        Run(hook="b", status="timed_out", failed_open=True),
    ):
        log.record(run)
    log.record(Run(hook="a"))
    assert log.counts == {"ok": 2, "blocked": 1, "timed_out": 1}
    assert log.failed_open == 1


@pytest.mark.parametrize("field", ["stdout", "stderr", "detail", "reason", "why", "hook", "source"])
def test_every_text_of_a_run_is_redacted_and_made_printable(field: str) -> None:
    log = journal(ENV)
    received: list[Run] = []
    log.subscribe(received.append)
    text = f"{GITHUB} \x1b[31m{ENV['DEPLOY_TOKEN']}\u202e"
    log.record(Run(**{"hook": "x", field: text}))  # pyright: ignore[reportArgumentType] - a text field by name
    assert getattr(log.recent()[0], field) == "[redacted] [redacted]<U+202E>"
    assert received == list(log.recent())


def test_names_a_hook_made_up_are_cleaned_and_bounded() -> None:
    log = journal()
    log.record(Run(hook="x", dropped=("\x1b[2Jfield", "y" * 5000, *["z"] * 500)))
    (run,) = log.recent()
    assert run.dropped[0] == "field"
    assert len(run.dropped) == 50
    assert max(map(len, run.dropped)) <= 64


def test_long_texts_keep_both_ends_and_say_what_is_missing() -> None:
    log = journal()
    log.record(Run(hook="x", stdout="a" * 5000 + "b" * 5000, stderr="c" * 8192, reason="d" * 2_000_000 + "!"))
    (run,) = log.recent()
    assert run.stdout == "a" * 4096 + "\n[... 1808 characters left out ...]\n" + "b" * 4096
    assert run.stderr == "c" * 8192
    assert run.reason is not None
    assert run.reason.endswith("d!")
    assert len(run.reason) < 8300


@every("distance", [0, 1, 20, 39, 40, 41, 4000, 8192, 16_364, 16_384, 16_404, 16_424])
def test_a_secret_at_any_place_where_text_is_cut_is_gone(distance: int) -> None:
    log = journal()
    before, after = "x" * (4096 - 20 + distance), "y" * (4096 - 20 + distance)
    for filler in ("", "z" * 100_000):
        log.record(Run(hook="x", stdout=f"{before}{GITHUB} {filler} {GITHUB} {after}"))
        kept = log.recent()[-1].stdout
        assert not any(GITHUB[start : start + 8] in kept for start in range(len(GITHUB) - 8))


def test_where_much_is_taken_out_of_long_text_no_half_of_a_secret_is_left() -> None:
    log = journal()
    secret = "ghp_" + "A1" * 200 + " "
    for shift in range(0, len(secret), 9):
        log.record(Run(hook="x", stdout="." * shift + secret * 400 + "." * shift))
        assert "A1A1" not in log.recent()[-1].stdout
        assert "ghp_" not in log.recent()[-1].stdout


def test_text_that_was_cut_off_inside_a_known_secret_ends_before_it() -> None:
    log = journal(ENV)
    text = "and " + ENV["DEPLOY_TOKEN"][:12]
    log.record(Run(hook="x", stdout=text))
    log.record(Run(hook="x", stdout=text, truncated=True))
    assert [run.stdout for run in log.recent()] == [text, "and [redacted]"]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_secret_is_in_no_memory_file_trace_or_subscriber(planted: Planted, tmp_path: Path) -> None:
    trace, received = io.StringIO(), list[Run]()
    path = str(tmp_path / "journal.jsonl")
    log = Journal(Redactor(ENV), file=JournalFile(path), subscribers=(received.append, Trace(trace).record))
    log.record(
        Run(
            hook=planted.text,
            stdout=planted.text,
            stderr=planted.text,
            reason=planted.text,
            detail=planted.text,
        )
    )
    log.record(Run(hook="x", why=planted.text, dropped=(planted.text,), detail=planted.text))
    log.close()
    everything = (
        Path(path).read_text() + trace.getvalue() + repr(received) + repr(log.recent()) + repr(log.problems)
    )
    assert planted.secret not in everything
    assert "[redacted]" in everything


def test_a_run_that_is_not_recorded_can_be_cleaned_too() -> None:
    log = journal()
    assert log.cleaned(Run(hook="x", why=GITHUB)).why == "[redacted]"
    assert log.runs == 0


def test_more_clean_texts_than_are_remembered_stay_clean() -> None:
    log = journal(ENV)
    for number in range(1500):
        log.record(Run(hook="h", reason=f"reason {number}"))
    log.record(Run(hook="h", reason=ENV["DEPLOY_TOKEN"]))
    assert log.recent()[-1].reason == "[redacted]"
    assert log.recent(2)[0].reason == "reason 1499"


def test_text_that_cannot_be_cleaned_is_left_out_and_said() -> None:
    log = journal()
    broken = Run(hook="x", reason=GITHUB.encode(), status="blocked")  # pyright: ignore[reportArgumentType] - wrong type on purpose
    log.record(broken)
    (run,) = log.recent()
    assert (run.status, run.reason, run.detail) == (
        "blocked",
        None,
        "[left out: the text could not be cleaned]",
    )
    assert len(log.problems) == 1
    assert "TypeError" in log.problems[0]


@pytest.mark.parametrize("error", [ValueError("no\x1b[31m"), asyncio.CancelledError()])
def test_a_subscriber_that_raises_is_said_once_and_the_others_hear(error: BaseException) -> None:
    heard: list[Run] = []

    def broken(_run: Run) -> None:
        raise error

    log = Journal(Redactor({}), subscribers=(broken, heard.append))
    for _ in range(3):
        log.record(Run(hook="x"))
    assert (len(heard), len(log.recent()), len(log.problems)) == (3, 3, 1)
    assert unsafe_characters(log.problems[0]) == []


def test_who_unsubscribed_hears_no_more_even_from_within_a_call() -> None:
    log = journal()
    heard: list[str] = []

    def once(run: Run) -> None:
        heard.append(run.hook)
        leave()

    leave = log.subscribe(once)
    log.record(Run(hook="a"))
    log.record(Run(hook="b"))
    assert heard == ["a"]


def test_a_journal_and_a_trace_are_sinks() -> None:
    sinks: list[Journal | Trace] = [journal(), Trace(None)]
    for sink in sinks:
        sink.record(Run(hook="x"))
    journal().close()


def test_a_trace_line_says_what_happened() -> None:
    run = Run(
        hook="guard.sh", event="PreToolUse", dialect_event="pre", status="blocked", decision="deny", duration_ms=3.14,
        reason="not\nhere", at=1_700_000_000.25, mode="shadow", recheck=True,
    )  # fmt: skip
    line = trace_line(run)
    assert line.endswith(".250 pre guard.sh blocked deny shadow recheck 3.1ms: not here")
    assert "blocked deny as-Bash 0.0ms" in trace_line(
        Run(hook="x", status="blocked", decision="deny", translated_tool="Bash", call=Called(tool="shell"))
    )
    late = trace_line(Run(hook="x", event="Stop", status="timed_out", cause="timed_out", failed_open=True))
    assert late.endswith("Stop x timed_out timed_out failed-open 0.0ms")


@every("text", terminal_tricks(60, seed=2))
def test_nothing_traced_steers_the_terminal(text: str) -> None:
    stream = io.StringIO()
    Trace(stream).record(Run(hook=text, reason=text, dialect_event=text, translated_tool=text))
    assert unsafe_characters(stream.getvalue()) == []
    assert stream.getvalue().count("\n") == 1


def test_a_closed_or_broken_stream_ends_the_trace_quietly() -> None:
    closed = io.StringIO()
    closed.close()
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "w", closefd=False) as pipe:
        for stream in (closed, pipe):
            trace = Trace(stream)
            trace.record(Run(hook="x"))
            trace.record(Run(hook="x"))
        os.dup2(os.open(os.devnull, os.O_WRONLY), write_end)
    os.close(write_end)


def test_a_stream_that_cannot_write_a_character_spells_it() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Trace(stream).record(Run(hook="schlüssel"))
    assert b"schl\\xfcssel" in raw.getvalue()


@pytest.mark.parametrize(
    ("value", "wanted"), [("1", True), ("yes", True), ("0", False), ("", False), ("off", False)]
)
def test_the_trace_is_asked_for_by_a_variable(value: str, wanted: bool) -> None:
    assert trace_wanted({"HOOKLINE_TRACE": value}) is wanted
    assert not trace_wanted({})


def test_importing_the_journal_compiles_no_pattern() -> None:
    import subprocess

    code = "import sys, hookline.journal.journal; print('hookline.journal.secret_shapes' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def kept(log: Journal, payload: Any, project: str) -> Called:
    """Record a call for later readers of the journal, and for subscribers."""
    log.record(Run(hook="x", call=log.called(payload, project)))
    read = log.recent()[-1].call
    heard: list[Run] = []
    log.subscribe(heard.append)()
    stop = log.subscribe(heard.append)
    log.record(Run(hook="x", call=log.called(payload, project)))
    stop()
    assert [run.call for run in heard] == [read]
    return read


@every(
    ("tool_input", "received"),
    [
        ({"description": "list", "command": "ls -l"}, "ls -l"),
        ({"cmd": "ls", "cwd": "/p"}, "ls"),
        ({"command": "", "file_path": "/p/a b.py"}, "/p/a b.py"),
        ({"command": ["git", "push"]}, "git push"),
        ({"urls": ["https://a.test", "https://b.test"]}, "https://a.test https://b.test"),
        ({"title": "a\nb", "draft": True, "labels": ["x", "y"]}, "title=a b draft=True labels=x y"),
        ({"nested": {"x": 1}, "none": None}, "nested=… none="),
        ({"password": "hunter22"}, "password=[redacted]"),
        ("plain text", "plain text"),
        ({"command": f"curl -H 'x: {GITHUB}'"}, "curl -H 'x: [redacted]'"),
        ({"command": "echo \x1b[31mred\u202e"}, "echo red<U+202E>"),
        ({"command": "x" * 5000}, "x" * 199 + "…"),
        ({}, ""),
        (None, ""),
        (7, ""),
    ],
)  # fmt: skip
def test_a_call_is_told_in_one_short_line(tool_input: Any, received: str) -> None:
    log = journal()
    payload = {"tool_name": "Tool", "tool_input": tool_input}
    assert kept(log, payload, "/p") == Called(tool="Tool", input=received, project="/p")
    assert log.called(payload, "/p") is log.called(payload, "/p")


@pytest.mark.parametrize("filler", [0, 900, 1000, 1010, 1020])
def test_no_part_of_a_secret_is_left_where_a_long_input_is_cut_off(filler: int) -> None:
    for secret in (GITHUB, ENV["DEPLOY_TOKEN"] * 60, ENV["SERVICE_API_KEY"]):
        command = ":" + " " * min(filler, 8) + "." * max(filler - 850, 0) + f" {secret} " + "y" * 2000
        log = journal({**ENV, "LONG_TOKEN": ENV["DEPLOY_TOKEN"] * 60})
        received = kept(log, ToolCall(tool_name="Bash", tool_input={"command": command}), "")
        assert secret[:6] not in received.input


def test_a_payload_that_cannot_be_read_is_said_and_not_raised() -> None:
    class Odd:
        @property
        def tool_name(self) -> str:
            raise ValueError(GITHUB)

    assert journal().called(Odd(), "").input == "[left out: reading it raised ValueError]"
    assert journal().called(object(), "") == Called()


def test_the_memory_keeps_long_names_and_ids_of_calls_short_and_apart() -> None:
    log = journal()
    calls = [
        log.called(ToolCall(tool_name=end * 100_000, tool_use_id="x" * 100_000 + end), "/p") for end in "ab"
    ]
    assert all(len(call.tool) <= 256 and len(call.id) <= 256 for call in calls)
    assert calls[0].id != calls[1].id


def test_what_the_runs_say_of_their_call_is_cleaned() -> None:
    log = journal()
    call = Called(
        tool=f"a\x1b[2J{GITHUB}", input=GITHUB, project=f"/p/{GITHUB}", caller="c\x07", origin="fire"
    )
    log.record(Run(hook="x", call=call))
    (kept,) = log.recent()
    assert kept.call == Called(
        tool="a[redacted]", input="[redacted]", project="/p/[redacted]", caller="c", origin="fire"
    )


def test_no_format_of_the_table_is_kept_or_shown(tmp_path: Path) -> None:
    trace = io.StringIO()
    file = JournalFile(str(tmp_path / "journal.jsonl"))
    log = Journal(Redactor({}), 10_000, file, (Trace(trace).record,))
    for planted in EACH_FORMAT:
        call = log.called({"tool_name": "Bash", "tool_input": {"command": planted.text}}, "/p")
        log.record(Run(hook=planted.text, detail=planted.text, stderr=planted.text, call=call))
    log.close()
    shown = [line for run in read_journal(file.path).runs for line in run_lines(run, 160)]
    places = (Path(file.path).read_text(), trace.getvalue(), repr(log.recent()), "\n".join(shown))
    secrets = {planted.secret for planted in EACH_FORMAT}
    assert [secret for secret in secrets if any(secret in place for place in places)] == []
    assert len(shown) > len(EACH_FORMAT)
