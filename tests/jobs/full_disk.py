"""Play a full disk in a new mount namespace: the state directory is a small tmpfs.

Run as `python -m tests.jobs.full_disk HOME`; it prints the results as one JSON object.
"""

import json
import subprocess
import sys
from pathlib import Path

from hookline.jobs.file import DurableFile
from hookline.jobs.port import DurableError, Job
from tests.cli.run_cli import clean_env

_HOOKS = """
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "guard"
type = "builtin"
command = "force-push"

[[hooks.PostToolUse]]
[[hooks.PostToolUse.hooks]]
name = "scan"
command = "true"
async = true
durable = true
"""


def job(number: int) -> Job:
    return Job(id=f"{number:04}", session="s", queue="code:x", body=b"x" * 4000)


def hookline(home: Path, *words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "hookline", *words],
        env=clean_env(home), cwd=home, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout + ran.stderr


def main(home: Path) -> dict[str, object]:
    config = home / ".config/hookline/hooks.toml"
    config.parent.mkdir(parents=True)
    config.write_text(_HOOKS)
    state = home / ".local/state"
    state.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(state)], check=True)
    queue = DurableFile(str(state / "hookline/jobs.sqlite"))
    accepted: list[str] = []
    seen: dict[str, object] = {}
    try:
        for number in range(1000):
            queue.submit(job(number))
            accepted.append(f"{number:04}")
    except DurableError as problem:
        seen["refused"] = str(problem)
    queue.close()
    with (state / "filler").open("wb", buffering=0) as filler:  # also the rest of the last pages
        try:
            while True:
                filler.write(b"x" * 512)
        except OSError as problem:
            seen["full"] = problem.strerror
    seen["durable"] = hookline(home, "fire", "PostToolUse", "Edit", "file_path=a")
    seen["guard"] = hookline(home, "fire", "PreToolUse", "Bash", "command=git push --force")
    seen["console"] = hookline(home, "console", "--no-open", "--port", "0")
    seen["kept"] = {known.id for known in queue.jobs()} >= set(accepted)
    subprocess.run(["mount", "-o", "remount,size=8m", str(state)], check=True)
    seen["room"] = queue.submit(job(5000))
    seen["lost"] = sorted({*accepted, "5000"} - {known.id for known in queue.jobs()})
    seen["accepted"] = len(accepted)
    queue.close()
    return seen


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
