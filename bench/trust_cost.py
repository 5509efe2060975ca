"""Measure trust: 100 hooks with a script each, against reading and hashing the scripts, and against stat.

In processor time: beside other programs, the longer of two short things is interrupted more often.
"""

import os
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from bench.ratios import Timed, ratio
from hookline import Engine
from hookline.documents.document import read_document
from hookline.model.session_info import SessionInfo
from hookline.trust.trust import Trust, TrustOptions

_HOOKS = 100
#: About as long as a guard that people write.
_SCRIPT = "#!/bin/sh\n" + "# what this guard is about, and why\n" * 60 + "exit 0\n"


class _Trusted:
    """A project whose hooks are all trusted."""

    def __init__(self, directory: Path) -> None:
        home, self.project = directory / "home", directory / "project"
        (self.project / ".hookline").mkdir(parents=True)
        home.mkdir()
        self.env = {"HOME": str(home)}
        self.scripts = [self.project / f"guard{number}.sh" for number in range(_HOOKS)]
        for number, script in enumerate(self.scripts):
            script.write_text(f"{_SCRIPT}# {number}\n")
        self.file = self.project / ".hookline" / "hooks.toml"
        entries = (f'[[hooks.PreToolUse.hooks]]\ncommand = "sh ./{script.name}"\n' for script in self.scripts)
        self.file.write_text("[[hooks.PreToolUse]]\n" + "".join(entries))
        # Times of change that are too recent say nothing about later changes.
        time.sleep(0.1)
        loaded = Engine().loader.directory(str(self.project), ["native"])
        self.hooks = [hook for hook in loaded.hooks if hook.where.file == str(self.file)]
        self.document = read_document(self.file.read_text(), "toml", str(self.file))
        self.info = SessionInfo(cwd=str(self.project))
        trust = self.trust()
        trust.accept([trust.item(hook) for hook in self.hooks])

    def trust(self) -> Trust:
        trust = Trust(str(self.project), self.env, TrustOptions())
        trust.register(self.document, self.hooks)
        return trust

    def check(self, trust: Trust) -> None:
        for hook in self.hooks:
            if not trust.admit(hook, self.info).admitted:
                raise RuntimeError(f"{hook.name} is not trusted")


@contextmanager
def _trusted() -> Generator[_Trusted]:
    with tempfile.TemporaryDirectory() as directory:
        yield _Trusted(Path(os.path.realpath(directory)))


def _cpu(work: Callable[[], object], times: int = 1) -> Timed:
    async def timed() -> float:
        started = time.process_time()
        for _ in range(times):
            work()
        return time.process_time() - started

    return timed


async def cold() -> float:
    with _trusted() as given:

        async def ours() -> float:
            trust = given.trust()
            return await _cpu(lambda: given.check(trust))()

        def read() -> None:
            for script in given.scripts:
                with open(script, "rb") as stream:
                    sha256(stream.read()).hexdigest()

        return await ratio(ours, _cpu(read), 31)


async def warm() -> float:
    with _trusted() as given:
        trust = given.trust()
        given.check(trust)
        ours = _cpu(lambda: given.check(trust), 20)
        return await ratio(ours, _cpu(lambda: [os.stat(script) for script in given.scripts], 20), 31)
