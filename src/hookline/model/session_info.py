"""Describe the session that a hook runs in: the facts that wires may read besides the payload."""

import os
from collections.abc import Mapping
from typing import TypedDict

from msgspec import Struct

from hookline.model.messages import Totals


class SessionInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Ids, directory, mode, model and agent of one dispatch. A session keeps the current one.

    ::

        @engine.on(PRE_TOOL_USE)
        async def in_the_project(call: ToolCall, info: SessionInfo) -> Outcome | None:
            return None if info.cwd.startswith("/src") else deny("not there")
    """

    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    permission_mode: str = "default"
    model: str | None = None
    prompt_id: str | None = None
    #: The prompt itself.
    prompt: str | None = None
    turn: int | None = None
    #: The session's usage before this event.
    totals: Totals | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    parent_agent_id: str | None = None
    depth: int = 0
    #: False when no user can be asked: then an `ask` is a denial.
    attended: bool = True
    project_dir: str | None = None
    #: Programs of shell commands are judged again when they start: guards over programs let doubt pass.
    exec_guard: bool = False
    #: Text that is typed into a running command is not shown to hooks: guards are in doubt about a shell that reads it.
    unseen_input: bool = False
    #: For a server that decides for others: the id that finds the decision in its journal and in the
    #: caller's.
    decision_id: str = ""
    #: Further facts that only one dialect has, by its names. Adapters add `run_context`: the framework's own object
    #: of the run, with its dependencies, context or state.
    extra: Mapping[str, object] | None = None


AnyPath = str | os.PathLike[str]


class SessionOptions(TypedDict, total=False):
    """A host's facts about a conversation: `engine.session("conversation 1", cwd=cwd, attended=False)`.

    ::

        def session_for(user: User, **options: Unpack[SessionOptions]) -> Session:
            return engine.session(user.id, **options)
    """

    #: The directory that the agent works in; hooks that are commands run there.
    cwd: AnyPath
    #: The root directory of the project, if that is not `cwd`.
    project_dir: AnyPath | None
    #: The file that the conversation is kept in.
    transcript_path: AnyPath
    #: The permission mode as hooks see it: default, plan, acceptEdits ...
    permission_mode: str
    #: The model in use.
    model: str | None
    #: The prompt that is being answered.
    prompt_id: str | None
    #: Its text. `session.prompt` keeps it.
    prompt: str | None
    #: The session's usage so far. `session.answer` adds it up.
    totals: Totals | None
    #: The number of the turn. `session.prompt` counts them.
    turn: int | None
    #: The id of the subagent, if this is one.
    agent_id: str | None
    #: Its kind: `explore`, say.
    agent_type: str | None
    #: The agent that it works for; a session with a parent has it from there.
    parent_agent_id: str | None
    #: The number of agents above it; a session with a parent has it from there.
    depth: int
    #: False if no user can be asked: then an ask is a denial.
    attended: bool
    #: True if shell commands run under `hookline.execguard`, so that guards over programs let doubt pass.
    exec_guard: bool
    #: True if hooks are not asked about text that is typed into a running command: a shell that reads it is in doubt.
    unseen_input: bool
    #: The id of a decision made for another program; it is in the records of all runs.
    decision_id: str
    #: Further facts that only one dialect has, by its names.
    extra: Mapping[str, object] | None


class SessionChanges(SessionOptions, total=False):
    """The facts of a conversation that may change: the fields of `SessionOptions`, and its id.

    ::

        def moved(session: Session, **changes: Unpack[SessionChanges]) -> None:
            session.update(**changes)
    """

    #: The conversation continues under another id.
    session_id: str


#: The session fields that a payload document may set, besides the number of the turn.
INFO_TEXTS = (
    "session_id", "transcript_path", "cwd", "permission_mode", "model", "prompt_id", "agent_id", "agent_type",
    "parent_agent_id",
)  # fmt: skip
