"""Telemetry of Hookline's own processes: where it is sent, where not, and that hooks never wait for it in vain."""

import errno
import json
import logging
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from hookline.journal.reader import read_journal
from hookline.telemetry.collector import CollectorSession, no_answer
from hookline.telemetry.setup import SaidOnce, flush, observer_from, refusal, wanted_signals
from hookline.telemetry.spool import MOST_BYTES, SpoolFile
from tests.every import every
from tests.telemetry.collector import collecting
from tests.waiting import wait_until
from tests.warm_process import Ran, run_warm

GUARD = (
    '[[hooks.PreToolUse]]\nhooks = [{ name = "guard", type = "builtin", command = "deny", args = ["no"] }]\n'
)
PAYLOAD = {
    "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls hunter2"},
}  # fmt: skip
JOURNAL = ".local/state/hookline/journal.jsonl"
_FIRE = ["fire", "PreToolUse", "Bash", "command=ls", "--config", "guards.toml"]


def hookline(top: Path, words: list[str], env: Mapping[str, str], stdin: str = "") -> Ran:
    own = {"HOME": str(top), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **env}
    return run_warm(words, cwd=top, env=own, stdin=stdin.encode())


def test_a_call_of_an_agent_is_a_span_under_that_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "guards.toml").write_text(GUARD)
    with collecting() as collector:
        env = {**collector.env, "TRACEPARENT": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}
        words = ["hook", "--dialect", "claude-code", "--config", "guards.toml"]
        ran = hookline(tmp_path, words, env, json.dumps({**PAYLOAD, "cwd": str(tmp_path)}))
        assert b'"deny"' in ran.stdout
        # Another process sends, and the agent does not wait for it.
        wait_until(
            lambda: "hookline.hook.decisions" in collector.metrics and len(collector.spans) == 2, seconds=60
        )
        dispatch, guard = (
            collector.span("hookline.dispatch PreToolUse"),
            collector.span("hookline.hook guard"),
        )
        assert (dispatch.trace, dispatch.parent) == ("a" * 32, "b" * 16)
        assert guard.parent == dispatch.id
        assert dispatch.attributes["gen_ai.agent.name"] == "claude-code"
        assert dispatch.resource["service.name"] == "hookline"
        assert dispatch.resource["host.name"] == os.uname().nodename
        assert guard.attributes["hookline.decision"] == "deny"
        assert collector.metrics["hookline.hook.decisions"][0][1] == 1
        # The process ends: sums would begin a series of their own with each call.
        assert collector.temporality["hookline.hook.decisions"] == 1
        assert not any(b"hunter2" in body for body in collector.bodies)


def test_a_call_loads_nothing_of_opentelemetry_and_waits_for_no_collector(tmp_path: Path) -> None:
    """Two calls are sent by one process, after they have ended; the collector answers nobody before."""
    (tmp_path / "guards.toml").write_text(GUARD)
    hook = ["hook", "--home", str(tmp_path), "--dialect", "claude-code", "--config", "guards.toml"]
    with collecting() as collector:
        collector.wait = threading.Event()
        env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "MARK": "x", **collector.env}
        for _ in range(2):
            ran = subprocess.run(
                [sys.executable, "-X", "importtime", "-m", "hookline", *hook], cwd=tmp_path, env=env,
                input=json.dumps({**PAYLOAD, "cwd": str(tmp_path)}).encode(), capture_output=True, check=False,
            )  # fmt: skip
            assert b'"deny"' in ran.stdout
            assert b"hookline.telemetry.spool" in ran.stderr
            assert b"opentelemetry" not in ran.stderr
        assert not collector.spans
        assert not [run for run in read_journal(str(tmp_path / JOURNAL)).runs if run.type == "telemetry"]
        (sender,) = senders(tmp_path)
        assert b"MARK=" not in Path(f"/proc/{sender}/environ").read_bytes()
        collector.wait.set()
        wait_until(lambda: len(collector.spans) == 4, seconds=60)
        assert len({each.trace for each in collector.spans}) == 2
    wait_until(lambda: not senders(tmp_path), seconds=60)
    assert list((tmp_path / ".local/state/hookline/telemetry").iterdir()) == []


def senders(home: Path) -> list[str]:
    """The processes that send for this home."""
    found: list[str] = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words, env = (each.joinpath(name).read_bytes() for name in ("cmdline", "environ"))
            if b"telemetry_sender" in words and f"HOME={home}\0".encode() in env:
                found.append(each.name)
    return found


def test_what_many_calls_leave_unsent_is_bounded(tmp_path: Path) -> None:
    file = SpoolFile({"HOME": str(tmp_path)}, str(tmp_path))
    line = b"x" * (1 << 20)
    for _ in range(7):
        file.append(line)
    assert len(file.take(0)) == MOST_BYTES
    assert not file.is_there()


