"""Trust cannot be tampered with: nothing runs that the user has not seen, and formatting costs no question."""

import asyncio
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from tests.trust.flipper import flipped_runs, one_hook
from tests.trust.trusted_samples import (
    SAMPLES,
    SCRIPT_CHANGES,
    Document,
    Sample,
    TrustedProject,
    changes,
    toml,
)

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.dialect)
NATIVE, CLAUDE = SAMPLES[:2]


@each_sample
def test_no_changed_entry_may_start(sample: Sample, tmp_path: Path) -> None:
    """Some of the changes; `make soak` part s1 makes them all."""
    project = TrustedProject(tmp_path, sample)
    assert project.refused() == [False] * len(project.refused()) != []
    tampered = 0
    for what, document in random.Random(11).sample(list(changes(sample.document)), 40):
        project.write(document)
        strange, started = project.strangers()
        assert started == [], what
        tampered += strange > 0
    assert tampered > 5
    project.restore()
    assert not any(project.refused())


@each_sample
def test_no_changed_script_runs(sample: Sample, tmp_path: Path) -> None:
    """Neither in an engine that is at work already nor in one that starts later."""

    async def main() -> None:
        project = TrustedProject(tmp_path, sample)
        running = project.engine()
        await project.fire(running)
        good = project.ran()
        assert set(good) == {"good"}
        for what, change in SCRIPT_CHANGES.items():
            change(project)
            for engine in (running, project.engine()):
                runs = await project.fire(engine)
                assert {run.status for run in runs} == {"untrusted"}, what
                assert project.ran() == [], what
            project.restore()
        await project.fire(running)
        assert project.ran() == good
        await running.close()

    asyncio.run(main())


def test_a_link_that_leads_elsewhere_or_to_other_bytes_does_not_run(tmp_path: Path) -> None:
    project = TrustedProject(tmp_path, NATIVE)
    real = project.root / "real.sh"

    def link() -> None:
        project.restore()
        project.script.rename(real)
        project.script.symlink_to(real)

    link()
    trust, loaded = project.load()
    trust.accept([trust.item(hook) for hook in loaded.hooks])
    assert not any(project.refused())
    real.write_text(project.text("evil"))
    assert project.refused() == [True, True, False]
    link()
    assert not any(project.refused())
    project.script.unlink()
    project.script.symlink_to("../evil/guard.sh")
    assert project.refused() == [True, True, False]


@pytest.mark.parametrize(
    "sample", [each for each in SAMPLES if len(each.files) > 1], ids=lambda each: each.dialect
)
def test_the_same_entry_in_another_file_is_another_one(sample: Sample, tmp_path: Path) -> None:
    project = TrustedProject(tmp_path, sample)
    for name in sample.files[1:]:
        text = sample.render(sample.document)
        if name.endswith(".toml"):
            text = "[hooks]\nPreToolUse = [{ matcher = 'Bash', hooks = [{ command = 'sh ./tools/guard.sh' }] }]\n"
        (project.root / name).write_text(text)
        project.config.rename(tmp_path / "aside")
        assert set(project.refused()) == {True}, name
        (tmp_path / "aside").rename(project.config)
        (project.root / name).unlink()


def test_a_sealed_script_is_not_exchanged_while_it_starts(tmp_path: Path) -> None:
    """A few starts; `make soak` part s2 has hundreds, and counts those of hooks that are not sealed."""
    seen = flipped_runs(tmp_path, one_hook(required=True), 60)
    assert (seen["evil"], seen["good"] + seen["refused"]) == (0, 60)


def test_an_untrusted_file_takes_no_trust_from_the_one_beside_it(tmp_path: Path) -> None:
    project = TrustedProject(tmp_path, CLAUDE)
    evil = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "sh evil/guard.sh"}]}]}}
    (project.root / CLAUDE.files[1]).write_text(json.dumps(evil))
    assert sorted(project.refused()) == [False, False, True]


def test_of_a_key_that_is_there_twice_neither_value_slips_through(tmp_path: Path) -> None:
    for sample in (NATIVE, CLAUDE, SAMPLES[2], SAMPLES[4]):
        project = TrustedProject(tmp_path / sample.dialect, sample)
        text = project.config.read_text()
        for twice in (
            text.replace('"command": ', '"command": "sh evil/guard.sh", "command": ', 1),
            text.replace(
                '"hooks": ',
                '"hooks": {"PreToolUse": [{"hooks": [{"command": "sh evil/guard.sh"}]}]}, "hooks": ',
                1,
            ),
        ):
            assert twice != text
            project.config.write_text(twice)
            assert project.strangers()[1] == []


def test_entries_beside_trusted_ones_do_not_run_whatever_their_order(tmp_path: Path) -> None:
    project = TrustedProject(tmp_path, NATIVE)
    document: Any = json.loads(json.dumps(NATIVE.document))
    entries = document["hooks"]["PreToolUse"][0]["hooks"]
    entries.insert(0, {"command": "sh ./guard.sh", "cwd": "evil"})
    entries.reverse()
    project.write(document)

    async def main() -> None:
        engine = project.engine()
        runs = await project.fire(engine)
        assert sorted(run.status for run in runs) == ["ok", "ok", "untrusted"]
        assert project.ran() == ["good", "good"]
        await engine.close()

    asyncio.run(main())


