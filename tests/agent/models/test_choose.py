"""Names of models, and the sentences that say what to set."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hookline import ConfigError
from hookline.agent.models import choose
from hookline.agent.models.choose import (
    PROVIDERS,
    ModelSetupError,
    check_model,
    default_model,
    provider_model,
    target_of,
)
from hookline.agent.models.scripted import ScriptedModel
from hookline.guards import RECOMMENDED
from hookline.guards.runner import GuardRunner
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo


def test_no_model_at_all_says_everything_that_can_be_set() -> None:
    with pytest.raises(ModelSetupError) as caught:
        default_model({})
    for part in (
        "HOOKLINE_MODEL",
        "--model NAME",
        "--model scripted:FILE",
        "openai:",
        "anthropic:",
        "ollama:",
    ):
        assert part in str(caught.value)


def test_a_key_that_is_there_is_pointed_out() -> None:
    with pytest.raises(ModelSetupError, match="ANTHROPIC_API_KEY is set, so anthropic:NAME"):
        default_model({"ANTHROPIC_API_KEY": "k"})


def test_the_variable_names_the_model() -> None:
    assert default_model({"HOOKLINE_MODEL": " openai:x "}) == "openai:x"


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:x", "OPENAI_API_KEY"),
        ("openai-chat:x", "OPENAI_API_KEY"),
        ("anthropic:x", "ANTHROPIC_API_KEY"),
        ("google:x", "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_says_which_variable_to_set(name: str, variable: str) -> None:
    with pytest.raises(ModelSetupError, match=f"set {variable}"):
        provider_model(name, env={})


def test_a_key_is_taken_whole_or_not_at_all() -> None:
    assert target_of("openai:x", env={"OPENAI_API_KEY": " k\n"}).api_key == "k"
    with pytest.raises(ModelSetupError, match="OPENAI_API_KEY"):
        target_of("openai:x", env={"OPENAI_API_KEY": "k\r\nX-Evil: 1"})


def test_either_of_googles_keys_will_do() -> None:
    assert target_of("google:x", env={"GEMINI_API_KEY": "k"}).api_key == "k"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("opnai:gpt-x", "openai:gpt-x"),
        ("antropic:c", "anthropic:c"),
        ("Ollama:x", "ollama:x"),
        ("gpt-x", "openai:gpt-x"),
        ("claude-x", "anthropic:claude-x"),
        ("gemini-x", "google:gemini-x"),
        ("scriptd:f", "scripted:f"),
    ],
)
def test_a_name_nobody_has_says_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(ModelSetupError, match=f"did you mean {meant}"):
        target_of(name, env={})


@pytest.mark.parametrize("name", ["", ":", "zzzzz", "zzzzz:y", "\x1b[2J"])
def test_a_name_like_no_other_says_what_there_is(name: str) -> None:
    with pytest.raises(ModelSetupError, match="anthropic:NAME"):
        target_of(name, env={})


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_alone_is_no_model(provider: str) -> None:
    with pytest.raises(ModelSetupError, match=f"use {provider}:NAME"):
        target_of(f"{provider}: ", env={"OPENAI_API_KEY": "k"})


def test_a_place_of_ones_own_needs_no_provider_and_no_key() -> None:
    target = target_of("org/toy:free", base_url="http://localhost:8000/v1", env={})
    assert (target.provider, target.model, target.at_home) == ("openai", "org/toy:free", False)
    assert (
        target_of("toy", env={"OPENAI_BASE_URL": "http://localhost:1/v1"}).base_url == "http://localhost:1/v1"
    )


def test_a_flag_outranks_the_variable_and_the_variable_the_home() -> None:
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://one"}
    assert target_of("anthropic:x", env=env, base_url="http://two").base_url == "http://two"
    assert target_of("anthropic:x", env=env).base_url == "http://one"
    assert target_of("anthropic:x", env={"ANTHROPIC_API_KEY": "k"}).at_home


def test_ollama_is_on_this_machine_and_its_names_have_colons() -> None:
    target = target_of("ollama:llama3:8b", env={})
    assert (target.model, target.base_url) == ("llama3:8b", "http://localhost:11434/v1")


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x", "http://", "http://a b", "http://[", "http://x:99999"]
)
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ModelSetupError, match="--base-url"):
        target_of("openai:x", base_url=url, env={})
    with pytest.raises(ModelSetupError, match="OPENAI_BASE_URL"):
        target_of("openai:x", env={"OPENAI_BASE_URL": url})


def test_a_script_is_a_model(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("- text: hello\n")
    assert isinstance(provider_model(f"scripted:{script}", env={}), ScriptedModel)
    with pytest.raises(ModelSetupError, match="scripted:FILE"):
        provider_model("scripted:", env={})
    with pytest.raises(ConfigError, match="cannot be read"):
        provider_model(f"scripted:{tmp_path}/none.yaml", env={})


def run_python(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_scripted_run_loads_nothing_of_a_provider(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("- text: hello\n")
    code = """
import asyncio, pkgutil, sys
import hookline.agent
from hookline.model.messages import User
from hookline.agent.models.port import CompletionRequest
from hookline.agent.models import choose, hook_models
async def main():
    port = choose.provider_model("scripted:" + sys.argv[1], env={})
    request = CompletionRequest(model="", system="", messages=(User(text="hi"),))
    print((await hook_models.whole_answer(port, request)).text)
    choose.check_model("openai:x", env={"OPENAI_API_KEY": "k"})
asyncio.run(main())
heavy = {"pydantic", "pydantic_ai", "openai", "anthropic", "google", "mcp", "httpx2", "genai_prices"}
print(sorted(heavy & set(sys.modules)))
"""
    assert run_python(code, str(script)).split("\n")[:2] == ["hello", "[]"]


def test_a_missing_package_says_what_to_install() -> None:
    code = """
import sys
sys.modules[sys.argv[1]] = None  # as if it were not installed
from hookline.agent.models import choose
for ask in (choose.provider_model, choose.check_model)[: int(sys.argv[2])]:
    try:
        ask("anthropic:x", env={"ANTHROPIC_API_KEY": "k"})
    except choose.ModelSetupError as problem:
        print(problem)
"""
    for lines, package in ((2, "pydantic_ai"), (1, "anthropic")):
        received = run_python(code, package, str(lines)).strip().split("\n")
        assert len(received) == lines
        assert all("[agent]" in line for line in received)


def test_checking_asks_for_the_same_as_choosing() -> None:
    with pytest.raises(ModelSetupError, match="OPENAI_API_KEY"):
        check_model("openai:x", env={})
    check_model("scripted:whatever", env={})


def test_the_demo_names_a_guard_that_stops_what_it_does() -> None:
    script = json.loads((Path(choose.__file__).parent / "demo.json").read_text())
    lines = [
        call["input"]["command"]
        for each in script
        for call in each.get("tool_calls", ())
        if call["name"] == "Bash"
    ]
    named = re.findall(r"hookline guard add ([a-z-]+)", script[-1]["text"])
    runner, info = GuardRunner(), SessionInfo(cwd="/home/ada/project", project_dir="/home/ada/project")
    call = ToolCall(tool_name="Bash", tool_input={"command": lines[-1]})
    assert runner.decision(named[0], (), call, info) is not None
    assert named[1:] == ["recommended"]
    assert any(runner.decision(name, options, call, info) for name, options in RECOMMENDED.items())
