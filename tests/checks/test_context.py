"""Test that checks share what they find out about a hook."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from msgspec import field
from msgspec.structs import replace

from hookline.checks.registry import CHECKS
from hookline.shell import ShellReader
from hookline.shell.reader import NO_CONTENTS, ShellReading
from tests.checks.hooks import here, native

#: Its meaning in the shell, and the programs in it.
_READINGS_OF_A_LINE = 2


class CountingReader(ShellReader):
    """A reader that counts how often each line is read."""

    seen: Counter[str] = field(default_factory=Counter[str])

    def read(self, line: str, files: Mapping[str, str] = NO_CONTENTS) -> ShellReading:
        self.seen[line] += 1
        return super().read(line, files)


def test_all_checks_together_read_a_line_once_for_each_purpose(tmp_path: Path):
    script = tmp_path / "guard.sh"
    script.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    script.chmod(0o755)
    loaded = native(tmp_path, f'[[hooks.PreToolUse]]\nhooks = [{{ command = "{script} --strict" }}]\n')
    reader = CountingReader()
    context = replace(here(tmp_path), shell=reader)
    for check in CHECKS:
        assert [each for each in check.find(loaded, context) if each.severity == "error"] == []
    assert reader.seen == {f"{script} --strict": _READINGS_OF_A_LINE}
