"""`make test-console`: the console and the report of backtests in a real browser.

Without a browser it says so, and what needs one is skipped. The screenshots go to .console.
"""

import os
import shutil
import subprocess
import sys

from tools.browser import FOLDER, ROOT, browser_environment


def main() -> int:
    found = browser_environment()
    if found is None:
        print("test-console: SKIPPED: the pages were not looked at in a browser", flush=True)
        return 0
    shots = FOLDER / "screenshots"
    shutil.rmtree(shots, ignore_errors=True)
    shots.mkdir(parents=True)
    env = os.environ | found | {"HOOKLINE_SCREENSHOTS": str(shots)}
    words = [
        "-m",
        "pytest",
        "-p",
        "no:randomly",
        "-q",
        "--timeout",
        "600",
        "-s",
        "tests/team/console/browser",
    ]
    status = subprocess.run(
        [sys.executable, *words, *sys.argv[1:]], cwd=ROOT, env=env, check=False
    ).returncode
    print(f"test-console: screenshots are in {shots.relative_to(ROOT)}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
