"""Define the exceptions of Hookline. A dispatch raises only cancellation.

::

    HooklineError
    ├── ConfigError          a configuration cannot be used; carries its diagnostics
    ├── PatternError         a matcher, condition or rule cannot be understood; carries the pattern
    ├── UnknownEventError    no row has that name; says the nearest one
    ├── UnknownDialectError  no dialect has that name; says the nearest one
    ├── EngineClosedError    a closed engine was asked for a session, or closed while one waited for it
    └── ToolError            raised by a tool: the call failed, and the model reads the message
"""

from collections.abc import Sequence

from hookline.model.diagnostics import Diagnostic


class HooklineError(Exception):
    """The root of everything Hookline raises on purpose.

    ::

        except HooklineError as error:
            print(error)
    """


class ConfigError(HooklineError):
    """A configuration cannot be used. `diagnostics` has every mistake, each with its position.

    ::

        except ConfigError as error:
            for diagnostic in error.diagnostics:
                print(diagnostic)
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


class PatternError(HooklineError):
    """A matcher, a condition or a rule cannot be understood.

    ::

        engine.add(PRE_TOOL_USE, guard, "Bash(git push")  # PatternError: the bracket is not closed
    """

    def __init__(self, pattern: str, problem: str) -> None:
        self.pattern = pattern
        self.problem = problem
        super().__init__(f"{pattern!r}: {problem}")


class UnknownEventError(HooklineError):
    """No row has that name."""

    def __init__(self, name: str, nearest: str | None = None) -> None:
        self.name = name
        self.nearest = nearest
        super().__init__(f"no event is called {name!r}" + (f"; did you mean {nearest!r}?" if nearest else ""))


class UnknownDialectError(HooklineError):
    """No dialect has that name."""

    def __init__(self, name: str, known: Sequence[str], nearest: str | None = None) -> None:
        self.name = name
        self.nearest = nearest
        hint = f"did you mean {nearest!r}?" if nearest else f"there are: {', '.join(known)}"
        super().__init__(f"no dialect is called {name!r}; {hint}")


class EngineClosedError(HooklineError):
    """A session was opened on a closed engine, or the engine was closed while a call waited for it.

    ::

        try:
            session = engine.session("conversation 1")
        except EngineClosedError:
            raise HTTPException(503, "the server is going down") from None
    """

    def __init__(self, message: str = "the engine is closed") -> None:
        super().__init__(message)


class ToolError(HooklineError):
    """For tools to raise: the call was started and failed. The model reads the message as it is.

    ::

        raise ToolError("no such file: notes.txt", exit_code=1)
    """

    def __init__(self, message: str, *, exit_code: int | None = None, interrupted: bool = False) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.interrupted = interrupted
