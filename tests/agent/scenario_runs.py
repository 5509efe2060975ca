"""Run scenarios: a directory with hooks in their own agent's format, the model's script, and the expected results.

        scenarios/NAME/scenario.toml    the steps, and the expected results (records `Scenario` and `Play`)
    scenarios/NAME/script.yaml      the model's responses (`script` of a play names another one)
    scenarios/NAME/home/...         goes to the home of the run; programs in home/bin are found by their names
    scenarios/NAME/...              everything else goes to the project, which is the working directory

Each play is one real process of `hookline agent --json`; the plays of a scenario share home and project, so a
second one may resume what the first one left. In expectations `$PROJECT` and `$HOME` stand for the directories.
"""

import json
import shutil
import subprocess
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tests.cli.run_cli import clean_env
from tests.trusting import trust_all_of
from tests.warm_process import run_warm

SCENARIOS = Path(__file__).parent / "scenarios"
_NOT_FOR_THE_PROJECT = shutil.ignore_patterns("scenario.toml", "home", "script*.yaml")
_LONGEST_WAIT = 90.0


class _Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An expectation with a slip of the pen would hold for ever."""


class ExpectedEvent(_Strict, frozen=True, kw_only=True):
    """One event of the run. Maps are compared key by key: a key without an expectation may be anything."""

    event: str
    #: Which of the events of that name, from 1.
    nth: int = 1
    agent: str | None = None
    payload: Mapping[str, Any] = {}
    outcome: Mapping[str, Any] = {}
    #: All runs of the event, in order.
    runs: tuple[Mapping[str, Any], ...] | None = None


class ExpectedRequest(_Strict, frozen=True, kw_only=True):
    """One request to the model. Texts may be in its system text or in any of its messages."""

    nth: int = 1
    model: str | None = None
    agent: str | None = None
    has: tuple[str, ...] = ()
    hasnt: tuple[str, ...] = ()
    system_has: tuple[str, ...] = ()
    system_hasnt: tuple[str, ...] = ()
    #: All messages, in order.
    messages: tuple[Mapping[str, Any], ...] | None = None
    #: The last of the messages.
    last: Mapping[str, Any] | None = None


class Play(_Strict, frozen=True, kw_only=True):
    """One run of the command, and its expected results. Whatever is left out is not checked."""

    prompts: tuple[str, ...] = ()
    #: Lines for an attended conversation; then there must be no prompts.
    stdin: tuple[str, ...] | None = None
    #: Files of the project that are given with --config; without any the project is searched as usual.
    config: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    script: str = "script.yaml"
    #: A shell command that is run before it.
    before: str | None = None
    #: With --print instead of --json: only exit, stdout, stderr and files can be expected.
    plain: bool = False

    exit: int = 0
    status: str | None = None
    result: str | None = None
    #: Part of `why`.
    why: str | None = None
    #: Every event, in order.
    events: tuple[str, ...] | None = None
    #: Only these kinds of events are compared with `order`; without it the order's own kinds.
    among: tuple[str, ...] | None = None
    order: tuple[str, ...] | None = None
    never: tuple[str, ...] = ()
    times: Mapping[str, int] = {}
    requests: int | None = None
    event: tuple[ExpectedEvent, ...] = ()
    request: tuple[ExpectedRequest, ...] = ()
    #: Whole contents of files; `~/` begins a file of the home.
    files: Mapping[str, str] = {}
    files_have: Mapping[str, str] = {}
    files_havent: Mapping[str, str] = {}
    no_files: tuple[str, ...] = ()
    transcript_has: tuple[str, ...] = ()
    transcript_hasnt: tuple[str, ...] = ()
    #: Parts of what the user is shown beside the answer.
    notices_have: tuple[str, ...] = ()
    notices_havent: tuple[str, ...] = ()
    stdout: str | None = None
    stderr_has: tuple[str, ...] = ()


class Scenario(_Strict, frozen=True, kw_only=True):
    #: What it shows, in one sentence.
    fact: str
    play: tuple[Play, ...]
    #: Files that are written before the run because they cannot stand in the tree as they are.
    write: Mapping[str, str] = {}


class Played(Struct, frozen=True, kw_only=True):
    """The results of one play. `document` is what --json printed."""

    play: Play
    exit: int
    stdout: str
    stderr: str
    document: Mapping[str, Any]
    home: str
    project: str
    #: The files that are expected to be or not to be there, as they were right after the play.
    files: Mapping[str, str | None] = {}
    transcript: str = ""


def scenario_names(prefix: str = "") -> list[str]:
    return sorted(file.parent.name for file in SCENARIOS.glob(f"{prefix}*/scenario.toml"))


def read_scenario(name: str) -> Scenario:
    text = (SCENARIOS / name / "scenario.toml").read_text()
    return msgspec.convert(tomllib.loads(text), Scenario)


def play_scenario(name: str, directory: Path) -> list[Played]:
    """Every play of a scenario, one after another, in a new home whose user trusts the new project in it."""
    scenario = read_scenario(name)
    home, project = directory / "home", directory / "home" / "project"
    given = SCENARIOS / name
    shutil.copytree(given, project, ignore=_NOT_FOR_THE_PROJECT)
    if (given / "home").is_dir():
        shutil.copytree(given / "home", home, dirs_exist_ok=True)
    for file, text in scenario.write.items():
        _write(file, text, home, project)
    trust_all_of(home, project)
    return [_play(each, given, home, project) for each in scenario.play]


def _play(play: Play, given: Path, home: Path, project: Path) -> Played:
    words, env = agent_words(play, given, project), clean_env(home)
    env["PATH"] = f"{home / 'bin'}:{env['PATH']}"
    if play.before is not None:
        subprocess.run(["sh", "-c", play.before], env=env, cwd=project, check=True)
    ran = run_warm(
        words,
        env=env,
        cwd=project,
        stdin="".join(f"{line}\n" for line in play.stdin or ()).encode(),
        timeout=_LONGEST_WAIT,
    )
    stdout, stderr = ran.stdout.decode(), ran.stderr.decode()
    document: Any = {}
    if not play.plain and stdout.startswith("{"):
        document = json.loads(stdout)
    return Played(
        play=play,
        exit=ran.status,
        stdout=stdout,
        stderr=stderr,
        document=document,
        home=str(home),
        project=str(project),
        files={name: _content(_path(name, home, project)) for name in _named(play)},
        transcript=_content(Path(document.get("transcript") or "none")) or "",
    )


def _named(play: Play) -> set[str]:
    return {*play.files, *play.files_have, *play.files_havent, *play.no_files}


def _content(file: Path) -> str | None:
    return file.read_text() if file.is_file() else None


def _path(name: str, home: Path, project: Path) -> Path:
    return home / name[2:] if name.startswith("~/") else project / name


def agent_words(play: Play, given: Path, project: Path) -> list[str]:
    """Return the command line of a play: in the user's own project, which the user trusts."""
    words = ["agent", "--print" if play.plain else "--json", "--model", f"scripted:{given / play.script}"]
    words.append("--trust")
    for file in play.config:
        words += ["--config", str(project / file)]
    words += [flag.replace("$PROJECT", str(project)) for flag in play.flags]
    return [*words, *play.prompts]


