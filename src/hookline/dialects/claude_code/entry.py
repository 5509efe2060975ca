"""One entry of a settings file as a hook. A mistake is reported, and the entry dropped."""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.dialects.claude_code.fields import NEEDED, SHAPES, SPECS, identity, label
from hookline.dialects.claude_code.rules import read_if
from hookline.dialects.claude_code.vocabulary import Row, default_timeout
from hookline.dialects.dialect import Tools
from hookline.dialects.reporting import Report
from hookline.handlers.http import HttpSpec
from hookline.handlers.urls import UrlError, parse_url, url_allowed
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Path, Severity
from hookline.model.errors import PatternError
from hookline.model.hook import Condition, Hook, Matcher, Scope, Waiting
from hookline.model.policy import Policy, Reaction
from hookline.model.wire import Wire


class HttpLimits(Struct, frozen=True):
    """What the settings of all levels together let http hooks do."""

    urls: tuple[str, ...] | None = None
    env: frozenset[str] | None = None


class Around(Struct, frozen=True, eq=False):
    """What is the same for all entries of a file."""

    tools: Tools
    wire: Wire
    scope: Scope
    limits: HttpLimits
    home: str
    #: What the entries are run with beside the usual variables: where their plugin is.
    env: Mapping[str, str] = {}


class Group(Struct, frozen=True, eq=False):
    """What the entries of one group share."""

    name: str
    row: Row
    policy: Policy
    matcher: Matcher | None = None


