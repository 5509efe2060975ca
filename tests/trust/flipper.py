"""Exchange a script all the time, while hooks that name it start: how often do the wrong bytes run?"""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.trust.trusted_samples import SAMPLES, Sample, TrustedProject

#: Puts other bytes under the name every millisecond; says when it has begun.
_FLIPPER = """
import itertools, os, sys, time
script, *texts = sys.argv[1:]
for number, text in enumerate(itertools.cycle(texts)):
    with open(script + ".new", "w") as stream:
        stream.write(text)
    os.chmod(script + ".new", 0o755)
    os.rename(script + ".new", script)
    if number == 2:
        print("begun", flush=True)
    time.sleep(0.001)
"""


def one_hook(**fields: Any) -> Sample:
    """A native project with one hook, which runs the script."""
    entry = {"command": "sh ./tools/guard.sh", "timeout": 60, **fields}
    document = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}
    return Sample("native", SAMPLES[0].files[:1], document, SAMPLES[0].render)


def flipped_runs(directory: Path, sample: Sample, count: int) -> Counter[str]:
    """So many runs of the hook: how often the trusted bytes ran, others did, and it was refused."""
    project = TrustedProject(directory, sample)

    async def main() -> Counter[str]:
        engine, statuses = project.engine(), Counter[str]()
        with _flipping(project):
            for _ in range(count):
                statuses.update(run.status for run in await project.fire(engine))
        await engine.close()
        return statuses

    refused = asyncio.run(main())["untrusted"]
    return Counter(project.ran()) + Counter(refused=refused)


@contextmanager
def _flipping(project: TrustedProject) -> Generator[None]:
    words = [sys.executable, "-c", _FLIPPER, str(project.script), project.text(), project.text("evil")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as flipper:
        try:
            assert flipper.stdout is not None
            assert flipper.stdout.readline() == b"begun\n"
            yield
        finally:
            flipper.kill()
