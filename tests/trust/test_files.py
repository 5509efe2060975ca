"""Test which files of a command are covered by trust, and when a change of one is noticed."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hookline.handlers.specs import CommandSpec
from hookline.trust.command_paths import CommandPaths, as_line
from hookline.trust.files import MOST_BYTES, FileFinder, FileSnapshot, sealed_files

ODD = ("~/guard.sh", "$PROJECT/odd.sh", "{a,b}.sh", 'a"b.sh', "a'b.sh", r"a\b.sh", "a'\"b.sh", "-odd.sh")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("guard.sh", "my guard.sh", "rules.toml", "scripts/deep.sh", *ODD):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"content of {name}")
    (tmp_path / "link.sh").symlink_to("guard.sh")
    return tmp_path


def look(root: Path, *lines: str, finder: FileFinder | None = None) -> FileSnapshot:
    variables = {"PROJECT": str(root), "HOME": str(root / "home"), "PWD": str(root)}
    places = CommandPaths(str(root), str(root / "home"), variables)
    finder = finder or FileFinder(str(root))
    found = finder.snapshot(lines, places)
    quick = finder.snapshot_words(lines[0], str(root)) if len(lines) == 1 else None
    assert quick is None or (quick.files, quick.seen) == (found.files, found.seen)
    return found


def names(root: Path, found: FileSnapshot) -> list[str]:
    return [os.path.relpath(file.path, root) for file in found.files]


@pytest.mark.parametrize(
    ("lines", "covered"),
    [
        (["./guard.sh"], ["guard.sh"]),
        (["sh guard.sh --rules=rules.toml"], ["guard.sh", "rules.toml"]),
        # A part of a quoted name may be a name itself, as in `bash -c`.
        (["'my guard.sh'"], ["guard.sh", "my guard.sh"]),
        (['"$PROJECT/my guard.sh"'], ["guard.sh", "my guard.sh"]),
        (['"$PROJECT"/guard.sh'], ["guard.sh"]),
        (["${PROJECT}/guard.sh"], ["guard.sh"]),
        (["bash -c './guard.sh && true'"], ["guard.sh"]),
        (["cd scripts && ./deep.sh"], ["scripts/deep.sh"]),
        (["cat<rules.toml|sh guard.sh;true"], ["guard.sh", "rules.toml"]),
        (["RULES=rules.toml true"], ["rules.toml"]),
        (["x/../guard.sh"], ["guard.sh"]),
        (["python3", "guard.sh"], ["guard.sh"]),
        (["link.sh"], ["guard.sh"]),
        # In quotes, or without a shell, these are names like any other.
        (["sh '~/guard.sh'"], ["~/guard.sh"]),
        (["sh '$PROJECT/odd.sh'"], ["$PROJECT/odd.sh"]),
        (['"{a,b}.sh"'], ["{a,b}.sh"]),
        (["gu\\ard.sh"], ["guard.sh"]),
        (["$UNKNOWN/guard.sh"], ["guard.sh"]),
        (['"$(git rev-parse --show-toplevel)"/guard.sh'], ["guard.sh"]),
        (["`pwd`/guard.sh"], ["guard.sh"]),
        (['"${PROJECT:-.}/guard.sh"'], ["guard.sh"]),
        (["${UNKNOWN:-scripts}/deep.sh"], ["scripts/deep.sh"]),
        (["DIR=scripts; sh $DIR/deep.sh"], ["scripts/deep.sh"]),
        (["PATH=./scripts:$PATH deep.sh"], ["scripts/deep.sh"]),
        (["my\\ guard.sh"], ["guard.sh", "my guard.sh"]),
        (["\"$PROJECT\"/'my guard.sh'"], ["guard.sh", "my guard.sh"]),
        ([as_line(["sh", "my guard.sh"])], ["guard.sh", "my guard.sh"]),
        *(([as_line(["sh", name])], [name]) for name in ODD),
        (["~+/guard.sh"], ["guard.sh"]),
        (["/proc/self/cwd/guard.sh"], ["guard.sh"]),
        (["./{guard,other}.sh"], ["guard.sh"]),
        (["sh ./scripts/*.sh"], ["scripts/deep.sh"]),
        (["for f in scripts/*.sh; do sh $f; done"], ["scripts/deep.sh"]),
        (["node -r./guard.sh x.js"], ["guard.sh"]),
        (["docker run -v ./guard.sh:/guard image"], ["guard.sh"]),
        ([r".\scripts\deep.sh"], ["scripts/deep.sh"]),
        ([r"& $env:PROJECT\guard.sh"], ["guard.sh"]),
        (["& ${env:PROJECT}/guard.sh"], ["guard.sh"]),
        (["curl -d @rules.toml localhost"], ["rules.toml"]),
        (['true > "$(sh guard.sh)"'], ["guard.sh"]),
        # What a program works on changes all the time.
        (["eslint scripts/*.sh"], []),
        (["case $1 in scripts/*) exit 2;; esac"], []),
        (["scripts"], []),
        (["/bin/sh -c true"], []),
        (["--guard.sh"], []),
        # What looks like an option may be a name all the same.
        (["sh < -odd.sh"], ["-odd.sh"]),
        (["sh -- -odd.sh"], ["-odd.sh"]),
    ],
)
def test_every_file_that_a_command_names_is_covered(
    root: Path, lines: Sequence[str], covered: list[str]
) -> None:
    assert names(root, look(root, *lines)) == covered


@pytest.mark.parametrize(
    ("line", "covered"),
    [
        ("./guard.sh > rules.toml", ["guard.sh"]),
        ("./guard.sh 2>>'my guard.sh' >&2", ["guard.sh"]),
        ("./guard.sh > rules.toml && cat rules.toml", ["guard.sh", "rules.toml"]),
        ('echo ">" ./guard.sh "x"', ["guard.sh"]),
        ("echo \\> ./guard.sh", ["guard.sh"]),
        ("true <> rules.toml", ["rules.toml"]),
    ],
)
def test_what_a_line_only_writes_is_not_covered(root: Path, line: str, covered: list[str]) -> None:
    assert names(root, look(root, line)) == covered


@pytest.mark.parametrize("second_line", [[], [""]], ids=["plain", "full"])
def test_what_a_hook_writes_is_not_covered(
    root: Path, tmp_path_factory: pytest.TempPathFactory, second_line: list[str]
) -> None:
    """A hook that keeps a log would make itself untrusted with its first run."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for file in (
        root / "audit.log",
        root / "run.jsonl",
        root / "run.log",
        elsewhere / "mark",
        elsewhere / "tool.py",
    ):
        file.write_text(file.name)
    (root / "run.log").chmod(0o755)
    (elsewhere / "tool").write_text("x")
    (elsewhere / "tool").chmod(0o755)
    line = f"guard.sh audit.log run.jsonl run.log {elsewhere}/mark {elsewhere}/tool.py {elsewhere}/tool"
    found = [Path(file.path).name for file in look(root, line, *second_line).files]
    assert sorted(found) == ["guard.sh", "run.log", "tool", "tool.py"]


