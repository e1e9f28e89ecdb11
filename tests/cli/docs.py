#!/usr/bin/python3
"""Checks the documentation: every block of README.md and of analysis/docs runs and prints the output on the page, every link
and every path of a source file exists, and every parameter has a text. The program is the one that `cmake --install`
installs. analysis/docs/blocks.py describes the blocks.
needs: view"""
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path[:0] = [os.path.join(ROOT, "analysis/docs"), os.path.dirname(os.path.abspath(__file__))]
import blocks
import links
from command import BINARY, Case, main

PAGES = [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "analysis/docs/*.md")))]
TEXTS = PAGES + [os.path.join(ROOT, name) for name in ("CONTRIBUTING.md", "CHANGELOG.md", "analysis/README.md")]
SOURCES = re.compile(r"`((?:src|bodies|geometries|integrators|tests|analysis)/[a-z0-9_./-]+)`")


def environment(prefix):
    lib = os.path.dirname(os.path.dirname(glob.glob(os.path.join(prefix, "**/curvebody.pc"), recursive=True)[0]))
    return os.environ | {
        "PATH": os.path.join(prefix, "bin") + ":" + os.environ["PATH"], "PKG_CONFIG_PATH": os.path.join(lib, "pkgconfig"),
        "LD_LIBRARY_PATH": lib, "CMAKE_PREFIX_PATH": prefix, "MPLBACKEND": "Agg",
        "PYTHONPATH": os.path.join(prefix, "lib/python3/dist-packages")}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Blocks(Case):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tempfile.mkdtemp(prefix="curvebody-")
        cls.addClassCleanup(shutil.rmtree, cls.prefix, ignore_errors=True)
        subprocess.run(["cmake", "--install", os.path.dirname(BINARY), "--prefix", cls.prefix], check=True, capture_output=True)
        cls.environment = environment(cls.prefix)


def of_page(path):
    def test(self):
        blocks.Page(path, self.folder, ROOT, self.environment).run()
    return test


for page in PAGES:
    setattr(Blocks, "test_" + re.sub(r"\W", "_", os.path.relpath(page, ROOT)[:-3]).lower(), of_page(page))


class Pages(Case):
    def test_links(self):
        self.assertEqual({os.path.relpath(p, ROOT): b for p in TEXTS if (b := links.broken_links(p))}, {})

    def test_paths_of_sources(self):
        for page in TEXTS:
            with open(page, encoding="utf-8") as file:
                named = {path for path in SOURCES.findall(file.read()) if not path.startswith("analysis/out")}
            self.assertEqual([path for path in sorted(named) if not os.path.exists(os.path.join(ROOT, path))], [], page)

    def test_the_citation_has_the_version(self):
        version = self.good("--version").stdout.split()[1]
        with open(os.path.join(ROOT, "CITATION.cff"), encoding="utf-8") as file:
            self.assertIn(f"version: {version}", file.read().splitlines())

    def test_parameters_have_texts(self):
        listed = json.loads(self.good("list", "--json").stdout)
        without = [f"{kind}: {item['name']}.{p['name']}" for kind, items in listed.items() for item in items
                   for p in item.get("parameters", []) if not p["doc"].strip()]
        self.assertEqual(without, [])
        self.assertGreater(sum(len(item.get("parameters", [])) for items in listed.values() for item in items), 400)

    def test_a_wrong_number_is_seen(self):
        self.assertTrue(blocks.line_matches("x 1.25 ... of h3", "x  1.2583 and so on of h3", 0))
        self.assertFalse(blocks.line_matches("x 1.25", "x 1.27", 0))
        self.assertFalse(blocks.line_matches("of h3", "of h2", 0))
        self.assertFalse(blocks.matches(["a", "...", "b"], ["a", "c"], 0))
        self.assertTrue(blocks.matches(["a", "...", "b 1e3"], ["a", "c", "b 1001"], 1e-2))

    def build(self, *more):
        """Builds the pages and returns the folder; skips the test if Sphinx is missing."""
        if any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser")):
            self.skipTest("no python3-sphinx or python3-myst-parser")
        out = self.path("out")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "analysis/docs/build"), out, "--program", BINARY,
                               "--no-views", *more], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return out

    def test_the_build_links_every_page_and_finds_words(self):
        """Builds all pages without the gallery's runs. The reference must have every key, each page the contents and the
        search, and no link may be broken."""
        less = [] if shutil.which("doxygen") else ["--no-headers"]
        out = self.build(*less)
        for header in [] if less else glob.glob(os.path.join(ROOT, "src/curvebody/*.h")):
            name = os.path.basename(header)[:-2].replace("_", "__") + "_8h.html"  # doxygen's name of the page
            self.assertTrue(os.path.exists(os.path.join(out, "api", name)), name)
        listed = json.loads(self.good("list", "--json").stdout)
        reference = read(os.path.join(out, "reference.html"))
        for kind, items in listed.items():
            for item in items:
                self.assertIn(f'id="{kind}-{item["name"]}"', reference)
        rows = len(re.findall("<tr", reference)) - reference.count("<thead>")
        self.assertEqual(rows, sum(len(item.get("parameters", [])) for items in listed.values() for item in items))
        pages = {os.path.basename(page)[:-3] for page in PAGES[1:]} - {"README"} | {"index", "gallery", "reference"}
        self.check_contents(out, pages)
        self.check_links(out, pages, less)
        index = json.loads(read(os.path.join(out, "searchindex.js"))[len("Search.setIndex("):].rstrip(" \n;)"))
        for stem, page in ("holonomi", "locomotion"), ("checkpoint", "record"), ("restitut", "reference"):
            found = [index[terms].get(stem, []) for terms in ("terms", "titleterms")]  # lists, or one number
            self.assertIn(str(index["docnames"].index(page)), re.findall(r"\d+", str(found)), stem)

    def check_contents(self, out, pages):
        """Each page lists all pages in their groups, its own headings and a field for the search."""
        for page in pages:
            text = read(os.path.join(out, page + ".html"))
            side = text[text.index('<div class="sphinxsidebar"'):]
            self.assertIn('action="search.html"', side)
            manual = side[side.index('<nav class="manual">'):]
            for other in pages - {page, "index"}:
                self.assertIn(f'href="{other}.html"', manual, page)
            self.assertEqual(re.findall(r'class="caption-text">(\w+)<', manual), ["Tutorials", "Manual", "Development", "Reference"])
            headings = set(re.findall(r'<section id="([^"]+)">\s*(?:<span[^>]*></span>)*\s*<h2', text))
            listed = side[:side.index('<nav class="manual">')]
            self.assertEqual([h for h in headings if f'href="#{h}"' not in listed], [], page)

    def check_links(self, out, pages, less):
        for page in pages:
            for link in re.findall(r'(?:href|src)="([^"]*)"', read(os.path.join(out, page + ".html"))):
                name, _, place = link.partition("#")
                if re.match(r"[a-z]+:", link) or less and name == "api/index.html":
                    continue
                target = read(os.path.join(out, name.partition("?")[0] or page + ".html"))
                self.assertTrue(not place or f'id="{place}"' in target, f"{page}: {link}")


if __name__ == "__main__":
    main()
