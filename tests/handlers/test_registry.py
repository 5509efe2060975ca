import subprocess
import sys
from collections.abc import Mapping

from hookline.extending import Handler, standard_handlers
from hookline.handlers.agent import AgentSpec
from hookline.handlers.http.handler import HttpRules, HttpSpec
from hookline.handlers.mcp_tool import McpToolSpec
from hookline.handlers.prompt import PromptSpec
from tests.handlers.calls import finished

KINDS = ["command", "http", "prompt", "agent", "mcp_tool", "function", "builtin"]


def test_every_kind_is_there_under_its_own_name() -> None:
    handlers = standard_handlers()
    assert list(handlers) == KINDS
    assert all(handler.kind == kind for kind, handler in handlers.items())
    assert [kind for kind, handler in handlers.items() if handler.own_clock] == ["command", "function"]


def test_registries_are_private() -> None:
    first, second = standard_handlers(), standard_handlers()
    assert not {id(handler) for handler in first.values()} & {id(handler) for handler in second.values()}


def test_what_was_not_given_is_said_by_each_kind() -> None:
    handlers = standard_handlers(http=HttpRules(allowed_urls=()))
    for kind, spec in {
        "prompt": PromptSpec("x"),
        "agent": AgentSpec("x"),
        "mcp_tool": McpToolSpec("s", "t"),
        "http": HttpSpec("https://example.com/"),
    }.items():
        assert handlers[kind].problem(spec) is not None


def test_all_handlers_can_be_closed_twice_without_having_run() -> None:
    async def main(handlers: Mapping[str, Handler]) -> None:
        for handler in (*handlers.values(), *handlers.values()):
            await handler.close()

    finished(main(standard_handlers()))


def test_a_registry_loads_nothing_heavy() -> None:
    program = (
        "import sys; from hookline.handlers.registry import standard_handlers; standard_handlers();"
        "heavy = ('httpcore2', 'httpx2', 'h11', 'anyio', 'yaml', 're2', 'pydantic', 'rich');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