def test_what_cannot_be_read_has_a_reason_instead_of_a_digest(root: Path) -> None:
    os.mkfifo(root / "pipe.sh")
    (root / "large.sh").touch()
    os.truncate(root / "large.sh", MOST_BYTES + 1)
    found = look(root, "./pipe.sh ./large.sh")
    assert [file.digest for file in found.files] == ["(not covered: larger than 5 MB)", "(not a file)"]


def settled(root: Path) -> None:
    """As if everything had been written long ago."""
    deadline = time.monotonic() + 30
    while not look(root, "./guard.sh rules.toml scripts/deep.sh").settled:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "change", ["content", "same size", "replaced", "link", "added", "removed", "directory"]
)
def test_a_look_holds_until_something_changes(root: Path, change: str) -> None:
    line = "sh ./guard.sh link.sh later.sh"
    settled(root)
    before = look(root, line)
    assert before.holds()
    guard = root / "guard.sh"
    content, status = guard.read_text(), guard.stat()
    match change:
        case "content":
            guard.write_text(content + "more")
        case "same size":
            guard.write_text(content.swapcase())
            os.utime(guard, ns=(status.st_atime_ns, status.st_mtime_ns))
        case "replaced":
            (root / "new").write_text(content.swapcase())
            os.replace(root / "new", guard)
        case "link":
            (root / "link.sh").unlink()
            (root / "link.sh").symlink_to("rules.toml")
        case "added":
            (root / "later.sh").write_text("x")
        case "removed":
            guard.unlink()
        case _:
            guard.unlink()
            guard.mkdir()
    assert not before.holds()
    assert look(root, line).files != before.files


