"""Measure a central decision: `hookline serve` with one guard, beside uvicorn with an application that echoes.

It counts the server's processor time, so that it says how many decisions one core makes, whatever else runs.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from msgspec import Struct

from bench.findings import Finding

_WANTED_RATE = 10_000
#: Processor time of a decision beside that of an echo. It reads JSON strictly, dispatches, and writes two records.
_MOST_TIMES = 5.0
_REQUESTS, _CONNECTIONS, _ALONE = 4000, 8, 300
_LINES = ("ls -la src", "git push --force", "grep -rn TODO src tests", "git status && make test")
_CONFIG = '[[hooks.PreToolUse]]\nhooks = [{ name = "guard", type = "builtin", command = "force-push" }]\n'
_ECHO = """
import asyncio, socket, uvicorn
async def echo(scope, receive, send):
    body = (await receive())["body"]
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen(1024)
print(listener.getsockname()[1], flush=True)
options = dict(http="h11", ws="none", lifespan="off", loop="asyncio", access_log=False, log_level="critical")
uvicorn.Server(uvicorn.Config(echo, **options)).run([listener])
"""


class Cost(Struct, frozen=True):
    #: Microseconds of processor time for one request.
    cpu: float
    #: Milliseconds from request to answer with no other request running.
    p50: float
    p99: float


def findings() -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        top = Path(scratch)
        echo, decision = _cost(_echoing(top)), _cost(_deciding(top))
    rate = 1e6 / decision.cpu
    times = decision.cpu / echo.cpu
    return [
        Finding(
            "a central decision beside an echo of uvicorn, processor time",
            f"{decision.cpu:.0f} µs to {echo.cpu:.0f} µs, {times:.2f}x",
            f"<= {_MOST_TIMES:g}x",
            times <= _MOST_TIMES,
        ),
        Finding(
            "one central decision at a time, p50 and p99",
            f"{decision.p50:.2f} and {decision.p99:.2f} ms; an echo {echo.p50:.2f} and {echo.p99:.2f} ms",
            "printed",
            True,
        ),
        Finding(
            "central decisions a second and core",
            f"{rate:,.0f}; {_WANTED_RATE:,} a second need {_WANTED_RATE / rate:.1f} cores",
            "printed",
            True,
        ),
    ]


class _Server(Struct, frozen=True):
    pid: int
    port: int
    token: str = "-"


def _cost(starting: "Generator[_Server]") -> Cost:
    with contextmanager(lambda: starting)() as server:
        return asyncio.run(_measured(server))


def _deciding(top: Path, deadline: str = "10", *more: str) -> Generator[_Server]:
    (top / "guards.toml").write_text(_CONFIG)
    words = [
        "serve",
        "--config",
        "guards.toml",
        "--port",
        "0",
        "--json",
        "--deny-seconds",
        "0",
        "--deadline",
        deadline,
        *more,
    ]
    with _process([sys.executable, "-m", "hookline", *words], top) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        port = int(said["url"].split(":")[2].split("/")[0])
        yield _Server(process.pid, port, Path(said["token_file"]).read_text())


def _echoing(top: Path) -> Generator[_Server]:
    with _process([sys.executable, "-c", _ECHO], top) as process:
        assert process.stdout is not None
        yield _Server(process.pid, int(process.stdout.readline()))


@contextmanager
def _process(line: list[str], top: Path) -> Generator[subprocess.Popen[bytes]]:
    env = {"HOME": str(top), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    with subprocess.Popen(line, cwd=top, env=env, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)


async def _measured(server: _Server) -> Cost:
    await _ask(server, _ALONE)  # until everything is loaded
    before = _processor_seconds(server.pid)
    share = _REQUESTS // _CONNECTIONS
    await asyncio.gather(*(_ask(server, share) for _ in range(_CONNECTIONS)))
    cpu = (_processor_seconds(server.pid) - before) / (share * _CONNECTIONS)
    taken = sorted(await _ask(server, _ALONE))
    return Cost(cpu * 1e6, statistics.median(taken), taken[int(len(taken) * 0.99)])


async def _ask(server: _Server, count: int) -> list[float]:
    """Milliseconds of each request on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    taken: list[float] = []
    for number in range(count):
        line = _LINES[number % len(_LINES)]
        body = _payload(line, number)
        head = f"POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n"
        started = perf_counter()
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answered = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answered.split(b"content-length:")[1].split(b"\r\n")[0])
        content = await reader.readexactly(length)
        taken.append((perf_counter() - started) * 1e3)
        assert b" 200 " in answered.split(b"\r\n")[0], (answered, content)
        if server.token != "-":
            assert (b'"deny"' in content) == ("--force" in line), content
    writer.close()
    return taken


