"""Where and for which agent a hook runs: what wires may read besides the payload."""

import os
from collections.abc import Mapping
from typing import Any, TypedDict

from msgspec import Struct

from hookline.model.usage import Totals


class Scene(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Ids, directory, mode, model and agent of one dispatch. A session keeps the current one."""

    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    permission_mode: str = "default"
    model: str | None = None
    prompt_id: str | None = None
    #: The prompt itself.
    prompt: str | None = None
    turn: int | None = None
    #: What the session has used before this moment.
    totals: Totals | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    parent_agent_id: str | None = None
    depth: int = 0
    #: False when there is no user to ask: then an `ask` is a denial.
    attended: bool = True
    project_dir: str | None = None
    #: Of a server that decides for others: by this id the decision is found in its journal and in the caller's.
    decision_id: str = ""
    #: Further facts that only one dialect has, by its own names.
    extra: Mapping[str, object] | None = None


AnyPath = str | os.PathLike[str]


class SceneOptions(TypedDict, total=False):
    """What a host says of a conversation: `engine.session("conversation 1", cwd=cwd, attended=False)`.

    ::

        def session_for(user: User, **scene: Unpack[SceneOptions]) -> Session:
            return engine.session(user.id, **scene)
    """

    #: The directory that the agent works in; hooks that are commands run there.
    cwd: AnyPath
    #: Where the project begins, if that is not `cwd`.
    project_dir: AnyPath | None
    #: The file that the conversation is kept in.
    transcript_path: AnyPath
    #: How much the agent may do unasked, as hooks are told: default, plan, acceptEdits ...
    permission_mode: str
    #: The model that is asked.
    model: str | None
    #: The prompt that is being answered.
    prompt_id: str | None
    #: Its text. `session.prompt` keeps it.
    prompt: str | None
    #: What the session has used so far. `session.answer` adds it up.
    totals: Totals | None
    #: The number of the turn. `session.prompt` counts them.
    turn: int | None
    #: Which sub-agent this is.
    agent_id: str | None
    #: Its kind: `explore`, say.
    agent_type: str | None
    #: The agent that it works for; a session with a parent has it from there.
    parent_agent_id: str | None
    #: How many agents are above it; a session with a parent has it from there.
    depth: int
    #: False if there is no user to ask: then an ask is a denial.
    attended: bool
    #: The id of a decision that is made for somebody else; it is in the records of all runs.
    decision_id: str
    #: Further facts that only one dialect has, by its own names.
    extra: Mapping[str, object] | None


class SceneChanges(SceneOptions, total=False):
    """What may change in a conversation: the fields of `SceneOptions`, and its id.

    ::

        def moved(session: Session, **changes: Unpack[SceneChanges]) -> None:
            session.update(**changes)
    """

    #: The conversation goes on under another id.
    session_id: str


_PATHS = frozenset({"cwd", "project_dir", "transcript_path"})


def scene_fields(where: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a scene as it has them, paths as text. Raises TypeError for an option that does not exist."""
    fields = dict(options)
    for name, value in options.items():
        if name in _PATHS:
            if value is not None and type(value) is not str:
                fields[name] = os.fspath(value)
        elif name not in Scene.__struct_fields__:
            from hookline.model.wrong_use import unknown_option  # noqa: PLC0415 only for a mistake

            raise unknown_option(where, options, Scene.__struct_fields__)
    return fields


#: The fields of a scene that a payload document may set, besides the number of the turn.
SCENE_TEXTS = (
    "session_id", "transcript_path", "cwd", "permission_mode", "model", "prompt_id", "agent_id", "agent_type",
    "parent_agent_id",
)  # fmt: skip
