"""Measure how fast a million past events are judged and compared with the journal, and in how much memory."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.findings import Finding
from bench.history import size_of, write_history
from hookline.journal.file import JournalFile, journal_path
from hookline.model.run import Called, Run

_MOMENTS, _SESSIONS = 1_000_000, 3_000
_RULES = (
    "git push --force*", "rm -rf *", "curl *", "sudo *", "npm publish*", "docker rm *", "kubectl delete *",
    "chmod 777 *", "git reset --hard*", "terraform apply*", "aws s3 rm *", "psql *", "dd *", "mkfs*", "shutdown*",
    "pip install *", "git commit --amend*", "git rebase *", "systemctl stop *", "scp *",
)  # fmt: skip
_GUARDS = ("force-push", "delete-recursive", "secrets-read", "write-outside-project", "pipe-to-shell")
#: Seconds between two measurements of the processes' memory.
_LOOK = 0.2


def findings(recorded_events: int = 0) -> list[Finding]:
    """Of the size that is promised; HOOKLINE_BENCH_MOMENTS is for a quick look."""
    wanted = recorded_events or int(os.environ.get("HOOKLINE_BENCH_MOMENTS", _MOMENTS))
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as directory:
        home = Path(directory)
        written = write_history(home, wanted, max(_SESSIONS * wanted // _MOMENTS, 1))
        _configure(home)
        _write_journal(home)
        about = f"{written:,} moments, {size_of(home) / 1e6:,.0f} MB"
        share = written / _MOMENTS
        return [
            *_measured(home, "backtest", about, written, 45 * share),
            *_measured(home, "coverage", about, written, 45 * share),
        ]


def _configure(home: Path) -> None:
    """Twenty rules and five guards by meaning."""
    entries = [
        f'name = "rule {n}"\ntype = "builtin"\ncommand = "deny"\nif = "Bash({rule})"'
        for n, rule in enumerate(_RULES)
    ]
    entries += [f'name = "{guard}"\ntype = "builtin"\ncommand = "{guard}"' for guard in _GUARDS]
    file = home / ".config/hookline/hooks.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        "".join(f"[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n{each}\n\n" for each in entries)
    )


def _write_journal(home: Path, runs: int = 50_000) -> None:
    """Runs of the first sessions, so that both sides of the comparison have something to do."""
    journal = JournalFile(journal_path({"HOME": str(home)}))
    source = str(home / ".config/hookline/hooks.toml:1")
    for number in range(runs):
        session = number // 500 * 6
        called = Called(
            tool="Bash", input="git status", id=f"toolu_{session:x}_{number % 100 + 1}", caller="claude-code"
        )
        journal.append(
            Run(
                hook=_GUARDS[number % 5], source=source, event="PreToolUse", call=called, at=1793491200.0 + number,
                session=f"{session:08x}-0000-4000-8000-{session:012x}",
            )
        )  # fmt: skip
    journal.close()


def _measured(home: Path, command: str, about: str, recorded_events: int, goal: float) -> list[Finding]:
    env = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath)}
    words = [sys.executable, "-m", "hookline", command, "--since", "all", "--json"]
    started, before = time.monotonic(), _cpu()
    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        most = 0
        while process.poll() is None:
            most = max(most, _memory(process.pid))
            time.sleep(_LOOK)
        complaints = process.stderr.read().decode() if process.stderr is not None else ""
    seconds = time.monotonic() - started
    fine = process.returncode in (0, 1) and not complaints
    # Beside other programs the processor seconds are what can be compared.
    spent = _cpu() - before
    speed = f"{seconds:.1f} s ({spent:.0f} s of processors), {recorded_events / seconds:,.0f} moments/s"
    return [
        Finding(f"{command} of {about}", speed, f"<= {goal:.0f} s", fine and seconds <= goal),
        Finding(
            f"{command}: memory of all its processes", f"{most / 1e6:,.0f} MB", "<= 400 MB", most <= 400e6
        ),
    ]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(pid: int) -> int:
    """Return the private memory of a process and those it started, in bytes; 0 if the system does not report it."""
    pids: list[int] = []
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        pids.append(one)
        try:
            tasks = os.listdir(f"/proc/{one}/task")
            waiting += [
                int(child)
                for task in tasks
                for child in Path(f"/proc/{one}/task/{task}/children").read_text().split()
            ]
        except OSError:
            continue
    return sum(map(_daemon, pids))


def _daemon(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    print(*findings(), sep="\n")
