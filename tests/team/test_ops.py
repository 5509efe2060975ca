"""Test what an operator sees and does: probes and metrics without a token, a reload by HUP, two tokens, JSON logs."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from hookline.team.ops import Operations, OperationsMetric, measured, operating, prometheus
from hookline.team.serve.app import ServerLimits
from hookline.telemetry import vocabulary
from tests.handlers.calls import finished
from tests.team.fleet.server import Server, home, needs_server
from tests.team.serve.servers import deciding, payload
from tests.team.serve.test_bounds import DENY
from tests.telemetry.collector import collecting
from tests.waiting import until, wait_until

OLD, NEW = "an-old-token-of-callers", "a-new-token-of-callers"


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except OSError:
        return 0, ""


class Process:
    """A command, and what it has written to standard error so far."""

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self.process = process
        self._errors = errors

    @property
    def lines(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in self._errors.read_text().splitlines()]

    def address(self) -> str:
        wait_until(lambda: any("/healthz" in each["message"] for each in self.lines))
        said = next(each["message"] for each in self.lines if "/healthz" in each["message"])
        return said.partition("/healthz")[0]

    def hangup(self, says: str) -> None:
        before = len(self.lines)
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any(says in each["message"] for each in self.lines[before:]))


@contextmanager
def running(env: dict[str, str], directory: Path, *words: str) -> Generator[Process]:
    errors = directory / "errors"
    with errors.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "hookline", *words], env=env, cwd=directory, stdout=subprocess.PIPE, stderr=stream,
            text=True,
        )  # fmt: skip
    try:
        yield Process(process, errors)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_serve_is_probed_without_a_token_and_reloads_hooks_and_tokens(tmp_path: Path) -> None:
    guards, token = tmp_path / "guards.toml", tmp_path / "token"
    guards.write_text(DENY)
    token.write_text(OLD)
    token.chmod(0o600)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    words = (
        "--port",
        "0",
        "--ops-port",
        "0",
        "--log",
        "json",
        "--token-file",
        str(token),
        "--deadline",
        "60",
    )
    with running(env, tmp_path, "serve", "--config", str(guards), *words) as server:
        assert server.process.stdout is not None
        url = server.process.stdout.readline().split()[0]
        operations = server.address()

        def status(given: str) -> int:
            request = urllib.request.Request(url, payload("ls"), {"Authorization": f"Bearer {given}"})
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status
            except urllib.error.HTTPError as refused:
                return refused.code

        assert (status(OLD), status(NEW)) == (200, 401)
        assert get(f"{operations}/healthz") == (200, "ok\n")
        assert get(f"{operations}/readyz") == (200, "ready\n")
        assert get(f"{operations}/v1/status")[0] == 404
        text = get(f"{operations}/metrics")[1]
        assert "hookline_serve_decisions_total 1\n" in text
        assert 'hookline_serve_refused_total{reason="token"} 1\n' in text
        # Both tokens while callers move, then the new one alone; a broken file leaves what was there.
        token.write_text(f"{OLD}\n{NEW}\n")
        server.hangup("revision")
        wait_until(lambda: status(NEW) == 200)
        assert status(OLD) == 200
        token.write_text("short")
        server.hangup("stay as they were")
        assert status(NEW) == 200
        token.write_text(NEW)
        guards.write_text(DENY.replace('name = "no"', 'name = "never"'))
        server.hangup("revision")
        wait_until(lambda: status(OLD) == 401)
        assert status(NEW) == 200
        assert {each["program"] for each in server.lines} == {"hookline serve"}


@needs_server
def test_a_worker_is_probed_and_reads_its_settings_again(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    env = home(tmp_path, "alpha", server, "")
    settings = tmp_path / "alpha/.config/hookline/fleet.toml"
    try:
        with running(env, tmp_path, "fleet", "worker", "--ops-port", "0", "--log", "json") as worker:
            address = worker.address()
            wait_until(lambda: get(f"{address}/readyz") == (200, "ready\n"))
            assert "hookline_fleet_connected 1\n" in get(f"{address}/metrics")[1]
            settings.write_text(settings.read_text().replace('"alpha"', '"omega"'))
            worker.hangup("omega is in the fleet")
            settings.write_text("server = 5\n")
            worker.hangup("the settings stay as they were")
            wait_until(lambda: sum("is in the fleet" in each["message"] for each in worker.lines) >= 3)
            server.kill()
            wait_until(lambda: worker.lines[-1]["message"].endswith("nothing listens there"))
    finally:
        server.kill()


@needs_server
def test_a_worker_sends_what_its_metrics_show(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    words = ("fleet", "worker", "--ops-port", "0", "--log", "json")
    try:
        with collecting() as collector:
            env = {
                **home(tmp_path, "alpha", server, ""),
                **collector.env,
                "OTEL_METRIC_EXPORT_INTERVAL": "200",
            }
            with running(env, tmp_path, *words) as worker:
                address = worker.address()
                wait_until(lambda: collector.metrics.get("hookline.fleet.connected") == [({}, 1.0)])
                shown = get(f"{address}/metrics")[1]
        sent = {
            measured(each, 0).name for each in vocabulary.FLEET if collector.metrics.get(each.name)
        }  # fmt: skip
        assert sent == {line.split()[0] for line in shown.splitlines() if not line.startswith("#")}
        assert {
            "hookline_fleet_dead_letters",
            "hookline_fleet_unsent_bytes",
            "hookline_fleet_problems_total",
        } <= sent
        assert collector.resource["hookline.machine"] == "alpha"
    finally:
        server.kill()


def test_one_caller_cannot_take_all_places(tmp_path: Path) -> None:
    slow = '[[hooks.PreToolUse]]\nhooks = [{ command = "sleep 2", timeout = 60 }]\n'

    async def main() -> None:
        async with deciding(tmp_path, slow, bounds=ServerLimits(deadline=60, per_caller=2)) as server:
            replies = await asyncio.gather(*(server.ask(payload("ls")) for _ in range(5)))
            assert sorted(each.status for each in replies) == [200, 200, 429, 429, 429]
            assert server.refused("caller") == 3

    finished(main())


def test_a_decision_that_comes_too_late_is_no_decision_also_of_a_builtin(tmp_path: Path) -> None:
    async def main() -> None:
        async with deciding(tmp_path, DENY, bounds=ServerLimits(deadline=1e-6)) as server:
            assert (await server.ask(payload("ls"))).status == 504
            assert server.refused("late") + server.app.counts.timed_out == 1

    finished(main())


def test_a_connection_that_is_open_at_the_end_is_closed_and_no_error() -> None:
    said: list[str] = []

    async def main() -> socket.socket:
        asyncio.get_running_loop().set_exception_handler(lambda _, problem: said.append(problem["message"]))
        async with operating("127.0.0.1", 0, Operations(lambda: "", tuple)) as port:
            client = socket.create_connection(("127.0.0.1", port or 0))
            await until(lambda: any("operating" in repr(task) for task in asyncio.all_tasks()))
        return client

    with asyncio.run(main()) as client:
        assert client.recv(1) == b""
    assert said == []


def test_metrics_are_prometheus_text() -> None:
    metrics = (
        OperationsMetric("a_total", "counter", "Things.", 3),
        OperationsMetric("b", "gauge", "By.", label="why", values={'x"\n': 1}),
    )
    assert prometheus(metrics) == (
        '# HELP a_total Things.\n# TYPE a_total counter\na_total 3\n# HELP b By.\n# TYPE b gauge\nb{why="x\\"\\n"} 1\n'
    )
