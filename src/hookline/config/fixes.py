"""Mend configuration files and scripts, keep what they were, and restore it.

A change is written like an installation: all files or none, each with a backup. The last changes are recorded
below the user's home directory, so that they can be undone in reverse order.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from hookline.config.install.files import Snapshot, refuse_unwritable, snapshot
from hookline.config.install.records import FileWrite, InstallRecords, digest
from hookline.dialects.installer import InstallError
from hookline.documents.document import format_of
from hookline.documents.repair import repaired
from hookline.model.diagnostics import Diagnostic
from hookline.trust.store import check_owner, replace_file

#: Below the home directory, beside the records of installations. Not by XDG_STATE_HOME, which a project could set.
_FILE = (".local", "state", "hookline", "fixed.json")
_MOST_KEPT = 20
#: A change reads the whole file, and a person is to read the difference.
_LARGEST = 300_000
_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


class PlannedFix(Struct, frozen=True):
    """One file, before and after its repairs."""

    before: Snapshot
    #: None: only its mode changes.
    after: bytes | None
    #: The findings that it mends.
    findings: tuple[Diagnostic, ...]

    @property
    def file(self) -> str:
        return self.before.file


class _Fixed(Struct, frozen=True):
    """A file that was mended."""

    file: str
    before: bytes
    mode: int
    #: Digest of the content that was written.
    written: str


class _Change(Struct, frozen=True):
    at: str
    files: tuple[_Fixed, ...]


def plan_fixes(findings: Iterable[Diagnostic], project: str) -> tuple[list[PlannedFix], list[str]]:
    """Return the files to change, and why others cannot be. Nothing of a project may lead out of it."""
    by_file: dict[str, list[Diagnostic]] = {}
    for one in findings:
        if one.repair is not None:
            by_file.setdefault(one.repair.file or one.where.file, []).append(one)
    planned: list[PlannedFix] = []
    problems: list[str] = []
    for file, several in by_file.items():
        try:
            found = _planned(file, several, project)
        except InstallError as problem:
            problems.append(str(problem))
            continue
        if found is not None:
            planned.append(found)
    return planned, problems


def _planned(file: str, findings: Sequence[Diagnostic], project: str) -> PlannedFix | None:
    of_project = any(f"{one.where.file}/".startswith(f"{project.rstrip('/')}/") for one in findings)
    before = snapshot(file, project if of_project else None)
    if before.content is None:
        return None
    refuse_unwritable(before)
    if len(before.content) > _LARGEST:
        raise InstallError(f"{file} is larger than {_LARGEST:,} bytes: mend it yourself")
    repairs = [one.repair for one in findings if one.repair is not None]
    if any(each.how == "line-ends" for each in repairs):
        return PlannedFix(before, before.content.replace(b"\r\n", b"\n"), tuple(findings))
    if any(each.how == "executable" for each in repairs):
        return PlannedFix(before, None, tuple(findings))
    form, text = format_of(file) or "json", before.text or ""
    after, done = repaired(text, form, repairs)
    mended = tuple(one for one in findings if one.repair in done)
    return PlannedFix(before, after.encode(), mended) if mended else None


class Fixes:
    """The changes of one user."""

    def __init__(self, home: str) -> None:
        self._records = InstallRecords(home)
        self._file = os.path.join(os.path.realpath(home), *_FILE) if os.path.isabs(home) else ""

    def carry_out(self, planned: Sequence[PlannedFix]) -> list[str]:
        """Write the files, all or none; return the paths of the backups. Raises InstallError."""
        with self._records.locked():
            known = self._read()
            kept = tuple(
                _Fixed(
                    each.file,
                    each.before.content or b"",
                    stat.S_IMODE(os.stat(each.before.real).st_mode),
                    digest(each.before.content if each.after is None else each.after),
                )
                for each in planned
            )
            at = datetime.now(UTC).isoformat(timespec="seconds")
            self._write([*known, _Change(at, kept)][-_MOST_KEPT:])
            try:
                backups = self._records.carry_out(
                    [self._as_write(each.before, each.after) for each in planned if each.after is not None]
                )
            except BaseException:
                self._write(known)
                raise
            for each in planned:
                if each.after is None:
                    os.chmod(each.before.real, os.stat(each.before.real).st_mode | _EXECUTABLE)
        return backups

    def undo(self) -> tuple[list[str], list[str]]:
        """Restore the files of the last change; return them, and why others were left. Raises InstallError."""
        with self._records.locked():
            known = self._read()
            if not known:
                raise InstallError("there is nothing to undo: doctor --fix has changed no file")
            restored: list[str] = []
            problems: list[str] = []
            for each in known[-1].files:
                problem = self._restored(each)
                if problem is None:
                    restored.append(each.file)
                else:
                    problems.append(problem)
            self._write(known[:-1])
        return restored, problems

    def _restored(self, each: _Fixed) -> str | None:
        try:
            now = snapshot(each.file)
            if digest(now.content) != each.written:
                return f"{each.file} was left alone: it has changed since"
            if now.content != each.before:
                self._records.carry_out([self._as_write(now, each.before)])
            os.chmod(now.real, each.mode)
        except InstallError as problem:
            return str(problem)
        return None

    def _as_write(self, before: Snapshot, after: bytes) -> FileWrite:
        # The record of an installation in this file stays: uninstalling still removes its entries.
        return FileWrite(before.file, before.real, before.content, after, self._records.read(before.file))

    def _read(self) -> list[_Change]:
        try:
            check_owner(os.lstat(self._file), stat.S_ISREG)
            with open(self._file, "rb") as stream:
                return msgspec.json.decode(stream.read(), type=list[_Change])
        except (OSError, msgspec.DecodeError):
            return []

    def _write(self, changes: Sequence[_Change]) -> None:
        try:
            replace_file(self._file, msgspec.json.encode(changes), durable=True)
        except OSError as problem:
            raise InstallError(f"{self._file} cannot be written: {problem.strerror or problem}") from None
