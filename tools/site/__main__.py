"""Make the documentation site in .site/html, and check it: `make site`.

Zensical comes from PyPI into .site/env, once. The site asks no other host for anything: fonts are the
reader's, search runs in the page. Each page is there as Markdown, too, and `llms.txt` lists them for models.
`--browser` opens it in Chromium, as `make test-console` does with the console.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import hookline
from tools.browser import browser_environment
from tools.site.links import broken
from tools.site.navigation import navigation
from tools.site.pages import Sources, collect

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".site"
HTML = FOLDER / "html"
ASSETS = Path(__file__).parent / "assets"
REQUIREMENTS = ROOT / "requirements" / "site.txt"
_DESCRIPTION = "Hookline lets code outside an AI agent see, change or stop what the agent does."


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--browser", action="store_true", help="look at it in Chromium, too")
    args = parser.parse_args()
    program = environment()
    started = time.monotonic()
    sources = collect(ROOT)
    stage(sources)
    words = [str(program), "build", "--clean", "--strict", "-f", str(FOLDER / "mkdocs.yml")]
    built = subprocess.run(
        words, env=os.environ | {"NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )
    if built.returncode:
        print(built.stdout, built.stderr, sep="\n")
        return 1
    copies(sources.pages)
    problems = list(broken(HTML))
    for line in problems:
        print(f"make site: {line}")
    size = sum(file.stat().st_size for file in HTML.rglob("*") if file.is_file())
    print(
        f"make site: {len(sources.pages)} pages, {size / 2**20:.1f} MB, {len(problems)} broken links, "
        f"{time.monotonic() - started:.0f} s; open {HTML.relative_to(ROOT)}/index.html",
        flush=True,
    )
    if problems or not args.browser:
        return 1 if problems else 0
    found = browser_environment()
    if found is None:
        print("make site: SKIPPED: the site was not looked at in a browser", flush=True)
        return 0
    words = [sys.executable, "-m", "tools.site.browser", str(HTML), str(FOLDER / "screenshots")]
    env = os.environ | found | {"PYTHONPATH": os.pathsep.join((found["PYTHONPATH"], str(ROOT)))}
    return subprocess.run(words, cwd=ROOT, env=env, check=False).returncode


def environment() -> Path:
    """Return the program that builds the site, in an environment that is made once."""
    program = FOLDER / "env" / "bin" / "zensical"
    ready = FOLDER / "env" / ".ready"
    if not ready.exists() or ready.stat().st_mtime < REQUIREMENTS.stat().st_mtime:
        print("make site: installing Zensical (some seconds, once) ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER / "env")], check=True)
        pip = [str(FOLDER / "env" / "bin" / "pip"), "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
        ready.touch()
    return program


def stage(sources: Sources) -> None:
    """Write what the site is built from. Zensical reads the settings of MkDocs, its predecessor."""
    pages = FOLDER / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    for name, text in sources.pages.items():
        file = pages / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for name, source in {
        **sources.files,
        **{f"assets/{each.name}": each for each in ASSETS.iterdir()},
    }.items():
        file = pages / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, file)
    (FOLDER / "mkdocs.yml").write_text(
        yaml.safe_dump(settings(sources.pages), sort_keys=False), encoding="utf-8"
    )


def settings(pages: Mapping[str, str]) -> dict[str, Any]:
    def palette(scheme: str, icon: str, name: str, preference: str) -> dict[str, Any]:
        toggle = {"icon": f"material/{icon}", "name": name}
        return {"media": f"(prefers-color-scheme: {preference})", "scheme": scheme, "primary": "black",
                "accent": "indigo", "toggle": toggle}  # fmt: skip

    return {
        "site_name": "Hookline",
        "site_description": _DESCRIPTION,
        "docs_dir": "pages",
        "site_dir": "html",
        # With directories, a page works only behind a server; as files it works from a disk, too.
        "use_directory_urls": False,
        "nav": navigation(pages),
        "theme": {
            "name": "material",
            "font": False,
            "palette": [
                palette("default", "weather-night", "Dark", "light"),
                palette("slate", "weather-sunny", "Light", "dark"),
            ],
            "features": [
                "navigation.tabs", "navigation.indexes", "navigation.top", "search.highlight", "search.suggest",
                "content.code.copy", "toc.follow",
            ],
        },
        "plugins": ["search"],
        "markdown_extensions": [
            "tables", "attr_list", {"toc": {"permalink": True}}, "pymdownx.superfences",
            {"pymdownx.highlight": {"anchor_linenums": False}},
        ],
        "extra": {"generator": False, "version": hookline.__version__},
        "extra_css": ["assets/site.css"],
        "extra_javascript": ["assets/site.js"],
        "validation": {"links": {"not_found": "warn", "anchors": "info", "unrecognized_links": "info"},
                       "nav": {"omitted_files": "ignore"}},
    }  # fmt: skip


def copies(pages: Mapping[str, str]) -> None:
    """Put each page beside its HTML as Markdown, and list them in llms.txt."""
    lines = [
        "# Hookline",
        "",
        f"> {_DESCRIPTION}",
        "",
        f"Version {hookline.__version__}. Pages as Markdown:",
        "",
    ]
    for name, text in pages.items():
        if name.startswith("source/"):
            continue
        (HTML / name).write_text(text, encoding="utf-8")
        title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), name)
        lines.append(f"- [{title}]({name})")
    (HTML / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