def test_a_collector_that_does_not_answer_holds_nothing_up_and_is_named_once(tmp_path: Path) -> None:
    """The process that sends reports an error once, and hooks decide as usual."""
    (tmp_path / "guards.toml").write_text(GUARD)
    with collecting() as collector:
        collector.status = 503  # which an exporter retries for longer than any caller waits
        words = ["hook", "--dialect", "claude-code", "--config", "guards.toml"]
        env = {**collector.env, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
        ran = hookline(tmp_path, words, env, json.dumps({**PAYLOAD, "cwd": str(tmp_path)}))
        assert b'"deny"' in ran.stdout
        wait_until(lambda: collector.requests and not senders(tmp_path), seconds=60)
    received = [run.detail for run in read_journal(str(tmp_path / JOURNAL)).runs if run.type == "telemetry"]
    assert len(received) == 1
    assert received[0].startswith("telemetry is not sent: ")
    assert received[0].endswith("hooks are not affected")


@every(
    ("env", "signals"),
    [
        ({}, []),
        ({"OTEL_SERVICE_NAME": "x"}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, ["TRACES", "METRICS"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_METRICS_EXPORTER": "none"}, ["TRACES"]),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://x"}, ["METRICS"]),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, ["TRACES"]),
        ({"OTEL_TRACES_EXPORTER": "console"}, []),
        ({"OTEL_TRACES_EXPORTER": "Zipkin, OTLP"}, ["TRACES"]),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "zipkin"}, ["METRICS"]),
    ],
)
def test_what_is_sent_is_what_the_standard_variables_say(env: dict[str, str], signals: list[str]) -> None:
    assert wanted_signals(env) == signals


def test_an_exporter_that_is_not_there_is_said_and_nothing_is_sent_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "guards.toml").write_text(GUARD)
    with collecting() as collector:
        env = {**collector.env, "OTEL_TRACES_EXPORTER": "zipkin"}
        ran = hookline(tmp_path, _FIRE, env)
        assert "hookline.hook.decisions" in collector.metrics
        assert not collector.spans
    assert ran.status == 2
    assert ran.stderr.count(b"OTEL_TRACES_EXPORTER asks for zipkin, which Hookline does not have") == 1
    said: list[str] = []
    assert (
        observer_from({"OTEL_METRICS_EXPORTER": "prometheus"}, said.append, only_here=False, seconds=None)
        is None
    )
    assert "OTEL_METRICS_EXPORTER asks for prometheus" in said[0]
    said.clear()
    disabled = {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_SDK_DISABLED": "true"}
    assert observer_from(disabled, said.append, only_here=False, seconds=None) is None
    assert said == []


def test_a_collector_that_refuses_is_said_once_in_plain_words_with_the_variable_that_names_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "guards.toml").write_text(GUARD)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    endpoint = f"http://ann:hunter2@127.0.0.1:{port}"  # where nothing listens any more
    env = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "0.2"}
    ran = hookline(tmp_path, _FIRE, env)
    name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    assert ran.stderr.decode() == (
        f"hookline: telemetry is not sent: nothing listens at http://127.0.0.1:{port} ({name}): "
        f"start a collector there, or unset {name}; hooks are not affected\n"
    )
    with collecting() as collector:
        for status, words in ((401, "OTEL_EXPORTER_OTLP_HEADERS"), (404, "accepts no OTLP at /v1/")):
            collector.status = status
            ran = hookline(tmp_path, _FIRE, collector.env)
            (line,) = ran.stderr.decode().splitlines()
            assert words in line
            assert collector.env["OTEL_EXPORTER_OTLP_ENDPOINT"] in line


def test_a_request_that_is_taken_at_the_second_try_is_not_said(tmp_path: Path) -> None:
    said: list[str] = []
    received = SaidOnce(said.append)
    received.sending = True
    received.note("nothing listens there")
    received.emit(
        logging.LogRecord("opentelemetry", logging.WARNING, __file__, 1, "Transient error", None, None)
    )
    received.note(None)
    assert said == []
    received.note("it refuses")
    received.emit(
        logging.LogRecord("opentelemetry", logging.ERROR, __file__, 1, "Failed to export", None, None)
    )
    assert said == ["telemetry is not sent: it refuses; hooks are not affected"]