# The store


def _store(project: TrustedProject) -> Path:
    (file,) = (project.home / ".local/state/hookline/trust").glob("*.json")
    return file


def _edited(key: str, value: Any) -> Callable[[TrustedProject], None]:
    def edit(project: TrustedProject) -> None:
        file = _store(project)
        file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))

    return edit


def _truncated(project: TrustedProject) -> None:
    os.truncate(_store(project), _store(project).stat().st_size // 2)


def _linked(project: TrustedProject) -> None:
    """To a store that the project brings along."""
    file = _store(project)
    file.rename(project.root / "store.json")
    file.symlink_to(project.root / "store.json")


def _for_another_project(project: TrustedProject) -> None:
    _store(project).rename(_store(project).with_name("0" * 40 + ".json"))


def _foreign(project: TrustedProject) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file to somebody else")
    os.chown(_store(project), 12345, 12345)


STORE_CHANGES: dict[str, tuple[Callable[[TrustedProject], Any], str]] = {
    "deleted": (lambda project: _store(project).unlink(), ""),
    "truncated": (_truncated, "it is damaged"),
    "empty": (lambda project: _store(project).write_bytes(b""), "it is damaged"),
    "garbage": (lambda project: _store(project).write_bytes(b"\xff\xfe{}"), "it is damaged"),
    "no items": (_edited("items", []), ""),
    "odd items": (_edited("items", {"all": True}), "it is damaged"),
    "of another project": (_edited("root", "/elsewhere"), "written for something else"),
    "under another name": (_for_another_project, ""),
    "of a later version": (_edited("version", 2), "written for something else"),
    "writable for others": (lambda project: _store(project).chmod(0o666), "other users can write it"),
    "in a folder others write": (
        lambda project: _store(project).parent.chmod(0o777),
        "other users can write it",
    ),
    "of another owner": (_foreign, "it belongs to another user"),
    "a link": (_linked, "is not used"),
}


@pytest.mark.parametrize("what", STORE_CHANGES)
def test_a_store_that_somebody_touched_trusts_nothing_and_says_so(what: str, tmp_path: Path) -> None:
    project = TrustedProject(tmp_path, NATIVE)
    change, said = STORE_CHANGES[what]
    change(project)
    assert project.refused() == [True, True, True]
    trust, _ = project.load()
    assert bool(trust.problems) == bool(said)
    assert all(said in line for line in trust.problems)


def test_no_variable_leads_to_a_store_of_the_projects_own(tmp_path: Path) -> None:
    project = TrustedProject(tmp_path, NATIVE)
    own = project.root / "home" / ".local"
    own.parent.mkdir()
    (project.home / ".local").rename(own)
    state = str(own / "state")
    for env in (
        {
            "HOME": str(project.home),
            "XDG_STATE_HOME": state,
            "XDG_DATA_HOME": state,
            "XDG_CONFIG_HOME": state,
        },
        {"HOME": str(own.parent)},
        {"HOME": str(project.home / ".." / "project" / "home")},
        {"HOME": "."},
        {},
    ):
        assert all(project.refused(env)), env
    own.rename(project.home / ".local")
    assert not any(project.refused())


# Edits that change nothing


def _shuffled(value: Any, rng: random.Random) -> Any:
    """Keys in another order, all the way down; entries of a list stay in theirs."""
    if isinstance(value, dict):
        pairs = list(cast("Document", value).items())
        rng.shuffle(pairs)
        return {key: _shuffled(each, rng) for key, each in pairs}
    if isinstance(value, list):
        return [_shuffled(each, rng) for each in cast("list[Any]", value)]
    return value


def _in_another_order(document: Document, rng: random.Random) -> None:
    """Entries of the same event."""
    hooks = document.get("hooks", {})
    for groups in cast("Document", hooks).values() if isinstance(hooks, dict) else ():
        for group in groups:
            if "hooks" in group:
                rng.shuffle(group["hooks"])


def _formatted(sample: Sample, document: Document, rng: random.Random) -> str:
    if sample.render is json.dumps:
        indent, ascii_only = rng.choice((None, 0, 2, "\t")), rng.random() < 0.5
        return (
            rng.choice(("", "\n", "  ")) + json.dumps(document, indent=indent, ensure_ascii=ascii_only) + "\n"
        )
    if sample.render is toml:
        lines = (
            rng.choice(("{}", "  {}  # why", "# a comment\n{}")).format(line)
            for line in toml(document).splitlines()
        )
        return "\n\n".join(lines)
    text = yaml.safe_dump(
        document, default_flow_style=rng.choice((True, False, None)), indent=rng.randint(2, 6)
    )
    return rng.choice(("", "# a comment\n", "---\n")) + text


@each_sample
def test_formatting_keeps_trust(sample: Sample, tmp_path: Path) -> None:
    project, rng = TrustedProject(tmp_path, sample), random.Random(5)
    texts: set[str] = set()
    for _ in range(12):
        document: Any = _shuffled(json.loads(json.dumps(sample.document)), rng)
        _in_another_order(document, rng)
        text = _formatted(sample, document, rng)
        if rng.random() < 0.3:
            text = text.replace("\n", "\r\n")
        project.config.write_bytes(text.encode())
        assert not any(project.refused()), text
        texts.add(text)
    assert len(texts) > 3