class EntryReader:
    """Reads one entry; made for it and thrown away."""

    def __init__(self, around: Around, group: Group, report: Report, path: Path) -> None:
        self._around = around
        self._group = group
        self._report = report
        self._path = path
        self._sound = True
        self._name: str | None = None

    def hook(self, entry: Mapping[str, Any]) -> Hook | None:
        kind = self._kind(entry)
        if kind is None:
            return None
        fields, sound = self._report.fields(entry, SHAPES[kind], *self._path)
        self._sound = self._sound and sound
        self._needed(kind, entry, fields)
        if not self._sound:
            return None
        self._name = label(kind, fields)
        timeout, condition = self._timeout(kind, fields), self._condition(fields)
        waiting = self._waiting(fields)
        on_failure = self._on_failure(fields, waiting)
        spec = self._spec(kind, fields) if self._sound else None
        if not self._sound:
            return None
        once = self._once(fields)
        return Hook(
            name=self._name,
            event=self._group.row.event,
            policy=self._group.policy,
            wire=self._around.wire,
            kind=kind,
            spec=spec,
            matcher=self._group.matcher,
            condition=condition,
            timeout=timeout,
            waiting=waiting,
            once=once,
            on_failure=on_failure,
            status_message=fields.get("statusMessage"),
            dialect="claude-code",
            scope=self._around.scope,
            where=self._report.document.where(*self._path),
            identity=(self._around.env.get("CLAUDE_PLUGIN_ROOT"), *identity(kind, fields)),
            broken=self._refused(spec),
        )

    def _say(
        self, severity: Severity, code: str, message: str, key: str = "", fix: str | None = None
    ) -> None:
        if severity == "error":
            self._sound = False
        path = (*self._path, key) if key else self._path
        self._report.say(severity, code, message, *path, fix=fix, hook=self._name)

    def _kind(self, entry: Mapping[str, Any]) -> str | None:
        kind = entry.get("type")
        if not isinstance(kind, str) or kind not in SPECS:
            close = nearest(kind, SPECS) if isinstance(kind, str) else None
            known = ", ".join(SPECS)
            if kind is None:
                self._say("error", "missing-field", "a hook needs a type", fix=f"one of {known}")
            else:
                fix = f"did you mean {close}?" if close else f"one of {known}"
                self._say("error", "unknown-type", f"no handler is called {kind!r}", "type", fix)
            return None
        if kind not in self._group.row.kinds:
            known = ", ".join(self._group.row.kinds)
            message = f"{self._group.name} runs no {kind} hooks"
            self._say("error", "kind-not-here", message, "type", f"one of {known}")
            return None
        return kind

    def _needed(self, kind: str, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        for key in NEEDED[kind]:
            if key not in entry:
                self._say("error", "missing-field", f"a {kind} hook needs {key}")
            elif key in fields and not fields[key].strip():
                self._say("error", "missing-field", f"{key} is empty", key)

    def _timeout(self, kind: str, fields: Mapping[str, Any]) -> float:
        seconds = fields.get("timeout")
        usual = default_timeout(self._group.name, kind)
        if seconds is None:
            return usual
        if not math.isfinite(seconds) or seconds <= 0:
            fix = f"leave it out for {usual:g} seconds"
            self._say("error", "bad-timeout", f"timeout is {seconds}, not seconds above 0", "timeout", fix)
            return usual
        if seconds >= 3600 and seconds % 500 == 0:
            message = f"timeout is {seconds:g} seconds, which is {seconds / 3600:.1f} hours"
            self._say("warning", "long-timeout", message, "timeout", f"{seconds / 1000:g}, if these are ms")
        return float(seconds)

    def _condition(self, fields: Mapping[str, Any]) -> Condition | None:
        text = fields.get("if", "")
        if not text:
            return None
        try:
            tools = self._around.tools
            condition = read_if(text, tools.patterns, tools.shell, self._around.home)
        except PatternError as error:
            self._say("error", "bad-pattern", f"if: {error}", "if")
            return None
        if condition is not None and not self._group.row.about_tool:
            message = f"{self._group.name} is not about a tool, so a hook with if never runs"
            self._say("error", "never-runs", message, "if", "remove if")
        return condition

    def _waiting(self, fields: Mapping[str, Any]) -> Waiting:
        rewake, background = fields.get("asyncRewake", False), fields.get("async", False)
        if not rewake and not background:
            return "wait"
        if self._group.row.event.guard:
            message = f"a hook nobody waits for cannot stop anything at {self._group.name}"
            self._say("warning", "async-guard", message, "asyncRewake" if rewake else "async")
        return "rewake" if rewake else "async"

    def _on_failure(self, fields: Mapping[str, Any], waiting: Waiting) -> Reaction | None:
        word = fields.get("onFailure")
        if word is None or word == "continue":
            return None
        if word != "block":
            self._say("error", "bad-on-failure", f"onFailure is {word!r}", "onFailure", "continue or block")
            return None
        if waiting != "wait" or not self._group.row.on_failure:
            where = "a hook nobody waits for" if waiting != "wait" else self._group.name
            self._say("warning", "unread-field", f"onFailure is not read at {where}", "onFailure")
            return None
        return "block"

    def _spec(self, kind: str, fields: Mapping[str, Any]) -> Any:
        if kind == "command" and fields.get("shell", "bash") not in ("bash", "powershell"):
            self._say("error", "bad-shell", f"shell is {fields['shell']!r}", "shell", "bash or powershell")
            return None
        handler = self._around.tools.handlers.get(kind)
        if handler is None:
            self._say("error", "no-handler", f"no handler for {kind} hooks was given", "type")
            return None
        spec = SPECS[kind](fields, self._around.env)
        if isinstance(spec, HttpSpec) and self._around.limits.env is not None:
            usable = tuple(name for name in spec.allowed_env_vars if name in self._around.limits.env)
            spec = HttpSpec(spec.url, spec.headers, usable)
        wrong = handler.problem(spec)
        if wrong is not None:
            self._say("warning" if kind in _HOSTED else "error", "cannot-run", wrong)
        return spec

    def _once(self, fields: Mapping[str, Any]) -> bool:
        """A skill's hooks join a session; those of settings files run each time, whatever they say."""
        if not fields.get("once"):
            return False
        if self._around.scope == "session":
            return True
        self._say("warning", "unread-field", "once is read in a skill's hooks only", "once", "remove once")
        return False

    def _refused(self, spec: Any) -> str | None:
        """Why an entry in order may not run all the same. It stays, so that its run says so each time."""
        allowed = self._around.limits.urls
        if allowed is None or not isinstance(spec, HttpSpec):
            return None
        try:
            if url_allowed(parse_url(spec.url), allowed):
                return None
        except UrlError as error:
            return str(error)
        message = "its url is not among allowedHttpHookUrls"
        self._say("warning", "url-not-allowed", message, "url", "add it to allowedHttpHookUrls")
        return message


#: Kinds whose handlers need something of the host: a mistake of the host, not of the file.
_HOSTED = frozenset({"prompt", "agent", "mcp_tool"})
