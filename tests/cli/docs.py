#!/usr/bin/python3
"""Checks the documentation: every block of README.md and of analysis/docs runs and prints the output on the page, every link
and every path of a source file exists, and every parameter has a text. The program is the one that `cmake --install`
installs. analysis/docs/blocks.py describes the blocks.
needs: view"""
import glob
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

    def test_the_build(self):
        """Builds all pages without the gallery's runs. The reference must have every parameter, and no link may be broken."""
        if not shutil.which("pandoc"):
            self.skipTest("no pandoc")
        out = self.path("out")
        less = [] if shutil.which("doxygen") else ["--no-headers"]
        subprocess.run([os.path.join(ROOT, "analysis/docs/build"), out, "--program", BINARY, "--no-views", *less], check=True,
                       capture_output=True)
        for header in [] if less else glob.glob(os.path.join(ROOT, "src/curvebody/*.h")):
            name = os.path.basename(header)[:-2].replace("_", "__") + "_8h.html"  # doxygen's name of the page
            self.assertTrue(os.path.exists(os.path.join(out, "api", name)), name)
        with open(os.path.join(out, "reference.html"), encoding="utf-8") as file:
            reference = file.read()
        listed = json.loads(self.good("list", "--json").stdout)
        for kind, items in listed.items():
            for item in items:
                self.assertIn(f'id="{kind}-{item["name"]}"', reference)
        self.assertEqual(reference.count('class="parameter"'),
                         sum(len(item.get("parameters", [])) for items in listed.values() for item in items))
        pages = {os.path.basename(page)[:-3] for page in PAGES[1:]} - {"README"} | {"index", "gallery", "reference"}
        for page in pages:
            with open(os.path.join(out, page + ".html"), encoding="utf-8") as file:
                text = file.read()
            for link in re.findall(r'(?:href|src)="([^"]*)"', text):
                name, _, place = link.partition("#")
                if re.match(r"[a-z]+:", link) or less and name == "api/index.html":
                    continue
                with open(os.path.join(out, name or page + ".html"), "rb") as file:
                    self.assertTrue(not place or f'id="{place}"'.encode() in file.read(), f"{page}: {link}")


if __name__ == "__main__":
    main()
