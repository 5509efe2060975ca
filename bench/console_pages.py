"""Measure the console on a hundred thousand runs: its index, each page, and fifty pages that listen."""

import asyncio
import os
import statistics
import tempfile
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

from bench.findings import Finding
from hookline.journal.file import JournalFile
from tests.team.console.sample import sample_runs, write_sample
from tests.team.console.scene import Running, append, console, furnish, journal_of

RUNS = 100_000
_VIEWS = {
    "start": "/",
    "runs": "/runs?status=all",
    "runs with a filter": "/runs?q=push&status=blocked&since=all",
    "sessions": "/sessions",
    "guards": "/guards",
    "time": "/time",
    "time of a hook": "/time?hook=audit",
    "jobs": "/jobs",
    "backtests": "/backtests",
}
_LONGEST_MS = 100.0
_CLIENTS, _PER_SECOND, _SECONDS = 50, 10, 8
_TIMES = 7


def findings() -> list[Finding]:
    """For `make bench`."""
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as directory:
        home = Path(directory)
        write_sample(journal_of(home), RUNS, time.time())
        furnish(home)
        started = time.perf_counter()
        with console(home) as running:
            browser = _logged_in(running)
            indexed = _until_indexed(browser, running, started)
            pages = {name: _page_ms(browser, running.address + path) for name, path in _VIEWS.items()}
            slowest = max(pages, key=lambda name: pages[name])
            received = ", ".join(f"{name} {ms:.0f}" for name, ms in pages.items())
            cookie = next(f"{each.name}={each.value}" for each in _jar)
            delays, cpu = asyncio.run(_listen(home, running, cookie))
        p99 = sorted(delays)[int(len(delays) * 0.99)]
        got = f"{p99:.0f} ms, p50 {statistics.median(delays):.0f} ms, {cpu:.0%} of a processor"
        return [
            Finding("console: 100,000 runs indexed and shown", f"{indexed:.1f} s", "<= 10 s", indexed <= 10),
            Finding(f"console: slowest page of the server ({received} ms)", f"{slowest} {pages[slowest]:.0f} ms",
                    f"<= {_LONGEST_MS:g} ms", pages[slowest] <= _LONGEST_MS),
            Finding(f"console: {_CLIENTS} clients, {_PER_SECOND} runs a second, journal to client, p99", got,
                    "<= 100 ms", p99 <= 100 and len(delays) >= 0.99 * _CLIENTS * _PER_SECOND * _SECONDS),
            _journal(home),
        ]  # fmt: skip


_jar = CookieJar()


def _logged_in(running: Running) -> urllib.request.OpenerDirector:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(_jar))
    with opener.open(running.link) as answer:
        answer.read()
    return opener


def _until_indexed(browser: urllib.request.OpenerDirector, running: Running, started: float) -> float:
    while True:
        with browser.open(running.address) as answer:
            if b"data-again-soon" not in answer.read():
                return time.perf_counter() - started
        time.sleep(0.05)


def _page_ms(browser: urllib.request.OpenerDirector, address: str) -> float:
    """The time that the server says it took, in the middle of several."""
    took: list[float] = []
    for _ in range(_TIMES):
        with browser.open(address) as answer:
            answer.read()
            took.append(float(answer.headers["server-timing"].partition("dur=")[2]))
    return statistics.median(took)


async def _listen(home: Path, running: Running, cookie: str) -> tuple[list[float], float]:
    """Return how long each run took to each client, in milliseconds, and the server's processor time."""
    sent: dict[str, float] = {}
    delays: list[float] = []
    ready = asyncio.Barrier(_CLIENTS + 1)
    clients = [
        asyncio.create_task(_client(running.port, cookie, sent, delays, ready)) for _ in range(_CLIENTS)
    ]
    await ready.wait()
    used, began = _cpu_seconds(running.pid), time.perf_counter()
    for number in range(_PER_SECOND * _SECONDS):
        name = f"live {number}"
        sent[name] = time.perf_counter()
        append(home, hook=name)
        await asyncio.sleep(max(began + (number + 1) / _PER_SECOND - time.perf_counter(), 0))
    cpu = (_cpu_seconds(running.pid) - used) / (time.perf_counter() - began)
    await asyncio.sleep(0.5)
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return delays, cpu


async def _client(
    port: int, cookie: str, sent: dict[str, float], delays: list[float], ready: asyncio.Barrier
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        request = f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n"
        writer.write(request.encode())
        while b"event: now" not in await reader.readline():
            pass
        await ready.wait()
        while line := await reader.readline():
            at = time.perf_counter()
            if line.startswith(b"data:"):
                delays += [(at - sent[name]) * 1000 for name in sent if f'"hook":"{name}"'.encode() in line]
    finally:
        writer.close()


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _journal(home: Path) -> Finding:
    """Writing runs while a console follows them, against the same without one."""
    runs = list(sample_runs(4000, time.time()))

    def written() -> float:
        file = JournalFile(str(journal_of(home)))
        started = time.perf_counter()
        for run in runs:
            file.append(run)
        took = time.perf_counter() - started
        file.close()
        return took

    alone = statistics.median(written() for _ in range(5))
    with console(home):
        time.sleep(3)
        followed = statistics.median(written() for _ in range(5))
    ratio = followed / alone
    return Finding(
        "console: writing the journal while it is followed, against alone",
        f"{ratio:.2f}x",
        "<= 1.3x",
        ratio <= 1.3,
    )


if __name__ == "__main__":
    print(*findings(), sep="\n")
