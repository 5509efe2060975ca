"""Keep the model's list of steps (TodoWrite), which the user sees while it works."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from hookline.agent.tools.base import MAIN, RecordTool, ToolOutput, Workplace

_DESCRIPTION = """\
Replaces your list of steps for the work at hand, which the user sees. Use it for work of three steps or more: write \
all steps first, mark one as in_progress before you begin it, and as completed as soon as it is done."""


class Todo(Struct, frozen=True, kw_only=True):
    content: Annotated[str, Meta(min_length=1, max_length=500, description="The step.")]
    status: Annotated[Literal["pending", "in_progress", "completed"], Meta(description="Its state.")]
    activeForm: Annotated[str, Meta(description="What is being done, such as: Running the tests.")] = ""  # noqa: N815


class TodoArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    todos: Annotated[list[Todo], Meta(max_length=50, description="All steps, in order.")]


def todo_tool(todos: list[Todo]) -> RecordTool[TodoArguments]:
    """Return the tool, which replaces the content of `todos`."""

    async def write(arguments: TodoArguments, workplace: Workplace) -> ToolOutput:
        del workplace
        old, todos[:] = [*todos], arguments.todos
        done = sum(todo.status == "completed" for todo in todos)
        return ToolOutput(
            text=f"The list has {len(todos)} steps, {done} of them completed.",
            response={"oldTodos": old, "newTodos": [*todos]},
        )

    return RecordTool("TodoWrite", _DESCRIPTION, "read", TodoArguments, write, frozenset({MAIN}))