def _payload(line: str, number: int) -> bytes:
    return json.dumps(
        {
            "hook_event_name": "PreToolUse", "session_id": "bench", "cwd": "/work", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": f"call {number}",
        }
    ).encode()  # fmt: skip


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load(Struct, frozen=True):
    """Answers of a server under load."""

    #: Answers a second, the share that were decisions, and their p99 in milliseconds.
    rate: float
    decided: float
    p99: float
    late: int


def load() -> list[Finding]:
    """Measure one server at half of what it can do, at all of it, and at twice that; an echo beside it."""
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as scratch:
        top = Path(scratch)
        with contextmanager(lambda: _echoing(top))() as server:
            echo = asyncio.run(_closed_loop(server))
        with contextmanager(lambda: _deciding(top, "0.2", "--per-caller", "10000"))() as server:
            full = asyncio.run(_closed_loop(server))
            half = asyncio.run(_open_loop(server, full.rate / 2))
            before = asyncio.run(_counted(server))
            twice = asyncio.run(_open_loop(server, full.rate * 2))
            counted = {
                name: count - before.get(name, 0) for name, count in asyncio.run(_counted(server)).items()
            }
    refused = ", ".join(f"{name} {count:,}" for name, count in sorted(counted.items()) if count)
    return [
        Finding(
            "a server of decisions, saturated by 64 connections, beside an echo",
            f"{full.rate:,.0f} a second, p99 {full.p99:.0f} ms; {echo.rate:,.0f} a second, p99 {echo.p99:.0f} ms",
            "printed", True,
        ),
        Finding("at half of that, p99", f"{half.p99:.1f} ms, {half.decided:.1%} decided", "printed", True),
        Finding(
            "at twice of that: decided, refused as late or full, p99 of the decided",
            f"{twice.rate * twice.decided:,.0f} a second ({twice.decided:.0%}), {twice.late:,}, {twice.p99:.0f} ms",
            "refused > 0", twice.late > 0,
        ),
        Finding(
            "of those refused, counted by the server", f"{refused} of {twice.late:,}", "all of them",
            sum(counted.values()) == twice.late,
        ),
    ]  # fmt: skip


_LOAD_SECONDS, _LOAD_CONNECTIONS = 6.0, 64


async def _closed_loop(server: _Server) -> Load:
    """Ask as fast as answers come, on many connections."""
    end = perf_counter() + _LOAD_SECONDS
    taken: list[tuple[float, int]] = []

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while perf_counter() < end:
            taken.append(await _once(server, reader, writer, perf_counter()))
        writer.close()

    await asyncio.gather(*(one() for _ in range(_LOAD_CONNECTIONS)))
    return _summed(taken, _LOAD_SECONDS)


async def _open_loop(server: _Server, rate: float) -> Load:
    """Ask at a rate, whatever the answers do, on so many connections that the server has to queue."""
    taken: list[tuple[float, int]] = []
    due: asyncio.Queue[bool] = asyncio.Queue()

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while await due.get():
            taken.append(await _once(server, reader, writer, perf_counter()))
        writer.close()

    workers = [asyncio.create_task(one()) for _ in range(14 * _LOAD_CONNECTIONS)]
    began, sent = perf_counter(), 0
    while (passed := perf_counter() - began) < _LOAD_SECONDS:
        while sent < passed * rate:
            due.put_nowait(True)
            sent += 1
        await asyncio.sleep(0.002)
    for _ in workers:
        due.put_nowait(False)
    await asyncio.gather(*workers)
    return _summed(taken, perf_counter() - began)


async def _counted(server: _Server) -> dict[str, int]:
    """Return what the server counts as refused, by reason, and as not decided in time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = f"GET /v1/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode())
    status = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])
    writer.close()
    return {**status["refused"], "timed out": status["timed_out"]}


async def _once(
    server: _Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, began: float
) -> tuple[float, int]:
    """Return the milliseconds of one request, and the status of its answer."""
    body = _payload(_LINES[0], 0)
    head = f"POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answered = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(answered.split(b"content-length:")[1].split(b"\r\n")[0]))
    return (perf_counter() - began) * 1e3, int(answered.split(b" ")[1])


def _summed(taken: list[tuple[float, int]], seconds: float) -> Load:
    good = sorted(each for each, status in taken if status == 200)
    p99 = good[int(len(good) * 0.99)] if good else float("inf")
    return Load(len(taken) / seconds, len(good) / len(taken), p99, len(taken) - len(good))


if __name__ == "__main__":
    print(*findings(), *load(), sep="\n")