def _write(file: str, text: str, home: Path, project: Path) -> None:
    path = _path(file, home, project)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if text.startswith("#!") else 0o644)


def played_once(name: str, shared: Path) -> list[Played]:
    """Return the plays of a scenario; the first test that needs them plays them, and others reuse the runs."""
    place = shared / name
    kept = shared / f"{name}.json"
    try:
        place.mkdir(parents=True)
    except FileExistsError:
        return _played_by_another(kept)
    try:
        played = play_scenario(name, place)
    except BaseException as problem:
        _keep(kept, {"problem": f"{type(problem).__name__}: {problem}"})
        raise
    _keep(kept, played)
    return played


def _keep(file: Path, value: Any) -> None:
    beside = file.with_suffix(".part")
    beside.write_bytes(msgspec.json.encode(value))
    beside.rename(file)


def _played_by_another(kept: Path) -> list[Played]:
    until = time.monotonic() + _LONGEST_WAIT
    while not kept.exists():
        if time.monotonic() > until:
            raise TimeoutError(f"{kept.stem} is being played by another worker, for too long")
        time.sleep(0.05)
    document = msgspec.json.decode(kept.read_bytes())
    if "problem" in document:
        raise RuntimeError(document["problem"])
    return msgspec.convert(document, list[Played])


def events_of(played: Sequence[Played]) -> list[Mapping[str, Any]]:
    return [event for one in played for event in one.document.get("events", ())]
