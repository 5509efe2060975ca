"""An answer while it is being read: the parts of an outcome, field by field, and what nobody reads."""

from msgspec import Struct

from hookline.model.outcome import Answer, ContextItem, Edit, Halt, Message, Outcome, PermissionUpdate, Vote


class Gathering(Struct, kw_only=True):
    """Filled by the readers of single fields; a dialect adds what its readers need to know."""

    votes: list[Vote] = []
    edits: list[Edit] = []
    context: list[ContextItem] = []
    messages: list[Message] = []
    halts: list[Halt] = []
    updates: list[PermissionUpdate] = []
    watch: list[str] = []
    seeds: list[str] = []
    env: list[tuple[str, str]] = []
    answers: list[Answer] = []
    retry: bool = False
    ignored: list[str] = []

    def outcome(self) -> Outcome:
        return Outcome(
            votes=tuple(self.votes),
            edits=tuple(self.edits),
            context_items=tuple(self.context),
            messages=tuple(self.messages),
            halts=tuple(self.halts),
            permission_updates=tuple(self.updates),
            watch_paths=tuple(self.watch),
            seeds=tuple(self.seeds),
            env_items=tuple(self.env),
            answers=tuple(self.answers),
            retry=self.retry,
        )


#: The parts of an outcome, and what they are called where an agent cannot be told them.
_PARTS = (
    ("votes", "decision"),
    ("edits", "rewrite"),
    ("context_items", "context"),
    ("messages", "messages"),
    ("halts", "stop"),
    ("permission_updates", "permission_updates"),
    ("watch_paths", "watch_paths"),
    ("seeds", "initial_user_message"),
    ("env_items", "env"),
    ("answers", "answer"),
    ("retry", "retry"),
)


def unsaid(outcome: Outcome, *said: str) -> list[str]:
    """The names of the parts that an outcome has, without those that were said."""
    return [name for part, name in _PARTS if name not in said and getattr(outcome, part)]
