"""Test where sessions are stored, and how one is found again."""

import os
import stat
import uuid
from pathlib import Path

import pytest

from hookline.agent.transcript.records import NoteRecord, SessionFacts
from hookline.agent.transcript.store import SessionsStore, new_session_id, opening, project_slug
from hookline.agent.transcript.writer import TranscriptError, TranscriptWriter
from hookline.model.messages import User


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "my project"
    (directory / ".git").mkdir(parents=True)
    (directory / "src").mkdir()
    return directory


def store_of(tmp_path: Path, cwd: Path) -> SessionsStore:
    return SessionsStore({"HOME": str(tmp_path / "home")}, str(cwd))


def add(store: SessionsStore, session_id: str, changed: float, cwd: str = "/x") -> None:
    transcript = TranscriptWriter.create(
        store.directory, session_id, SessionFacts(cwd=cwd, model="m", started=7.0)
    )
    transcript.message(User(text="from a hook", by="h"))
    transcript.message(User(text="hello there"))
    transcript.close()
    os.utime(transcript.path, (changed, changed))


def test_ids_are_random_uuids() -> None:
    ids = {new_session_id() for _ in range(100)}
    assert len(ids) == 100
    for each in ids:
        assert (str(uuid.UUID(each)), uuid.UUID(each).version) == (each, 4)


def test_a_project_has_one_directory_wherever_in_it_one_stands(tmp_path: Path, project: Path) -> None:
    store = store_of(tmp_path, project)
    assert store.directory == store_of(tmp_path, project / "src").directory
    assert store.directory.startswith(str(tmp_path / "home/.local/state/hookline/sessions"))
    add(store, "one", 1.0)
    assert stat.S_IMODE(os.stat(store.directory).st_mode) == 0o700
    assert store.path("one") == store.sessions()[0].path


def test_no_two_projects_share_a_directory(tmp_path: Path) -> None:
    paths = [tmp_path / "a-b", tmp_path / "a" / "b", tmp_path / "a b", tmp_path / ("x" * 200), tmp_path / "é"]
    slugs = {project_slug(str(path)) for path in [*paths, "/"]}
    assert len(slugs) == 6
    assert all(len(slug) < 100 and slug.replace("-", "").isalnum() and slug.isascii() for slug in slugs)


def test_sessions_are_listed_newest_first_and_the_last_one_is_the_first(
    tmp_path: Path, project: Path
) -> None:
    store = store_of(tmp_path, project)
    with pytest.raises(TranscriptError, match="this project has no earlier session"):
        store.last()
    for session_id, changed in (("old", 10.0), ("new", 30.0), ("middle", 20.0)):
        add(store, session_id, changed)
    Path(store.directory, "note.txt").touch()
    Path(store.directory, "dir.jsonl").mkdir()
    Path(store.directory, "link.jsonl").symlink_to(store.path("old"))
    assert [each.id for each in store.sessions()] == ["new", "middle", "old"]
    assert store.last().id == "new"


def test_a_session_in_which_nobody_spoke_is_not_the_last_one(tmp_path: Path, project: Path) -> None:
    store = store_of(tmp_path, project)
    TranscriptWriter.create(store.directory, "silent", SessionFacts(cwd="/x")).close()
    with pytest.raises(TranscriptError, match="no earlier session"):
        store.last()
    long = TranscriptWriter.create(store.directory, "long", SessionFacts(cwd="/x"))
    long.append(NoteRecord(text="x" * 100_000))
    long.close()
    assert store.last().id == "long"
    add(store, "spoken", 1.0)
    os.utime(store.path("long"), (0.0, 0.0))
    assert (store.sessions()[0].id, store.last().id) == ("silent", "spoken")


def test_a_session_is_found_by_its_id_or_the_beginning_of_it(tmp_path: Path, project: Path) -> None:
    store = store_of(tmp_path, project)
    for session_id in ("abcd-1111", "abcd-2222", "abcd", "ffff-3333"):
        add(store, session_id, 1.0)
    assert store.find("ffff").id == store.find("ffff-3333").id == "ffff-3333"
    assert store.find("abcd").id == "abcd"
    with pytest.raises(TranscriptError, match="several sessions begin like this: abcd-1111, abcd-2222"):
        store.find("abcd-")


@pytest.mark.parametrize("wanted", ["fff", "", "../x", "/etc/passwd", "*", "\x1b[31m", "a\0b", "x" * 5000])
def test_what_is_no_id_finds_nothing_and_the_newest_are_told(
    tmp_path: Path, project: Path, wanted: str
) -> None:
    store = store_of(tmp_path, project)
    with pytest.raises(TranscriptError, match="this project has none"):
        store.find(wanted)
    for number in range(5):
        add(store, f"ffff-{number}", float(number))
    with pytest.raises(TranscriptError, match="unknown session") as caught:
        store.find(wanted)
    assert "\x1b" not in str(caught.value)
    assert "ffff-4" in str(caught.value) or "did you mean ffff-" in str(caught.value)


def test_a_mistyped_id_names_the_nearest(tmp_path: Path, project: Path) -> None:
    store = store_of(tmp_path, project)
    add(store, "deadbeef-0001", 1.0)
    with pytest.raises(TranscriptError, match=r"did you mean deadbeef-0001\?"):
        store.find("daedbeef-0001")


def test_a_session_of_another_project_says_where_it_belongs(tmp_path: Path, project: Path) -> None:
    add(store_of(tmp_path, tmp_path / "other"), "other-1", 1.0, cwd=str(tmp_path / "other"))
    with pytest.raises(
        TranscriptError, match=f"session other-1 belongs to {tmp_path}/other: resume it there"
    ):
        store_of(tmp_path, project).find("other-1")


def test_how_a_session_began_is_read_from_its_first_lines(tmp_path: Path, project: Path) -> None:
    store = store_of(tmp_path, project)
    add(store, "one", 1.0, cwd="/here")
    received = opening(store.path("one"))
    assert (received.cwd, received.model, received.started, received.prompt) == (
        "/here",
        "m",
        7.0,
        "hello there",
    )
    Path(store.path("bad")).write_bytes(b"\xff\n[[[")
    assert opening(store.path("bad")).prompt == ""
    assert opening(store.path("missing")).cwd == ""
