"""Hold the permissions of one session: the active rules, the mode, the directories, and the user's grants."""

import posixpath
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookline.config.protection.calls import CallReader
from hookline.config.protection.protected_paths import Protected
from hookline.matching.file_rules import doubtful, from_root
from hookline.model.outcome import PermissionUpdate
from hookline.model.safe_text import one_line
from hookline.permissions.facts import CallFacts, Category, category_of
from hookline.permissions.modes import MODES, Mode, ModeName, mode_of, narrowed
from hookline.permissions.rules import Behavior, PermissionRule, RuleReader, RuleSet
from hookline.permissions.suggest import rule_texts
from hookline.permissions.updates import Applied, apply_update

GRANTED = "granted by the user"


class Permissions:
    """The permissions of one session. A subagent sees its parent's current ones, and is never wider.

    `root` is the project's directory; without one, the working directory of each call takes its place.
    """

    def __init__(
        self,
        layers: Mapping[str, RuleSet] | RuleSet | None = None,
        *,
        mode: str = "default",
        directories: Sequence[str] = (),
        root: str = "",
        reader: RuleReader | None = None,
        categories: Mapping[str, Category] | None = None,
        parent: "Permissions | None" = None,
        above: Sequence[str] = (),
        protected: Protected | None = None,
    ) -> None:
        known = mode_of(mode)
        if known is None:
            raise ValueError(f"no permission mode is called {mode!r}; there are: {', '.join(MODES)}")
        self.root = root
        #: Base directories of rules about files: those that allow start at the root, those that guard also
        #: above it.
        self.roots = (root,) if root else ()
        self.guard_roots = (*self.roots, *above)
        self.categories = categories
        self.parent = parent
        self.reader = reader if reader is not None else RuleReader()
        self.protected = protected if protected is not None else Protected(home=self.reader.home)
        #: Rules that hooks added to this session.
        self.hook_rules = RuleSet(reader=self.reader)
        self._mode: ModeName = known
        self._layers = {"settings": layers} if isinstance(layers, RuleSet) else dict(layers or {})
        self._session = RuleSet(reader=self.reader)
        self._grants = RuleSet(reader=self.reader)
        self._granted_calls: set[tuple[str, str, bytes]] = set()
        self._dropped: set[str] = set()
        self._directories: list[str] = []
        for directory in directories:
            self.add_directory(directory)

    def call_reader(self, worktree: str) -> CallReader:
        """Return a reader of protected files that calls in this worktree write to."""
        return CallReader(
            lambda: self.protected.within(worktree), self.protected.home, lambda: self.reader.shell
        )

    @property
    def rules(self) -> RuleSet:
        """All active rules: the parent's first, then each layer's, the session's and those of hooks."""
        total = self.parent.rules if self.parent is not None else RuleSet(reader=self.reader)
        for layer in (*self._layers.values(), self._session, self.hook_rules):
            total += layer
        return self._kept(total)

    @property
    def grants(self) -> RuleSet:
        """The user's grants for the session, as rules."""
        return self._kept(self.parent.grants + self._grants if self.parent is not None else self._grants)

    def granted_call(self, facts: CallFacts) -> bool:
        """Return True if the user granted exactly this call."""
        if self.parent is not None and self.parent.granted_call(facts):
            return True
        key = _call_key(facts.tool_name, facts.tool_input, facts.cwd) if self._granted_calls else None
        return key is not None and key in self._granted_calls

    @property
    def mode(self) -> ModeName:
        return self.mode_row.name

    @property
    def mode_row(self) -> Mode:
        own = MODES[self._mode]
        return own if self.parent is None else narrowed(own, self.parent.mode_row)

    @property
    def directories(self) -> tuple[str, ...]:
        """Further directories besides the project's, as absolute paths."""
        above = self.parent.directories if self.parent is not None else ()
        return tuple(dict.fromkeys((*above, *self._directories)))

    def reach(self, cwd: str) -> tuple[str, ...]:
        """Return every directory whose files a call made in `cwd` may work on."""
        start = from_root(self.root or cwd, "")
        return (*((start,) if start is not None else ()), *self.directories)

    def set_mode(self, mode: str) -> bool:
        """Set the mode; return False for an unknown one. The effective mode is never looser than the parent's."""
        known = mode_of(mode)
        self._mode = known if known is not None else self._mode
        return known is not None

    def set_layer(self, name: str, rules: RuleSet) -> None:
        """Replace the rules of one source: its file changed."""
        self._layers[name] = rules

    def add_rules(self, behavior: Behavior, texts: Iterable[str], source: str = "session") -> tuple[str, ...]:
        """Add rules for this session. Return their errors."""
        problems: list[str] = []
        for text in texts:
            rule, problem = self._session.read(behavior, text, source)
            problems.extend([problem] if problem else [])
            if rule is not None:
                self._session = self._session.with_rule(rule)
                self._dropped.discard(rule.text)
        return tuple(problems)

    def add_directory(self, directory: str) -> bool:
        """Add a directory; return False when it is not clear which one is meant."""
        whole = self.whole_directory(directory)
        if whole is not None and whole not in self._directories:
            self._directories.append(whole)
        return whole is not None

    def remove_directories(self, directories: Iterable[str]) -> tuple[str, ...]:
        """Remove directories; return those that were there."""
        named = {self.whole_directory(directory) for directory in directories}
        gone = tuple(directory for directory in self._directories if directory in named)
        self._directories = [directory for directory in self._directories if directory not in named]
        return gone

    def whole_directory(self, directory: str) -> str | None:
        """Return the absolute directory; None when it is not clear which one is meant."""
        home = self.reader.home
        if home and (directory == "~" or directory.startswith("~/")):
            directory = home + directory[1:]
        if not directory or doubtful(posixpath.normpath(directory)):
            return None
        return from_root(directory, self.root)

    def would_grant(self, tool_name: str, tool_input: Mapping[str, object], cwd: str = "") -> tuple[str, ...]:
        """Return what `grant` would allow; empty when it could not be remembered."""
        facts = CallFacts(tool_name, tool_input, category_of(tool_name, self.categories), cwd or self.root)
        texts = rule_texts(facts, self.reader.shell)
        if texts or _call_key(tool_name, tool_input, facts.cwd) is None:
            return texts
        return (_exactly(tool_name),)

    def grant(self, tool_name: str, tool_input: Mapping[str, object], cwd: str = "") -> tuple[str, ...]:
        """Remember that the user allowed this for the session. Return the grant: rules, or exactly this call."""
        facts = CallFacts(tool_name, tool_input, category_of(tool_name, self.categories), cwd or self.root)
        texts = rule_texts(facts, self.reader.shell)
        if texts:
            self._grants = self._grants.with_rules("allow", texts, GRANTED)
            self._dropped.difference_update(texts)
            return texts
        key = _call_key(tool_name, tool_input, facts.cwd)
        if key is None:
            return ()
        self._granted_calls.add(key)
        return (_exactly(tool_name),)

    def apply(self, update: PermissionUpdate, event_name: str, hook: str = "") -> Applied:
        """Apply a hook's update, as far as a hook may. Never raises; the result says what was refused."""
        return apply_update(self, update, event_name, hook)

    def take_from_hook(self, rule: PermissionRule) -> None:
        self.hook_rules = self.hook_rules.with_rule(rule)
        self._dropped.discard(rule.text)

    def drop(self, allow_texts: Iterable[str]) -> None:
        """Drop the allow rules with these texts in this session, wherever they come from."""
        self._dropped.update(allow_texts)

    def child(
        self, *, mode: str | None = None, ask: Iterable[str] = (), deny: Iterable[str] = (), source: str = ""
    ) -> "Permissions":
        """Make the permissions of a subagent: everything that holds here, now and later, and what narrows it."""
        made = Permissions(
            # The loosest mode narrows nothing: the parent's mode applies.
            mode=mode or "bypass",
            root=self.root,
            reader=self.reader,
            categories=self.categories,
            parent=self,
            above=self.guard_roots[1:],
            protected=self.protected,
        )
        made.add_rules("ask", ask, source or "subagent")
        made.add_rules("deny", deny, source or "subagent")
        return made

    def _kept(self, rules: RuleSet) -> RuleSet:
        if not self._dropped:
            return rules
        return rules.without(rule for rule in rules.allow if rule.text in self._dropped)


def _call_key(tool: str, arguments: Mapping[str, object], cwd: str) -> tuple[str, str, bytes] | None:
    """Return a key that identifies a call; None when the call cannot be encoded, and so not be recognised."""
    try:
        return tool, cwd, msgspec.json.encode(arguments, order="deterministic")
    except (TypeError, ValueError, RecursionError, OverflowError, UnicodeError, msgspec.MsgspecError):
        return None


def _exactly(tool_name: str) -> str:
    return f"{one_line(tool_name, 80)}, exactly this call"
