"""The page about telemetry shows what a collector gets."""

import os
import re
import subprocess
import sys
from pathlib import Path

from hookline.telemetry.vocabulary import AT_BEGINNING, AT_END, METRICS, OF_HOOK
from tests.docs.pages import same_output
from tests.waiting import wait_until
from tests.warm_process import run_warm

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_example_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/telemetry.md").read_text()
    guard = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    shown = re.search(r"```text\n(span .*?)```", page, re.DOTALL)
    assert guard is not None
    assert shown is not None
    (tmp_path / "guards.toml").write_text(guard[1])
    printed = tmp_path / "printed"
    with (
        printed.open("w") as out,
        subprocess.Popen(
            [sys.executable, ROOT / "examples/collector.py", "0"], stdout=out, stderr=out
        ) as collector,
    ):
        try:
            wait_until(lambda: "listening on" in printed.read_text())
            env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
            env["OTEL_EXPORTER_OTLP_ENDPOINT"] = printed.read_text().split()[2]
            line = ["fire", "PreToolUse", "Bash", "command=git push --force", "--config", "guards.toml"]
            run_warm(line, cwd=tmp_path, env=env)
        finally:
            collector.kill()
    # Durations and ids are not the same each time.
    varies = re.compile(r"\b[0-9a-f]{16}\b|\d+\.\d|\d{10,}")
    expected, found = (varies.sub("?", text) for text in (shown[1], printed.read_text().partition("\n")[2]))
    assert same_output(found, expected.rstrip("\n")), found


def test_every_foreign_name_is_on_the_page_about_conventions_and_no_other_is_used_there() -> None:
    page = (ROOT / "docs/reference/telemetry-conventions.md").read_text()
    ours = {each.name for each in (*AT_BEGINNING, *AT_END, *OF_HOOK, *METRICS)}
    used = page.split("## Open proposals")[0]
    listed = {
        name
        for line in used.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([a-z_.]+)`", line.split("|")[1])
    }
    resource = {"host.name", "service.name", "service.version"}
    assert listed - resource == {name for name in ours if not name.startswith("hookline.")}
    answers = page.split("| we have |")[1]
    assert set(re.findall(r"`(hookline\.[a-z_.]+)`", answers)) <= ours