@every(
    ("problem", "words"),
    [
        (requests.ConnectionError(ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong")), "write http:// if"),
        (requests.ConnectionError(socket.gaierror(-2, "unknown")), "cannot be resolved"),
        (requests.ConnectionError(OSError(errno.EHOSTUNREACH, "no route")), "cannot be reached from here"),
        (requests.ConnectionError("gone"), "ended the connection without an answer"),
        (requests.ReadTimeout("slow"), "does not answer in time"),
    ],
)
def test_each_failure_has_words_of_its_own(problem: Exception, words: str) -> None:
    text = no_answer("https://ann:hunter2@x.example:4318/v1/traces?key=hunter2", "VARIABLE", problem)
    assert words in text
    assert "https://x.example:4318 (VARIABLE)" in text
    assert "hunter2" not in text


@every(("endpoint",), [("http://[::",), ("localhost:4318",), ("ftp://x",), ("http://x:0x1",)])
def test_what_is_no_address_is_said_with_its_variable(endpoint: str) -> None:
    said: list[str] = []
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    for only_here in (True, False):
        assert observer_from(env, said.append, only_here=only_here, seconds=None) is None
        assert "OTEL_EXPORTER_OTLP_ENDPOINT is not an address of a collector" in said.pop()


@every(
    ("endpoint", "fine"),
    [
        ("http://localhost:4318", True),
        ("http://127.0.0.1:4318", True),
        ("http://[::1]:4318", True),
        ("https://otel.example.com", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://127.0.0.1@example.com", False),
        ("http://10.0.0.1:4318", False),
    ],
)
def test_where_an_agent_sets_the_environment_nothing_leaves_the_machine(endpoint: str, fine: bool) -> None:
    """A project may set variables of the agents that work in it."""
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        env = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://localhost:4318", name: endpoint}
        said: list[str] = []
        signals = wanted_signals(env)
        assert (refusal(env, signals, only_here=True) is None) is fine
        assert refusal(env, signals, only_here=False) is None
        if not fine:
            assert observer_from(env, said.append, only_here=True, seconds=None) is None
            assert "run a collector on this machine" in said[0]
            assert "@" not in said[0]


def test_another_protocol_and_missing_packages_are_said_and_hooks_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    assert observer_from(env, said.append, only_here=False, seconds=None) is None
    assert "not grpc" in said[0]
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    env.pop("OTEL_EXPORTER_OTLP_PROTOCOL")
    assert observer_from(env, said.append, only_here=False, seconds=None) is None
    assert "[otel]" in said[1]


def test_the_end_of_a_process_waits_a_bounded_time(tmp_path: Path) -> None:
    """`flush` with a provider that never comes back."""
    never, said = threading.Event(), list[str]()

    class Stuck:
        def force_flush(self, milliseconds: int) -> None:
            never.wait(60)

    flush([Stuck()], 0.05, SaidOnce(said.append))
    never.set()
    assert said == [
        "telemetry is not sent: the collector took more than 0.05 s; hooks are not affected",
    ]


def test_a_wrong_setting_is_said_as_such_without_passwords_and_failures_are_still_said() -> None:
    said: list[str] = []
    received = SaidOnce(said.append, ["api-key s3cret", "s3cret"])

    def log(text: str) -> None:
        received.emit(logging.LogRecord("opentelemetry", logging.WARNING, __file__, 1, text, None, None))

    log("Header format invalid: api-key s3cret")
    log("Header format invalid: api-key s3cret")
    received.sending = True
    log("no answer")
    log("no answer again")
    assert said == [
        "a setting of telemetry is wrong: Header format invalid: [redacted]; hooks are not affected",
        "telemetry is not sent: no answer; hooks are not affected",
    ]


def test_a_malformed_header_is_not_shown_and_the_rest_is_sent(tmp_path: Path) -> None:
    (tmp_path / "guards.toml").write_text(GUARD)
    with collecting() as collector:
        env = {**collector.env, "OTEL_EXPORTER_OTLP_HEADERS": "api-key s3cret"}
        words = ["fire", "PreToolUse", "Bash", "command=ls", "--config", "guards.toml"]
        ran = hookline(tmp_path, words, env)
        assert collector.span("hookline.hook guard")
    assert ran.stderr.count(b"a setting of telemetry is wrong") == 1
    assert b"[redacted]" in ran.stderr
    assert b"s3cret" not in ran.stderr


@pytest.mark.parametrize("lasting", [True, False])
def test_only_a_server_tries_again_where_nothing_listens(lasting: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    notes: list[str | None] = []
    session = CollectorSession("VARIABLE", notes.append, lasting=lasting)
    with session, pytest.raises(requests.RequestException) as problem:
        session.post(f"http://127.0.0.1:{port}/v1/traces", timeout=60)
    # The exporter tries again after an error of a connection, and after no other.
    assert isinstance(problem.value, requests.ConnectionError) is lasting
    assert "nothing listens" in (notes[0] or "")
