"""Define the results of a host's calls: each says what to do next, so a host need not interpret outcomes."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.model.outcome import ContextItem, Message

#: A part of a prompt: a text, or an object of the host's, such as a picture.
Part = str | Mapping[str, Any]


def text_of_part(part: Part) -> str | None:
    """Return the text of a part, or None for a picture and the like."""
    if isinstance(part, str):
        return part
    text = part.get("text")
    return text if isinstance(text, str) else None


class Start(Struct, frozen=True, kw_only=True):
    """The result of SessionStart hooks.

    ::

        begun = await session.start("resume")
        system_prompt += "".join(item.text for item in begun.context)
    """

    context: tuple[ContextItem, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()
    #: A first message to send in the user's name.
    first_message: str | None = None
    watch_paths: tuple[str, ...] = ()


class PromptResult(Struct, frozen=True, kw_only=True):
    """Result of `prompt`: send `texts`, or `parts` for a prompt of several parts, unless `blocked` is set.

    ::

        prompt = await session.prompt(text)
        if prompt.blocked is not None:
            print(prompt.blocked)
    """

    #: The text as hooks left it; of several parts, those that are text.
    text: str
    #: Hooks replaced the text.
    rewritten: bool = False
    #: Why it must not be sent, if so.
    blocked: str | None = None
    context: tuple[ContextItem, ...] = ()
    #: A message that SessionStart hooks want sent before this one, in the user's name.
    first_message: str | None = None
    #: For the user.
    notices: tuple[Message, ...] = ()
    #: The parts of the prompt, where it had several.
    given: tuple[Part, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts to send, in order: the first message, the prompt as hooks left it, what hooks add.

        A rewrite replaces the first part that is text, and the other texts are gone; pictures and the like stay.
        """
        first = (self.first_message,) if self.first_message else ()
        return (*first, *self._own_parts(), *(item.text for item in self.context))

    def _own_parts(self) -> tuple[Part, ...]:
        if not self.given or not self.rewritten:
            return self.given or (self.text,)
        left: list[Part] = []
        placed = False
        for part in self.given:
            if text_of_part(part) is None:
                left.append(part)
            elif not placed:
                left.append(self.text if isinstance(part, str) else {**part, "text": self.text})
                placed = True
        return tuple(left) if placed else (self.text, *left)

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts to send, in order: the first message, the text, what hooks add."""
        first = (self.first_message,) if self.first_message else ()
        return (*first, self.text, *(item.text for item in self.context))

    @property
    def changed(self) -> bool:
        """True if the text sent differs from what the user said."""
        return self.rewritten or len(self.texts) > 1


class ModelRequestResult(Struct, frozen=True, kw_only=True):
    """Result of `model`: send `messages`, with `transient` for this once, unless `blocked` is set.

    ::

        request = await session.model(messages)
        if request.blocked is None:
            reply = await ask_model(request.messages, extra=request.transient)
    """

    messages: tuple[Mapping[str, Any], ...]
    #: Hooks replaced the messages.
    rewritten: bool = False
    #: Why it must not be sent: hooks ended the turn, or held the request back each time they ran.
    blocked: str | None = None
    #: Text that stays in the conversation from now on.
    context: tuple[ContextItem, ...] = ()
    #: Text for this request only.
    transient: tuple[str, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()


class AnswerResult(Struct, frozen=True, kw_only=True):
    """Result of `answer`: store and show `text`.

    ::

        answer = await session.answer(reply.text, reply.tool_calls)
        print(answer.text)
    """

    text: str
    rewritten: bool = False
    #: Why the run ends, if it does.
    stop: str | None = None
    #: For the user.
    notices: tuple[Message, ...] = ()


class EndResult(Struct, frozen=True, kw_only=True):
    """Result of `end`: the turn is over, unless `send_back` is set; then send that to the model, which
    continues.

    ::

        end = await session.end(answer.text)
        if end.send_back is not None:
            messages.append({"role": "user", "content": end.send_back})
    """

    send_back: str | None = None
    #: Why the turn ended, if hooks ended it.
    stop: str | None = None
    context: tuple[ContextItem, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts to send to the model if it continues, in order; nothing if the turn is over."""
        return () if self.send_back is None else (*(item.text for item in self.context), self.send_back)
