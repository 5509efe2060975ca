"""Doctor against mistakes as people make them, and against sound entries of every agent."""

from pathlib import Path

import pytest

from hookline.cli.commands.doctor.report import as_document
from hookline.cli.commands.doctor.run import examine
from hookline.cli.commands.doctor.run import run as run_doctor
from tests.agents import WITH_FILES
from tests.checks.corpus import Case, read_corpus
from tests.cli.doctor_case import DoctorCase, parsed

MISTAKES, SOUND = list(read_corpus("mistakes")), list(read_corpus("sound"))
#: Programs that the cases name; the machine that runs the tests need not have them.
PROGRAMS = (
    "bash", "biome", "black", "cargo", "cat", "curl", "date", "echo", "env", "eslint", "gitleaks", "gofmt", "head",
    "jq", "make", "node", "notify-send", "npm", "npx", "osascript", "pnpm", "prettier", "python3", "ruff", "sh",
    "shellcheck", "tail", "tee", "timeout", "true", "uv", "uvx", "xargs", "grep", "git", "cut", "sed", "bun", "deno",
)  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bin")
    for name in PROGRAMS:
        (directory / name).write_text("#!/bin/sh\n")
        (directory / name).chmod(0o755)
    return directory


@pytest.fixture
def case(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    return DoctorCase(tmp_path, monkeypatch, str(programs))


def found(case: DoctorCase) -> list[tuple[str, str]]:
    """Errors and warnings, with their kinds."""
    document = as_document(examine(parsed(["--cwd", str(case.project)])))
    return [(one.severity, one.code) for one in document.problems if one.severity != "note"]


@pytest.mark.parametrize("one", MISTAKES, ids=lambda one: one.what)
def test_a_mistake_is_found_and_mended_where_that_is_certain(
    one: Case, case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    one.write_to(case.home, case.project)
    before = found(case)
    assert one.code in [code for _, code in before]
    words = ["--cwd", str(case.project)] if not _of_user(one) else []
    run_doctor(parsed([*words, "--fix", "--yes"]))
    capsys.readouterr()
    after = found(case)
    assert (one.code not in [code for _, code in after]) == one.mended
    # None is worse: nothing is wrong now that was not before, but hooks that are read now may need their agent's trust.
    new = [each for each in after if each not in before]
    assert [each for each in new if each[1] not in ("not-trusted", "unlisted-project")] == []


def _of_user(one: Case) -> bool:
    return any(name.startswith("~/") for name, _, _ in one.files)


@pytest.mark.parametrize("one", SOUND, ids=lambda one: one.what)
def test_a_sound_entry_alarms_nobody(one: Case, case: DoctorCase, capsys: pytest.CaptureFixture[str]) -> None:
    one.write_to(case.home, case.project)
    assert found(case) == []
    assert run_doctor(parsed(["--cwd", str(case.project)])) == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out


def test_the_corpus_is_large_and_of_every_agent() -> None:
    assert len(MISTAKES) >= 100
    assert sum(one.mended for one in MISTAKES) >= 40
    assert len(SOUND) >= 85
    titles = {one.what.partition(":")[0] for one in SOUND}
    assert titles >= set(WITH_FILES)
