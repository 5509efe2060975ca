"""Test a disk that is really full: accepted jobs stay, refused ones are reported, and guards decide."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
_ROOT = Path(__file__).parents[2]


def _has_namespaces() -> bool:
    try:
        ran = subprocess.run(
            [*_NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
        )
    except OSError:
        return False
    return ran.returncode == 0


@pytest.mark.skipif(
    not _has_namespaces(), reason="there are no namespaces of one's own here, to mount a small disk in"
)
def test_a_full_disk_loses_nothing_that_was_accepted_and_is_said_by_everything(tmp_path: Path) -> None:
    ran = subprocess.run(
        [*_NAMESPACE, sys.executable, "-m", "tests.jobs.full_disk", str(tmp_path)],
        cwd=_ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout)
    assert "database or disk is full: free some space on its disk" in seen["refused"]
    status, text = seen["durable"]
    assert status == 0
    assert "jobs.sqlite cannot be used: database or disk is full" in text
    assert "journal off: No space left on device" in text
    status, text = seen["guard"]
    assert status == 2, "guards decide as before"
    assert "journal off: No space left on device" in text
    status, text = seen["console"]
    assert status == 1
    assert "console cannot be written: No space left on device: free some space" in text
    assert seen["accepted"] > 10
    assert (seen["kept"], seen["room"], seen["lost"]) == (True, True, [])
