"""What Hookline raises. Nothing is raised out of a dispatch but cancellation.

::

    HooklineError
    ├── ConfigError        a configuration cannot be used; carries its diagnostics
    ├── PatternError       a matcher, condition or rule cannot be understood; carries the pattern
    ├── UnknownEventError  no row has that name; says the nearest one
    └── EngineClosedError  a closed engine was asked to do something
"""

from collections.abc import Sequence

from hookline.model.diagnostics import Diagnostic


class HooklineError(Exception):
    """The root of everything Hookline raises on purpose."""


class ConfigError(HooklineError):
    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


class PatternError(HooklineError):
    def __init__(self, pattern: str, problem: str) -> None:
        self.pattern = pattern
        self.problem = problem
        super().__init__(f"{pattern!r}: {problem}")


class UnknownEventError(HooklineError):
    def __init__(self, name: str, nearest: str | None = None) -> None:
        self.name = name
        self.nearest = nearest
        super().__init__(f"no event is called {name!r}" + (f"; did you mean {nearest!r}?" if nearest else ""))


class EngineClosedError(HooklineError):
    def __init__(self) -> None:
        super().__init__("the engine is closed")
