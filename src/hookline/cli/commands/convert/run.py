"""Read a file, plan what becomes of its entries in the other agent, and print or write it."""

import argparse
import os
import re
from collections import Counter

from hookline.cli.commands.convert.files import Conversion, convert_files, write_files
from hookline.cli.commands.convert.plan import Planned, Planner
from hookline.cli.commands.convert.report import ConvertDocument, entry_documents
from hookline.cli.engines import inspection_engine, require_files
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import terminal_width
from hookline.config.engine import Engine
from hookline.config.load import layer_of
from hookline.config.project import project_root
from hookline.dialects.dialect import Dialect, Place
from hookline.dialects.installer import Site
from hookline.dialects.registry import every_dialect
from hookline.documents.document import read_document
from hookline.matching.nearest import nearest

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def run(args: argparse.Namespace) -> ExitStatus:
    engine, file = inspection_engine(), os.path.abspath(args.words[0])
    require_files(engine, args.words)
    source = _convertible(engine, args.source or engine.loader.whose(file), args.words[0])
    target = _convertible(engine, args.to)
    if source.name == target.name:
        raise RequestError(f"{args.words[0]} is a file of {source.title} already")
    document = layer_of(source, Place(file, "flag")).document
    if document.value is None:
        raise RequestError("; ".join(map(str, document.diagnostics)))
    if not isinstance(document.value, dict):
        raise RequestError(f"{args.words[0]} is not an object with hooks")
    site = _site(source, file)
    planner = Planner(
        engine.loader, source, target, document, site.project, in_project=site.scope == "project"
    )
    planned = planner.entries()
    conversion = convert_files(planned, source, file, target, site, trust=args.trust)
    written = tuple(write_files(conversion)) if args.write else ()
    report = _report(
        file, source, target, planned, conversion, written,
        trusted=args.trust and args.write, off=_switched_off(engine, target, site, conversion),
    )  # fmt: skip
    _show(report, conversion, args)
    return ExitStatus.PROBLEM if report.lost else ExitStatus.OK


def _convertible(engine: Engine, name: str, file: str = "") -> Dialect:
    known = [each.name for each in every_dialect() if each.entry_form is not None]
    if name in known:
        return engine.loader.dialect(name)
    if file:
        raise RequestError(
            f"{file} is not known as a file of {', '.join(known)}: say whose it is with --from"
        )
    close = nearest(name[:100], known)
    hint = f"did you mean {close!r}?" if close else f"there are {', '.join(known)}"
    raise RequestError(f"hooks cannot be converted to {name[:100]!r}; {hint}")


def _site(source: Dialect, file: str) -> Site:
    """For whom the file is: the user, or the project that it is in."""
    real = os.path.realpath(file)
    users = [os.path.realpath(each.file) for each in source.places("", os.environ) if each.scope == "user"]
    if real in users:
        return Site("user", project_root(os.getcwd()), os.environ)
    for name in source.project_files:
        if file.endswith(f"/{name}"):
            return Site("project", file.removesuffix(f"/{name}") or "/", os.environ)
    return Site("project", project_root(os.path.dirname(file)), os.environ)


def _report(
    file: str,
    source: Dialect,
    target: Dialect,
    planned: list[Planned],
    conversion: Conversion,
    written: tuple[str, ...],
    *,
    trusted: bool,
    off: str | None,
) -> ConvertDocument:
    counts = Counter(each.how for each in planned)
    form = target.entry_form
    return ConvertDocument(
        file=file,
        source=source.name,
        target=target.name,
        target_file=conversion.file,
        wrapped_file=conversion.wrapped_file if counts["wrapped"] else None,
        entries=entry_documents(planned),
        direct=counts["direct"],
        wrapped=counts["wrapped"],
        lost=counts["lost"],
        trust=None if trusted or form is None or counts["lost"] == len(planned) else form.trust_step,
        switched_off=off,
        written=written,
    )


def _switched_off(engine: Engine, target: Dialect, site: Site, conversion: Conversion) -> str | None:
    """What keeps the other agent from running any hook of the file, as its settings are."""
    text = conversion.after[conversion.file]
    document = read_document(text or "{}", "json", conversion.file, comments=target.json_comments)
    loaded = engine.loader.in_place(target.name, site.project, document)
    said = next((one.message for one in loaded.diagnostics if one.code == "disabled"), None)
    off = [hook.disabled_by for hook in loaded.hooks if hook.mode == "off"]
    if said is None and off and len(off) == len(loaded.hooks) and off[0] is not None:
        return f"{off[0]} turns its hooks off"
    return said


def _show(report: ConvertDocument, conversion: Conversion, args: argparse.Namespace) -> None:
    if args.json:
        show(report.as_json(), as_json=True)
    elif args.report or args.write:
        show(report.as_text(terminal_width(), os.getcwd()))
    else:
        # Only comments may hold control characters that JSON does not escape.
        text = _CONTROLS.sub("?", conversion.after[conversion.file].rstrip("\n"))
        show(text, as_json=True)
        note(report.as_text(terminal_width(), os.getcwd()))
