"""Run a warm script that leaves processes in every way and is killed at its deadline, as a separate process.

python -m tests.handlers.warm.killed DIRECTORY group|subreaper
"""

import sys
from pathlib import Path
from typing import Any, cast

from tests.handlers.warm.warm_runs import WarmRuns, finished

_LEAVES = """
import os, subprocess, sys, time
sleeper = ["/bin/sleep", sys.argv[1]]
subprocess.Popen(sleeper)
subprocess.Popen(sleeper, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sleeper[0], sleeper, {} if sys.argv[2] == "subreaper" else dict(os.environ))
    os._exit(0)
os.wait()
print("begun", flush=True)
time.sleep(300)
"""


async def main(directory: Path, containment: str, seconds: str) -> None:
    async with WarmRuns(directory, containment=cast("Any", containment)) as runs:
        await runs.ready()
        result = await runs.run(runs.write(_LEAVES), seconds, containment, timeout=1.0)
        print(result.cause, result.stdout.decode().strip(), result.warm)


if __name__ == "__main__":
    finished(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
