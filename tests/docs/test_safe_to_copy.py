"""The first example of the README and the embedding page are safe when copied, whatever hooks say."""

import asyncio
import importlib.util
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hookline import Engine, Outcome, ask, deny, halt, rewrite
from hookline.events import PRE_TOOL_USE, STOP, USER_PROMPT_SUBMIT, ToolCall

ROOT = Path(__file__).parents[2]


def example(name: str) -> ModuleType:
    """Load a fresh copy, with a new engine."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def crashes(call: ToolCall) -> Outcome:
    raise RuntimeError("the guard is broken")


#: What a hook does, and what the tool may then have been called with.
HOOKS: dict[str, tuple[Callable[[ToolCall], Outcome], list[dict[str, Any]]]] = {
    "asks": (lambda call: ask("sure?"), []),
    "stops": (lambda call: halt("enough"), []),
    "denies": (lambda call: deny("no"), []),
    "crashes": (crashes, []),
    "rewrites to {}": (lambda call: rewrite({}), [{}]),
}


def logging(ran: list[dict[str, Any]]) -> Callable[[dict[str, Any]], str]:
    def tool(arguments: dict[str, Any]) -> str:
        ran.append(arguments)
        return "ran"

    return tool


def says_no(question: str) -> str:
    return "n"


@pytest.mark.parametrize("what", HOOKS)
def test_the_first_example(
    what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = example("first")
    ran: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "run_command", logging(ran))
    module.engine.add(PRE_TOOL_USE, HOOKS[what][0], rewrites=what.startswith("rewrites"))
    asyncio.run(module.main())
    # Nor after the rewrite to {}: the example's own hook wants a command, and a guard that crashes closes.
    assert ran == []


def converse(module: ModuleType, engine: Engine) -> tuple[list[str], list[Sequence[Any]]]:
    """Two prompts; the model calls a tool for each, then answers."""
    sent: list[Sequence[Any]] = []

    async def ask_model(messages: Sequence[Any]) -> dict[str, Any]:
        sent.append(messages)
        assert len(sent) < 20
        if messages[-1]["role"] == "tool" or messages[-1]["content"] == "look again":
            return {"role": "assistant", "content": f"answer {len(sent)}"}
        call = {"id": f"c{len(sent)}", "name": "run_shell", "input": {"command": "ls"}}
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    async def play() -> list[str]:
        async with engine:
            return await module.converse(engine, ["one", "two"], ask_model)

    return asyncio.run(play()), sent


@pytest.mark.parametrize("what", HOOKS)
def test_the_embedding_page(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("embed")
    ran: list[dict[str, Any]] = []
    monkeypatch.setitem(module.TOOLS, "run_shell", logging(ran))
    monkeypatch.setattr("builtins.input", says_no)
    hook, expected = HOOKS[what]
    engine = Engine()
    engine.add(PRE_TOOL_USE, hook, rewrites=what.startswith("rewrites"))
    # It must not turn a stop around, and once it has passed it must not hold the turn open.
    engine.add(STOP, lambda answer: None if answer.stop_hook_active else deny("look again"))
    answers, sent = converse(module, engine)
    assert ran == expected * 2
    if what == "stops":
        assert (answers, len(sent)) == (["enough", "enough"], 2)
    else:
        assert (answers, len(sent)) == (["answer 3", "answer 6"], 6)


def test_a_blocked_prompt_reaches_no_model() -> None:
    engine = Engine()
    engine.add(USER_PROMPT_SUBMIT, lambda prompt: deny("not that"))
    assert converse(example("embed"), engine) == (["not that", "not that"], [])


def test_the_page_shows_the_code_of_the_example() -> None:
    page = (ROOT / "docs" / "how-to" / "embed.md").read_text()
    shown = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert shown[0].strip() in (ROOT / "examples" / "embed.py").read_text()


def test_pages_take_entries_out_before_the_program() -> None:
    """An agent whose entry finds no Hookline denies every call."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    removing = re.compile(r"(?:pip|pipx|uv tool) uninstall\s+hookline")
    found = {page.name: page.read_text() for page in pages if removing.search(page.read_text())}
    assert found.keys() == {"README.md", "install.md"}
    for name, text in found.items():
        match = removing.search(text)
        assert match is not None
        section = text[: match.start()].rpartition("\n## ")[2]
        assert "hookline uninstall" in section, name


def test_no_page_shows_a_rule_that_leaks() -> None:
    """`git push -f` and `+main` are no text that begins with `git push --force`: the guard force-push sees them."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    leaking = re.compile(r"Bash\(git push (?:--force|-f)[ :*]")
    assert [str(page.relative_to(ROOT)) for page in pages if leaking.search(page.read_text())] == []