def test_a_linked_directory_that_leads_elsewhere_is_noticed(root: Path) -> None:
    (root / "other").mkdir()
    (root / "other" / "deep.sh").write_text("evil")
    (root / "hooks").symlink_to("scripts")
    finder = FileFinder(str(root))
    settled(root)
    before = look(root, "./hooks/deep.sh", finder=finder)
    (root / "hooks").unlink()
    (root / "hooks").symlink_to("other")
    assert not before.holds()
    after = look(root, "./hooks/deep.sh", finder=finder)
    assert [file.digest for file in after.files] != [file.digest for file in before.files]


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        (CommandSpec("./guard.sh x"), {"./guard.sh"}),
        (CommandSpec('"$PROJECT"/guard.sh'), {'"$PROJECT"/guard.sh'}),
        (CommandSpec('"$PROJECT/my guard.sh" x'), {'"$PROJECT/my guard.sh"', "guard.sh"}),
        (CommandSpec("sh ./guard.sh; cat ./guard.sh.bak"), {"./guard.sh"}),
        (CommandSpec("sh", args=("./guard.sh", "x")), {"./guard.sh"}),
        (CommandSpec("sh guard.sh --rules=rules.toml"), {"guard.sh", "rules.toml"}),
    ],
)
def test_sealed_copies_replace_the_texts_that_name_the_files(
    root: Path, spec: CommandSpec, texts: set[str]
) -> None:
    files = look(root, spec.command, *(spec.args or ())).files
    sealed = sealed_files(spec, files, None)
    assert not isinstance(sealed, str)
    assert set(sealed) == texts
    assert list(sealed) == sorted(
        sealed, key=len, reverse=True
    )  # so that a part of a name is not replaced first
    assert all(content.startswith(b"content of ") for content in sealed.values())


def test_a_file_that_was_not_trusted_is_not_sealed(root: Path) -> None:
    spec = CommandSpec("./guard.sh")
    files = look(root, spec.command).files
    (root / "guard.sh").write_text("evil")
    refused = sealed_files(spec, files, {file.text: file.digest for file in files})
    assert isinstance(refused, str)
    assert "not the file that was trusted" in refused


def test_files_that_fit_a_pattern_later_are_noticed(root: Path) -> None:
    settled(root)
    before = look(root, "sh scripts/*.sh")
    (root / "scripts/new.sh").write_text("evil")
    assert not before.holds()
    assert names(root, look(root, "sh scripts/*.sh")) == ["scripts/deep.sh", "scripts/new.sh"]


@pytest.mark.parametrize(
    "line",
    [
        " ".join(f"w{number}" for number in range(20_000)),
        "".join(f"; x{number}/*" for number in range(20_000)),
    ],
)
def test_a_command_with_too_many_words_is_not_covered_and_says_so(root: Path, line: str) -> None:
    found = look(root, line)
    assert [file.digest for file in found.files] == ["(not covered: the command has too many words)"]
    assert len(found.seen) <= 2000


@pytest.mark.parametrize(
    "line", ["${" + "a" * 100_000, "{" + "," * 4000, "$(" * 50_000, "'\"" * 50_000, ">a" * 50_000]
)
def test_a_strange_line_is_looked_at_in_bounded_time(root: Path, line: str) -> None:
    started = time.process_time()
    look(root, line)
    assert time.process_time() - started < 10


def test_half_a_character_names_no_file(root: Path) -> None:
    assert names(root, look(root, "./guard.sh \ud800")) == ["guard.sh"]


def test_another_trusted_file_is_not_sealed_in_the_place_of_a_script(root: Path) -> None:
    spec = CommandSpec("sh guard.sh rules.toml")
    files = look(root, spec.command).files
    (root / "guard.sh").write_text((root / "rules.toml").read_text())
    assert isinstance(sealed_files(spec, files, {file.text: file.digest for file in files}), str)


@pytest.mark.parametrize(
    "line",
    [
        "./guard.sh", "sh guard.sh rules.toml", "guard.sh guard.sh ./guard.sh", "link.sh", "scripts deep.sh",
        "/bin/sh guard.sh", "./missing.sh guard.sh", "-x guard.sh --y", "scripts/deep.sh rules.toml guard.sh",
        "/etc/passwd",
    ],
)  # fmt: skip
def test_a_line_of_plain_words_is_looked_at_quickly_and_with_the_same_result(root: Path, line: str) -> None:
    # With a second line, even an empty one, nothing is taken for plain.
    quick, full = look(root, line), look(root, line, "")
    assert quick.files == full.files
    assert dict(quick.seen) == dict(full.seen)
    assert quick.directories == full.directories
