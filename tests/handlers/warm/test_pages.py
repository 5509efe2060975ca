"""A process that waits for a script has its memory ready, and nothing that it has mapped is a trap."""

import mmap
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import hookline.handlers.warm
from tests.handlers.warm.warm_runs import PYTHON, WarmRuns, finished

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="warm scripts need Linux"),
    pytest.mark.skipif(not os.path.exists(PYTHON), reason=f"there is no {PYTHON}"),
]
_POPULATE_READ = 22


def _kernel_takes_pages() -> bool:
    page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        page.madvise(_POPULATE_READ)
    except OSError:
        return False
    finally:
        page.close()
    return True


def _faults(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[7])


def test_a_job_takes_almost_no_page_faults(tmp_path: Path) -> None:
    if not _kernel_takes_pages():
        pytest.skip("this kernel cannot take pages ahead")

    async def main() -> None:
        async with WarmRuns(tmp_path) as runs:
            script = runs.write(
                "import json, os, re, resource, sys\njson.loads('{}')\nre.compile('a.*b[c-z]+').match('x')\n"
                "print(os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt)"
            )
            await runs.warm(script)
            taken: list[int] = []
            while len(taken) < 3:
                before = {pid: _faults(pid) for pid in await runs.ready()}
                pid, after = map(int, (await runs.run(script)).stdout.split())
                taken += [after - before[pid]] if pid in before else []
            # Without it there are some four hundred. Under pressure the system may have taken pages back.
            assert min(taken) < 50, taken

    finished(main())


_MAPPINGS = textwrap.dedent("""
    import ctypes, mmap, resource, sys
    sys.path.insert(0, sys.argv[1])
    import pages

    P, M = mmap.PAGESIZE, 1 << 20
    PRIVATE, SHARED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
    file = open(sys.argv[2], "w+b")
    file.truncate(4 * P)
    made = {
        "file": mmap.mmap(file.fileno(), 4 * P, mmap.MAP_PRIVATE), "reserved": mmap.mmap(-1, 64 * M, PRIVATE),
        "shared": mmap.mmap(-1, 4 * M, SHARED), "small": mmap.mmap(-1, M, PRIVATE),
    }
    # Other rights keep it apart from its neighbours, which would be one mapping with it.
    libc = ctypes.CDLL(None, use_errno=True)
    where = {name: ctypes.addressof(ctypes.c_char.from_buffer(each)) for name, each in made.items()}
    libc.mprotect(ctypes.c_void_p(where["small"]), ctypes.c_size_t(M), 1)
    file.truncate(1)  # all pages but the first are behind its end now

    def size():
        return int(open("/proc/self/statm").read().split()[0]) * P

    class Noting:
        def __init__(self, real=None):
            self.taken, self.real = [], real
        def madvise(self, start, length, advice):
            self.taken.append(range(start.value or 0, (start.value or 0) + length.value))
            return self.real.madvise(start, length, advice) if self.real else -1
        def __contains__(self, name):
            return any(where[name] in each for each in self.taken)

    before = size()
    resource.setrlimit(resource.RLIMIT_AS, (before + M, before + M))
    seen = Noting(libc)
    pages.take_all(seen)
    print(*(name for name in made if name in seen), len(seen.taken) > 10)
    print(size() - before < M, sum(map(len, seen.taken)) <= pages._MOST)
    unknown = Noting()  # as on a kernel that does not know it
    pages.take_all(unknown)
    print(len(unknown.taken) > 10)
    pages._MOST, bounded = 2 * P, Noting()
    pages.take_all(bounded)
    print(sum(map(len, bounded.taken)) <= 2 * P)
""")


def test_no_mapping_is_a_trap(tmp_path: Path) -> None:
    """Behind the end of a file, reserved, shared, of the kernel; under a limit; and where the advice is not known."""
    directory = Path(hookline.handlers.warm.__file__).parent / "zygote"
    words = [PYTHON, "-c", _MAPPINGS, str(directory), str(tmp_path / "file")]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == ["file small True", "True True", "True", "True"]
