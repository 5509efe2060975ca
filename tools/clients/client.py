"""A client as data: where it comes from, how it is started, what its tool calls look like, what its hooks can do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from tools.clients.protocols.protocol import Call, ModelProtocol

#: What a client takes for a key of its model.
NO_KEY = "not-a-key"
#: The user's own hook before each tool call, in the form of most clients.
OWN_HOOK = '[{{"hooks": [{{"type": "command", "command": "touch {mark}"}}]}}]'


class Client(Struct, frozen=True, kw_only=True):
    #: As Hookline calls its dialect.
    name: str
    package: str
    program: str
    protocol: ModelProtocol
    #: The words after its name: for a prompt, in a given mode, with the model at an address.
    words: Callable[[str, str, str], Sequence[str]]
    #: What it needs to know of the model, and what keeps it from calling any other server.
    environment: Callable[[str], Mapping[str, str]]
    #: The user's file with hooks, below the home directory; the project's, below the project.
    settings: str
    project_settings: str
    #: What the user has in the home directory before anything is installed, by path; {url} is the model's address.
    beforehand: Mapping[str, str] = {}
    #: The name of the event before a tool call, and of the one for a prompt.
    before_tool: str = "PreToolUse"
    prompted: str = "UserPromptSubmit"
    #: The event at the start of a session, at which users read messages.
    starts: str = "SessionStart"
    #: The event at the end of a turn, at which a block starts another one; empty where it has none.
    ends: str = "Stop"
    #: In which unit timeouts are.
    second: int = 1
    #: What the user says below the home directory to have the entries of a file run: texts by path.
    trust: Callable[[str, Mapping[str, Any]], Mapping[str, str]] = lambda _file, _entries: {}
    shell: Callable[[str], Call]
    #: Arguments by which its shell leaves a command in the background; empty if it has none.
    background: Mapping[str, Any] = {}
    write: Callable[[str, str], Call]
    #: A command of the client that changes the user's files, in a project with a file MARKET; empty if it has none.
    edit: Sequence[str] = ()
    #: The user's file with the user's own hook before each tool call, as people write it.
    own: str
    #: Further files of the user that it keeps settings in, below the home directory.
    others: Sequence[str] = ()
    #: Major version of Node.js that it needs; 0 for a program that brings what it needs.
    node: int = 0
    #: Packages of the same version that it would get from npm by itself, by the directory below the home.
    packages: Mapping[str, str] = {}
    #: False where Hookline has no entries to print.
    printed: bool = True
    # The effect of a guard's rewrite and question, and whether it shows the model the context of a hook.
    rewrites: bool = True
    #: "denied" where nobody can be asked; a client in which it is otherwise says what.
    asked: str = "denied"
    prompt_context: bool = True
    result_context: bool = True
    #: True if the model gets all lines of a reason.
    whole_reasons: bool = True
    #: True if a prompt is not sent when its hook cannot be run.
    gates_prompts: bool = True
    #: True if its user reads why a prompt was refused, without a terminal too.
    shows_refusals: bool = True
    #: True if it runs the files that `hookline convert` makes out of those of Claude Code.
    converts: bool = False
