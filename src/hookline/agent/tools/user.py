"""Let the model address its user: a question with choices, a plan to approve, a list of steps.

They are AskUserQuestion, ExitPlanMode and TodoWrite.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct

from hookline.agent.ports import Choice, Chooser, UserPort
from hookline.agent.tools.base import MAIN, RecordTool, ToolOutput, Workplace
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import ToolError

_ASK = """\
Asks the user one to four questions, each with two to four choices; the user may also answer in other words. For \
choices that only the user can make; not for permission, which the tools themselves ask for."""
_PLAN = """\
Shows your plan to the user and asks for approval. Only for plan mode, once the plan is complete. If the user \
declines, revise the plan."""
_STEPS = """\
Replaces your list of steps for the work at hand, which the user sees. Use it for work of three steps or more: write \
all steps first, mark one as in_progress before you begin it, and as completed as soon as it is done."""


class AnswerOption(Struct, frozen=True, kw_only=True):
    label: Annotated[str, Meta(min_length=1, max_length=200, description="The choice, in a few words.")]
    description: Annotated[str, Meta(max_length=1000, description="What it means.")] = ""


class Question(Struct, frozen=True, kw_only=True):
    question: Annotated[str, Meta(min_length=1, max_length=1000, description="The question.")]
    header: Annotated[str, Meta(description="Its subject in one word.")] = ""
    options: Annotated[list[AnswerOption], Meta(min_length=2, max_length=4)]
    multiSelect: Annotated[bool, Meta(description="Several choices may be made.")] = False  # noqa: N815


class AskArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    questions: Annotated[list[Question], Meta(min_length=1, max_length=4)]


def ask_tool(user: UserPort) -> RecordTool[AskArguments]:
    async def ask(arguments: AskArguments, workplace: Workplace) -> ToolOutput:
        chooser = user.chooser
        if chooser is None:
            raise ToolError("There is no user to ask: decide yourself, and say what you assumed.")
        answers: dict[str, str] = {}
        async with user.dialog:
            await workplace.hooks.dispatch(
                e.USER_INPUT_WAITING,
                p.InputAwaited(reason="question", message=arguments.questions[0].question),
            )
            for question in arguments.questions:
                answers[question.question] = await _answer(chooser, question)
        lines = [f"{question}\n= {answer}" for question, answer in answers.items()]
        return ToolOutput(text="\n".join(lines), response={"answers": answers})

    return RecordTool("AskUserQuestion", _ASK, "read", AskArguments, ask, frozenset({MAIN}))


async def _answer(chooser: Chooser, question: Question) -> str:
    choices = [
        Choice(str(number), f"{option.label}: {option.description}" if option.description else option.label)
        for number, option in enumerate(question.options, 1)
    ]
    hint = "several: their numbers with a comma; or other words, then Enter" if question.multiSelect else ""
    key, said = await chooser.pick(question.question, [hint] if hint else [], choices, words=True)
    if key is None:
        raise ToolError("The user did not answer.")
    labels = {choice.key: option.label for choice, option in zip(choices, question.options, strict=True)}
    parts = [part.strip() for part in (said or key).split(",")]
    return ", ".join(labels[part] for part in parts) if all(part in labels for part in parts) else said


class PlanArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    plan: Annotated[str, Meta(min_length=1, description="The plan, in Markdown.")]


def plan_tool(approved: Callable[[], Awaitable[str]]) -> RecordTool[PlanArguments]:
    """Return the tool. `approved` ends plan mode, and returns the mode that follows."""

    async def leave(arguments: PlanArguments, workplace: Workplace) -> ToolOutput:
        del workplace
        mode = await approved()
        return ToolOutput(
            text=f"The user approved your plan. The permission mode is now {mode}: begin with the work.",
            response={"plan": arguments.plan, "mode": mode},
        )

    return RecordTool(
        "ExitPlanMode",
        _PLAN,
        "other",
        PlanArguments,
        leave,
        frozenset({MAIN}),
        modes=frozenset({"plan"}),
        asks="Is this plan right?",
    )


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

    return RecordTool("TodoWrite", _STEPS, "read", TodoArguments, write, frozenset({MAIN}))
