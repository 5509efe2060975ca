"""Import modules ahead, and give them to scripts.

They are kept aside, so that a script finds `sys.modules` as a new interpreter would have it. An import
searches `sys.path` as ever; only if it ends at the file of a kept module is that module used instead of
running the file again, together with all that its own import had needed. So a file that shadows a standard
module wins, as it should.
"""

import builtins
import os
import sys

#: Modules that every start has loaded; set by `remember_start`.
at_start = {}
_needs = {}
plain_import = builtins.__import__


def noting_import(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002 - as Python calls them
    """Do `__import__`, and remember which module needs which."""
    found = plain_import(name, globals, locals, fromlist, level)
    spec = globals.get("__spec__") if globals else None
    if not getattr(spec, "_initializing", False):
        return found  # not by a module that is being imported itself
    importer = spec.name
    if level:
        package = globals.get("__package__") or importer.rpartition(".")[0]
        base = package.rsplit(".", level - 1)[0]
        name = f"{base}.{name}" if name else base
    needs = _needs.setdefault(importer, {})
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        needs[".".join(parts[:count])] = None
    for each in fromlist or ():
        if f"{name}.{each}" in sys.modules:
            needs[f"{name}.{each}"] = None
    return found


builtins.__import__ = noting_import

import itertools
from importlib.machinery import FileFinder, PathFinder
from importlib.util import find_spec

_kept = {}
_closures = {}
_bound = set()
_refused = set()
#: Other names of modules, which their packages make themselves.
_ALIASES = {"os.path", "importlib._bootstrap", "importlib._bootstrap_external"}
for _name in _ALIASES:
    _needs.setdefault(_name.partition(".")[0], {})[_name] = None
_given = set()
_listings = {}
_finders = tuple(each for each in sys.meta_path if isinstance(each, type))
_meta_path = list(sys.meta_path)


def standard_places():
    """Return the directories and the archive of the standard library, as they are written in sys.path."""
    home = os.path.dirname(os.__file__)
    archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    own = (home, os.path.join(home, "lib-dynload"))
    return {entry for entry in sys.path if entry in own or os.path.basename(entry) == archive}


STANDARD = standard_places()


def is_standard(spec):
    """Return True if a module is part of the standard library, and not of a package that was installed."""
    if spec.origin in ("built-in", "frozen"):
        return True
    if not spec.origin or "site-packages" in spec.origin or "dist-packages" in spec.origin:
        return False
    return any(spec.origin.startswith(place + "/") for place in STANDARD)


def preload(names):
    """Import modules of the standard library and keep them aside."""
    wanted = [name for name in names if not (name in _kept or name in at_start or name in _refused)]
    if not wanted:
        return
    for name in _kept:
        _given.add(name)
        _bring(name)
    for name in wanted:
        before = set(sys.modules)
        try:
            spec = find_spec(name)
            if spec is None or not is_standard(spec):
                _refused.add(name)
            else:
                noting_import(name)
        except BaseException:
            _refused.add(name)
        _attribute(name, set(sys.modules) - before)
    keep_aside()


def kept(name):
    return _kept.get(name)


def fresh():
    """Return the modules that were imported but were not there ahead."""
    return [name for name in sys.modules if name not in at_start and name not in _kept]


def is_own(name):
    """Return True if a module was there before the script."""
    return (name in at_start and name != "__main__") or name in _kept


def _attribute(root, added):
    """Note the owner of modules that no `import` requested."""
    for name in added.difference(_reach(root)):
        _needs.setdefault(root, {})[name] = None  # by C code


def _reach(name):
    order, seen, open_ends = [], {name}, [name]
    while open_ends:
        each = open_ends.pop()
        order.append(each)
        for needed in reversed(list(_needs.get(each, ()))):
            if needed not in seen:
                seen.add(needed)
                open_ends.append(needed)
    return order


def _bring(name):
    if name not in sys.modules:
        sys.modules[name] = _kept[name]
        if name in _bound:
            parent, _, child = name.rpartition(".")
            setattr(_kept[parent] if parent in _kept else sys.modules[parent], child, _kept[name])


def keep_aside():
    """Hide everything that a new interpreter would not have loaded."""
    if _closures and not fresh() and not _given:
        return
    _given.clear()
    for name in fresh():
        parent = name.rpartition(".")[0]
        if getattr(sys.modules[name], "__spec__", None) is None and parent:
            # Made by its package, not imported: pyexpat.errors, typing.io.
            _ALIASES.add(name)
            _needs.setdefault(parent, {})[name] = None
        _kept[name] = sys.modules[name]
    for name, module in _kept.items():
        sys.modules.pop(name, None)
        parent, _, child = name.rpartition(".")
        holder = _kept.get(parent) or at_start.get(parent)
        if holder is not None and name not in _ALIASES and holder.__dict__.get(child) is module:
            delattr(holder, child)
            _bound.add(name)
    _closures.clear()
    for name in _kept:
        _closures[name] = tuple(each for each in _reach(name) if each in _kept)


class KeptLoader:
    """The loader of a module that was imported ahead."""

    @staticmethod
    def create_module(spec):
        return _kept[spec.name]

    @staticmethod
    def exec_module(module):
        spec = module.__spec__
        module.__spec__ = spec.loader_state
        for name in _closures[spec.name]:
            _given.add(name)
            _bring(name)


def _from_kept(spec):
    """Take a module from those imported ahead, if importing it would end at the same files."""
    module = _kept[spec.name]
    if module.__spec__.origin != spec.origin or spec.name in _given:
        return spec
    if sys.meta_path != _meta_path or builtins.__import__ not in (plain_import, noting_import):
        return spec  # the script observes imports
    tops = set()
    for name in _closures[spec.name]:
        if name not in sys.modules:
            tops.add(name.partition(".")[0])
        elif sys.modules[name] is not _kept[name]:
            return spec  # another module has this name already
    tops.discard(spec.name)
    if any(_shadowed(entry, tops) for entry in itertools.takewhile(_is_before_standard, sys.path)):
        return spec
    spec.loader, spec.loader_state = KeptLoader, module.__spec__
    return spec


def _is_before_standard(entry):
    return entry not in STANDARD


def _shadowed(entry, tops):
    """Return True if a directory in sys.path has a module of one of these names."""
    finder = PathFinder._path_importer_cache(entry)
    if finder is None or not tops:
        return False
    if type(finder) is FileFinder:
        tops = tops.intersection(_stems(finder))
    specs = map(finder.find_spec, tops)
    return any(
        spec is not None and spec.loader is not None for spec in specs
    )  # a directory without code shadows nothing


def _stems(finder):
    """Return the beginnings of the file names in a directory, up to the first dot."""
    finder.find_spec("hookline has no such module")  # it lists its directory anew if that has changed
    listed, stems = _listings.get(finder, (None, ()))
    if listed is not finder._path_cache:
        listed, stems = finder._path_cache, {name.partition(".")[0] for name in finder._path_cache}
        _listings[finder] = listed, stems
    return stems


def watch_imports():
    """Answer imports of kept modules with them from now on."""
    for finder in _finders:
        finder.find_spec = classmethod(_asking(finder.find_spec))


def _asking(original):
    def find_spec(_cls, fullname, path=None, target=None):
        spec = original(fullname, path, target)
        kept = spec is not None and getattr(_kept.get(fullname), "__spec__", None) is not None
        return _from_kept(spec) if kept else spec

    return find_spec
