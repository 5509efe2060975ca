"""Hooks in an agent of LangChain, on a model that is scripted: it needs no key and no network."""

from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from hookline import Blocking, Engine, Outcome, deny, rewrite
from hookline.adapters.langchain import HooklineMiddleware
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine()


@engine.on(PRE_TOOL_USE, "deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response}")


class ScriptedModel(BaseChatModel):
    """Calls two tools, shows what it reads of them, and is done."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_given: Any, **_options: Any) -> ChatResult:
        results = [message for message in messages if isinstance(message, ToolMessage)]
        for result in results:
            print(result.text)
        calls: list[Any] = [
            {"name": "deploy", "args": {}, "id": "1"},
            {"name": "run_shell", "args": {"command": "ls"}, "id": "2"},
        ]
        answer = AIMessage("Done.") if results else AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def deploy() -> str:
    """Put it into production."""
    return "deployed"


@tool
def run_shell(command: str) -> str:
    """Run a line in a shell."""
    return command


def main() -> None:
    # For `ainvoke` and `astream` pass the engine itself.
    with Blocking(engine) as hooks:
        middleware: Any = [HooklineMiddleware(hooks)]
        agent: Any = create_agent(
            ScriptedModel(), [deploy, run_shell], middleware=middleware, checkpointer=InMemorySaver()
        )
        said = {"messages": [{"role": "user", "content": "ship it"}]}
        state = agent.invoke(said, {"configurable": {"thread_id": "conversation 1"}})
        print(state["messages"][-1].text)


if __name__ == "__main__":
    main()
