"""Test the answer of the first page: every sentence about the state against the state."""

from typing import Any

from hookline.team.console.queries import ConsoleTotals, HookTimes, OpenPass
from hookline.team.console.views.start import Standing, StartFacts, standing


def _agent(title: str, *, installed: bool = True, seen: bool = True) -> dict[str, Any]:
    return {
        "title": title,
        "sites": [{"events": ["PreToolUse"] if installed else []}],
        "seen": {"at": 1.0} if seen else None,
    }


def _facts(**changes: Any) -> StartFacts:
    doctor = {
        "agents": changes.pop("agents", [_agent("Claude Code")]),
        "guards": changes.pop("guards", [{}, {}]),
        "problems": changes.pop("problems", []),
        "waiting_for_trust": changes.pop("waiting", 0),
    }
    known: dict[str, Any] = {
        "doctor": doctor, "doctor_problem": "", "runs": 10, "today": ConsoleTotals(), "passes": (), "hooks": (),
        "dead_letters": 0, "missed_calls": 0,
    }  # fmt: skip
    return StartFacts(**{**known, **changes})


def _commands(answer: Standing) -> list[str]:
    return [task.command for task in answer.tasks]


def test_it_is_green_only_when_agents_ask_and_nothing_is_left_to_do() -> None:
    answer = standing(_facts())
    assert answer.state == "good"
    assert answer.sentence == "Guarded. Claude Code asks Hookline about tool calls, and 2 guards are active."
    assert answer.tasks == ()


def test_an_empty_page_is_a_beginning_and_never_a_tick() -> None:
    empty = _facts(agents=[], guards=[], runs=0)
    assert standing(empty).state == "begin"
    assert _commands(standing(empty)) == ["hookline guard add recommended", "hookline install"]


def test_it_says_what_is_missing() -> None:
    cases = {
        "no agent has it": (_facts(agents=[_agent("Codex", installed=False)]), "bad", "not installed in any agent"),
        "no guard": (_facts(guards=[]), "bad", "no guard is configured"),
        "never asked": (_facts(agents=[_agent("Codex", seen=False)]), "warn", "has not yet"),
        "one of two": (_facts(agents=[_agent("A"), _agent("B", seen=False)]), "good", "B has not asked yet."),
        "not checked": (_facts(doctor=None, doctor_problem="hooks.toml is unreadable"), "warn", "hooks.toml is"),
    }  # fmt: skip
    for name, (facts, state, words) in cases.items():
        answer = standing(facts)
        assert (answer.state, words in answer.sentence) == (state, True), (name, answer)


def test_a_day_with_everything_wrong_names_the_worst_first_and_five_at_most() -> None:
    passed = OpenPass("audit", "hooks.toml", "codex", "here", 100, 7, 0)
    slow = HookTimes(
        name="judge", source="", dialect="", type="", runs=50, blocked=0, failed_open=0, failed=0, timed_out=0,
        would_have_blocked=0, passed=0, allowed=0, asked=0, others=0, last=0.0, p95=2600.0,
    )  # fmt: skip
    found = [
        {
            "severity": "warning",
            "code": "bundle-expires",
            "message": "a bundle ends",
            "file": "",
            "line": None,
        },
        {"severity": "error", "code": "missing-program", "message": "no guard.sh", "file": "a", "line": 3},
        {"severity": "error", "code": "missing-program", "message": "no other.sh", "file": "a", "line": 9},
        {
            "severity": "warning",
            "code": "dead-letters",
            "message": "2 dead letters",
            "file": "",
            "line": None,
        },
        {"severity": "note", "code": "fails-open", "message": "may fail open", "file": "", "line": None},
    ]
    answer = standing(_facts(passes=[passed], hooks=[slow], problems=found, dead_letters=2, missed_calls=1))
    assert answer.state == "bad"
    assert answer.sentence.startswith("Guarded, with gaps. ")
    assert [task.text for task in answer.tasks] == [
        "7 calls went ahead although a hook failed, most of them at audit.",
        "1 call was not guarded in past sessions.",
        "no guard.sh (a:3, and 1 more)",
        "a bundle ends",
        "2 background jobs gave up (dead letters).",
    ]
    assert all(task.command for task in answer.tasks)
