"""Write findings for the programs of CI: SARIF, annotations of GitHub, JUnit."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from hookline import __version__
from hookline.cli.commands.doctor.report import Findings
from hookline.cli.text import json_lines
from hookline.model.diagnostics import Diagnostic, Severity

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_PAGE: Final = "docs/how-to/check-your-hooks.md"
_LEVELS: Final[Mapping[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}


def as_sarif(findings: Findings, *, strict: bool) -> str:
    """Write SARIF 2.1.0, as code scanning reads it."""
    del strict
    codes = {one.code: one for one in reversed(findings.problems)}
    driver = {
        "name": "hookline doctor",
        "version": __version__,
        "rules": [_sarif_rule(findings, one) for one in reversed(codes.values())],
    }
    results = [_sarif_result(findings, one) for one in findings.problems]
    runs = [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}]
    return json_lines({"$schema": _SCHEMA, "version": "2.1.0", "runs": runs})


def _sarif_rule(findings: Findings, one: Diagnostic) -> dict[str, Any]:
    """Write the rule of a finding. Code scanning requires its descriptions; the message is an example of it."""
    texts = {
        "shortDescription": one.code.replace("-", " "),
        "fullDescription": findings.clean(one.message),
        "help": f"see {_PAGE} of Hookline",
    }
    return {"id": one.code, **{name: {"text": text} for name, text in texts.items()}}


def _sarif_result(findings: Findings, one: Diagnostic) -> dict[str, Any]:
    file, inside = _relative(findings, one)
    artifact = (
        {"uri": quote(file), "uriBaseId": "%SRCROOT%"}
        if inside
        else {"uri": Path(os.path.abspath(one.where.file)).as_uri()}
    )
    return {
        "ruleId": one.code,
        "level": _LEVELS[one.severity],
        "message": {"text": _said(findings, one)},
        "locations": [
            {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": one.where.line or 1}}}
        ],
        "partialFingerprints": {"hooklineFinding/v1": findings.finding(one)},
    }


def as_github(findings: Findings, *, strict: bool) -> str:
    """Write one command of a GitHub workflow for each error and warning, and the line that sums up."""
    del strict
    shown = (one for one in findings.problems if one.severity != "info")
    return "\n".join([*(_annotation(findings, one) for one in shown), findings.summary()])


def _annotation(findings: Findings, one: Diagnostic) -> str:
    file, _ = _relative(findings, one)
    properties = {"file": file, "line": str(one.where.line or 1), "title": findings.finding(one)}
    given = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{one.severity} {given}::{_escaped(_said(findings, one))}"


def _escaped(text: str, more: str = "") -> str:
    """Escape a text, so that none of it is read as another command."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def as_junit(findings: Findings, *, strict: bool) -> str:
    """Write one test for each finding, and one for each file without any; warnings are skipped tests."""
    failing = ("error", "warning") if strict else ("error",)
    wrong = [one for one in findings.problems if one.severity != "info"]
    clean = {found.file for found in findings.loaded.found} - {one.where.file for one in wrong}
    tests = [*_clean_tests(findings, clean), *(_junit_test(findings, one, failing) for one in wrong)]
    failures = sum(one.severity in failing for one in wrong)
    counted = f'tests="{len(tests)}" failures="{failures}" skipped="{len(wrong) - failures}" errors="0"'
    body = "\n".join(tests)
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f'{head}\n<testsuites>\n<testsuite name="hookline doctor" {counted}>\n{body}\n</testsuite>\n</testsuites>'


def _clean_tests(findings: Findings, files: set[str]) -> Iterator[str]:
    for file in sorted(files):
        shown = quoteattr(os.path.relpath(file, findings.cwd))
        yield f"  <testcase classname={shown} name={shown}/>"


def _junit_test(findings: Findings, one: Diagnostic, failing: tuple[str, ...]) -> str:
    file, _ = _relative(findings, one)
    place = f"{file}:{one.where.line}" if one.where.line else file
    kind = "failure" if one.severity in failing else "skipped"
    type_of = f" type={quoteattr(one.code)}" if kind == "failure" else ""
    said = quoteattr(f"{place}: {_said(findings, one)}")
    name = quoteattr(f"{findings.finding(one)} ({place})")
    return f"  <testcase classname={quoteattr(file)} name={name}><{kind} message={said}{type_of}/></testcase>"


def _relative(findings: Findings, one: Diagnostic) -> tuple[str, bool]:
    """Return the path from the directory that was checked, and whether the file is in it."""
    path = findings.clean(os.path.relpath(one.where.file or findings.cwd, findings.cwd))
    return path, not path.startswith("..")


def _said(findings: Findings, one: Diagnostic) -> str:
    fix = f" Fix: {one.fix}" if one.fix else ""
    return findings.clean(f"{one.message}.{fix}" if fix else one.message)


#: By the names of `--format`; text is the usual one.
FORMATS: Final[Mapping[str, Callable[..., str]]] = MappingProxyType(
    {"sarif": as_sarif, "github": as_github, "junit": as_junit}
)
