"""The main program of every figure script: reads results, writes FIGURE.png, FIGURE.pdf, FIGURE.small.png and
FIGURE.json, and prints the checks.

A script defines TITLE, CAPTION, runs(full) -> list of Run, and draw(records, full) -> Drawing.
"""
import argparse
import json
import pathlib
import sys
from dataclasses import asdict, dataclass, field

from PIL import Image

import legends
import page
from record import Records
from runs import ANALYSIS
from style import PRINT_DPI, plt, rasterize

WIDEST, LEAST_HEIGHT = 7.7, 0.72  # inches (8 with the saved margin); minimum factor by which the height shrinks
SMALL = (400, 260)  # pixels


@dataclass
class Table:
  title: str
  header: list
  rows: list


@dataclass
class Drawing:
  figure: object
  checks: list = field(default_factory=list)
  tables: list = field(default_factory=list)


def save(canvas, path):
  """Saves the figure at most WIDEST inches wide, so that a page shows it at full size, as PNG, as PDF with the same
  layout, and as a small NAME.small.png. Raises page.TextError if a text cannot be read."""
  width, height = canvas.get_size_inches()
  if width > WIDEST:
    canvas.set_size_inches(WIDEST, height * max(WIDEST / width, LEAST_HEIGHT))
  legends.settle(canvas)
  canvas.draw_without_rendering()
  canvas.set_layout_engine("none")  # the layout that was just made is kept for all files
  box = page.page_of(canvas)
  page.check(canvas, box)
  canvas.savefig(path, bbox_inches=box)
  rasterize(canvas)
  canvas.savefig(path.with_suffix(".pdf"), bbox_inches=box, dpi=PRINT_DPI, metadata={"CreationDate": None})
  with Image.open(path) as image:
    small = image.convert("RGB")
    small.thumbnail(SMALL)
    small.save(path.with_suffix(".small.png"))


def main(script):
  """Draws the figure of one script. The exit code is 0 if all checks pass, otherwise 1."""
  arguments = argparse.ArgumentParser(description=script["TITLE"])
  arguments.add_argument("--data", type=pathlib.Path, default=ANALYSIS / "out" / "data", help="folder of results")
  arguments.add_argument("--out", type=pathlib.Path, default=ANALYSIS / "out" / "figures", help="folder for the figures")
  arguments.add_argument("--full", action="store_true", help="also use the smallest steps")
  options = arguments.parse_args()
  options.out.mkdir(parents=True, exist_ok=True)
  name = pathlib.Path(script["__file__"]).stem
  drawing = script["draw"](Records(options.data), options.full)
  save(drawing.figure, options.out / f"{name}.png")
  plt.close(drawing.figure)
  result = {"name": name, "title": script["TITLE"], "caption": script["CAPTION"],
            "runs": [[run.scenario, run.text] for run in script["runs"](options.full)],
            "checks": [asdict(c) for c in drawing.checks], "tables": [asdict(t) for t in drawing.tables]}
  (options.out / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False))
  json.dump({"name": name, "checks": result["checks"]}, sys.stdout, indent=1, ensure_ascii=False)
  print()
  sys.exit(0 if all(c.passed for c in drawing.checks) else 1)
