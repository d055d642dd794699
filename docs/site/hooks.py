"""What the site has beside the pages: the API from docstrings, the root's own pages, a live report.

Pages stay Markdown that any viewer shows; nothing in them knows of the site.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "action.yml": "action.yml",
}
REPORT = Path(os.environ.get("SDB_EXAMPLE_REPORT", ROOT / "demo" / "report" / "index.html"))
API = {
    "streamdecisionbench": "What `import streamdecisionbench as sdb` gives.",
    "streamdecisionbench.meter": "The meter inside a service.",
}
API_PAGE = "reference/python-api.md"
API_MARK = "<!-- the public names, from their docstrings -->"
STYLE = """:root { --md-primary-fg-color: #1f5f7a; --md-primary-bg-color: #fff; --md-accent-fg-color: #b4552d; }
.example-report { border: 1px solid #8886; height: 80vh; width: 100%; }
.md-typeset table:not([class]) { display: block; overflow-x: auto; }
"""
EXAMPLE = """# A report, live

The page that `sdb report` writes, as `make demo` makes it: [open it by itself](example-report/index.html).
Its components are simulations, a baseline and one small real model; it says which.

<iframe class="example-report" src="example-report/index.html" title="The demonstration's report"></iframe>
"""


class Doctests(Extension):
    """Examples in docstrings, which Markdown would take for quotations, as code."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        md.preprocessors.register(_Fences(md), "doctests", 100)


class _Fences(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        found: list[str] = []
        inside = False
        for line in lines:
            if inside and not line.strip():
                found.append("```")
                inside = False
            elif not inside and line.startswith(">>> "):
                found += ["", "```pycon"]
                inside = True
            found.append(line)
        return [*found, "```"] if inside else found


def on_config(config: Any) -> None:
    config.markdown_extensions.append(Doctests())


def on_files(files: Files, config: Any) -> Files:
    if not REPORT.is_file():
        raise PluginError(f"{REPORT.name} of the demonstration is not there: run `make demo` first")
    made = {
        "report-example.md": EXAMPLE,
        "example-report/index.html": REPORT.read_text(encoding="utf-8"),
        "stylesheets/site.css": STYLE,
    }
    for name, page in ROOT_PAGES.items():
        text = re.sub(r"\]\(docs/", "](", (ROOT / name).read_text(encoding="utf-8"))
        for other, target in ROOT_PAGES.items():
            text = text.replace(f"]({other}", f"]({target}")
        made[page] = text
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links out of docs/ lead to the pages made above; the API fills its place on its page."""
    up = "../" * page.file.src_uri.count("/")
    for name, target in ROOT_PAGES.items():
        markdown = markdown.replace(f"]({up}../{name}", f"]({up}{target}")
    if page.file.src_uri == API_PAGE:
        markdown = markdown.replace(API_MARK, _api())
    return markdown


def _api() -> str:
    """One entry for every public name, from its docstring where it is written."""
    import importlib

    lines: list[str] = []
    for module, words in API.items():
        found = importlib.import_module(module)
        lines += [f"\n## `{module}`\n", words]
        for name in sorted(found.__all__):
            home = getattr(getattr(found, name), "__module__", None)
            if home is not None:
                lines.append(f"\n::: {home}.{name}\n    options:\n      heading_level: 3")
    return "\n".join(lines) + "\n"


def on_post_build(config: Any) -> None:
    """The Markdown sources, and llms.txt, which lists them by title."""
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    for path in sorted(docs.rglob("*.md")):
        name, text = path.relative_to(docs), path.read_text(encoding="utf-8")
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({name.as_posix()})")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
