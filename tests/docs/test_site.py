"""The documentation as a site: built strictly, without a network, every page two clicks from the first."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, pages

pytestmark = pytest.mark.slow

mkdocs = pytest.importorskip("mkdocs", reason="the site needs the extra docs")


class Links(HTMLParser):
    """What a page links to and loads."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names |= {given[key] or "" for key in ("id", "name") if key in given}
        if tag == "a" and given.get("href"):
            self.links.add(str(given["href"]))
        elif tag in ("script", "img", "iframe", "link"):
            self.loads |= {str(given[key]) for key in ("src", "href") if given.get(key)}


def read(path: Path) -> Links:
    found = Links()
    found.feed(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("site")
    report = home / "report.html"
    report.write_text("<!doctype html><title>A report</title>", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", home / "site"],
        cwd=ROOT,
        env={
            **os.environ,
            "SDB_EXAMPLE_REPORT": str(report),
            "NO_MKDOCS_2_WARNING": "1",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return home / "site"


def test_every_page_is_two_clicks_away(site: Path) -> None:
    def linked(path: Path) -> set[Path]:
        targets = (link.partition("#")[0] for link in read(path).links if ":" not in link)
        return {(path.parent / t).resolve() for t in targets if t.endswith(".html")}

    first = linked(site / "index.html")
    near = first | {page for one in first if one.is_file() for page in linked(one)}
    there = {p.resolve() for p in site.rglob("*.html") if p.name != "404.html"}
    assert there <= near | {(site / "index.html").resolve()}
    names = {path.stem for path in there}
    assert {p.stem for p in pages() if p.is_relative_to(ROOT / "docs")} - {"README"} <= names
    assert {"python-api", "report-example", "changelog"} <= names


def test_links_and_what_pages_load_are_there_and_nothing_comes_from_elsewhere(site: Path) -> None:
    found = {path.resolve(): read(path) for path in site.rglob("*.html") if path.name != "404.html"}
    missing = []
    for path, one in found.items():
        assert not {load for load in one.loads if "://" in load}, path
        for link in (*one.links, *one.loads):
            if ":" in link:
                continue
            target, _, name = link.partition("#")
            file = (path.parent / target).resolve() if target else path
            if not file.exists() or (name and file in found and name not in found[file].names):
                missing.append((path.name, link))
    assert missing == []


def test_docstrings_are_there_with_their_examples_as_code(site: Path) -> None:
    text = (site / "reference" / "python-api.html").read_text(encoding="utf-8")
    assert "Counts the seconds of every class" in text
    assert "<blockquote>" not in text


def test_llms_txt_lists_every_markdown_source(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    for path in pages():
        if path.is_relative_to(ROOT / "docs"):
            name = path.relative_to(ROOT / "docs").as_posix()
            assert f"]({name})" in text
            assert (site / name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
