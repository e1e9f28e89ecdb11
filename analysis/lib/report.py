"""The report: one HTML page, grouped by subject, with its figures in files next to it. It needs no network.

    report.html    figures/NAME.png, NAME.pdf and NAME.small.png    views/NAME.html, one per subject
"""
import datetime
import html
import pathlib

from PIL import Image

from runs import SCENARIOS, Best, Run
from style import DPI

# Settings of one member of the sweep over starts of a double pendulum, in which the pendulum turns over.
SWEPT = ("system.parameters={m1: 1, m2: 1, l1: 1, l2: 1, g: 1}", "system.position=[2.5, 1.5]",
         "integrator={name: rk4, step: 0.05}", "time={end: 60}", "record={every: 1, observables: [energy]}")
# Subjects in the order of the report: title, folders of the scenarios that belong to it, and the runs that are shown as
# pages of `curvebody view`.
SUBJECTS = (
    ("Bodies in curved spaces", ("thesis", "basics"), (Run("basics/kepler-h3"),)),
    ("Rigid bodies and constraints", ("rigid", "constraints"), (Run("rigid/tetrahedron-s3"),)),
    ("Spaces", ("spaces",), (Run("spaces/thrown-h2xe"),)),
    ("Networks", ("networks",), (Run("networks/shell-h3"),)),
    ("Configuration spaces", ("systems",), (Run("systems/hopping-leg"),)),
    ("Collisions", ("collisions",), (Run("collisions/gas-s3"),)),
    ("Bodies in a fluid", ("immersed", ""), (Run("immersed/paper-copter"),)),
    ("Bodies and particles together", ("coupled",), (Run("coupled/rod"),)),
    ("Bodies that feel each other through a fluid", ("coupling",), (Run("coupling/drafting"),)),
    ("Joined bodies", ("joints",), (Run("joints/robot-fish"), Run("joints/fly-sprung"))),
    ("Fluids that fill a curved space", ("curved-fluid",), (Run("curved-fluid/clifford"),)),
    ("Locomotion by shape", ("locomotion",), (Run("locomotion/floating-snake", ("gait.repeat=4",)),)),
    ("Shapes that move by themselves", ("shape",), (Run("shape/fish-tail"),)),
    ("Optimal gaits", ("optimum",), (Best("optimum/purcell", ("gait.repeat=10",)),)),
    ("Sweeps", ("sweeps",), (Run("systems/double-pendulum", SWEPT),)),
)
CSS = 96  # pixels of a page per inch

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1040px; margin: 1em auto; padding: 0 12px; color: #222; }
h1 { font-size: 1.5em; line-height: 1.25; } h2 { font-size: 1.35em; margin-top: 2em; border-bottom: 2px solid #0072b2; }
h3 { font-size: 1.1em; margin-top: 2em; } h4 { margin: 1em 0 .3em; }
p { overflow-wrap: anywhere; } pre { background: #f6f6f6; padding: .7em; overflow-x: auto; font-size: 13px; }
table { border-collapse: collapse; margin: .6em 0; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ddd; padding: .2em .7em; text-align: left; } th { background: #f2f2f2; }
.wide { overflow-x: auto; } .wide img { display: block; max-width: 100%; height: auto; }
.pass { color: #00624a; } .fail { color: #b03a00; font-weight: bold; }
details { margin: .4em 0; } summary { cursor: pointer; color: #0059a0; overflow-wrap: anywhere; }
nav { position: sticky; top: 0; background: #fff; padding: .5em 0; z-index: 1; border-bottom: 1px solid #ccc; }
nav input[type=search] { font: inherit; width: 16em; max-width: 55%; padding: .2em .5em; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(170px, 1fr)); gap: 10px; }
.cards a { border: 1px solid #ccc; border-radius: 6px; padding: 6px; color: inherit; text-decoration: none;
  font-size: 13px; line-height: 1.3; } .cards a:hover, .cards a:focus { border-color: #0072b2; }
.cards img { display: block; width: 100%; height: 110px; object-fit: contain; margin-bottom: 4px; }
section { scroll-margin-top: 4em; } iframe { width: 100%; height: 560px; max-height: 80vh; border: 1px solid #ccc; }
[hidden] { display: none !important; }
"""

# Shows the figures that contain every typed word, and hides a subject without any such figure.
SCRIPT = """
const words = document.getElementById("words"), failed = document.getElementById("failed"),
      count = document.getElementById("count"), all = [...document.querySelectorAll("[data-words]")];
function filter() {
  const wanted = words.value.toLowerCase().split(/\\s+/).filter(w => w);
  for (const e of all)
    e.hidden = !wanted.every(w => e.dataset.words.includes(w)) || (failed.checked && e.dataset.failed == "0");
  for (const group of document.querySelectorAll("[data-group]"))
    group.hidden = !group.querySelector("[data-words]:not([hidden])");
  const cards = all.filter(e => e.tagName == "A");
  count.textContent = cards.filter(e => !e.hidden).length + " of " + cards.length + " figures";
}
words.addEventListener("input", filter);
failed.addEventListener("change", filter);
filter();
// `loading` is not enough: browsers load a frame of a local page long before it is visible.
const near = new IntersectionObserver(found => {
  for (const e of found) if (e.isIntersecting) { e.target.src = e.target.dataset.src; near.unobserve(e.target); }
}, {rootMargin: "600px"});
for (const frame of document.querySelectorAll("iframe")) near.observe(frame);
"""


def text(words):
  return html.escape(str(words))


def cells(row, tag="td"):
  return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>"


def table(header, rows):
  return f"<div class=wide><table>{cells(header, 'th')}{''.join(cells(r) for r in rows)}</table></div>"


def pass_mark(passed):
  return "<span class=pass>✓ pass</span>" if passed else "<span class=fail>✗ FAIL</span>"


def counted(figure):
  """Number of checks that pass, and number of all checks."""
  return sum(c["passed"] for c in figure["checks"]), len(figure["checks"])


def subject(figure):
  """The subject of a figure: that of most of its runs, by their folders. Surfaces without a file count as fluid."""
  names = [name for name, _, _ in SUBJECTS]
  folders = {folder: name for name, kept, _ in SUBJECTS for folder in kept}
  found = ["Sweeps" if command.startswith("curvebody sweep") else
           folders.get(scenario.split("/")[0] if "/" in scenario else "", names[0])
           for scenario, command in figure["runs"]]
  return max(names, key=found.count) if found else names[0]


def scenarios(runs):
  """The text of each scenario of a figure, with the commands that ran it."""
  typed = {}
  for scenario, command in runs:
    typed.setdefault(scenario, []).append(command)
  parts = []
  for scenario, variants in typed.items():
    commands = text("\n".join(variants))
    path = SCENARIOS / f"{scenario}.yaml"
    source = f"<pre>{text(path.read_text())}</pre>" if path.exists() else ""
    parts.append(f"<details><summary>{text(scenario)}{'.yaml' if source else ''}, runs: {len(variants)}</summary>"
                 f"{source}<pre>{commands}</pre></details>")
  return "".join(parts)


def marks(figure):
  """The attributes that the filter of the page reads."""
  said = " ".join([figure["title"], figure["caption"], figure["name"], subject(figure)] +
                  [scenario for scenario, _ in figure["runs"]]).lower()
  good, total = counted(figure)
  return f'data-words="{text(" ".join(dict.fromkeys(said.split())))}" data-failed={total - good}'


def drawn(figure, folder):
  return "error" not in figure and (pathlib.Path(folder) / f"{figure['name']}.png").exists()


def picture(figure, folder):
  """The image of a figure at its own size, and a link to its PDF. On a narrow page the image shrinks to 80 % of that
  and then scrolls sideways."""
  with Image.open(pathlib.Path(folder) / f"{figure['name']}.png") as image:
    width, height = (round(side * CSS / DPI) for side in image.size)
  stem = f"{pathlib.Path(folder).name}/{figure['name']}"
  return (f"<div class=wide><img loading=lazy alt='{text(figure['title'])}' width={width} height={height} "
          f"style='min-width:{0.8 * width:.0f}px' src='{stem}.png'></div><p><a href='{stem}.pdf'>PDF</a></p>")


def card(figure, folder):
  good, total = counted(figure)
  name = pathlib.Path(folder).name
  image = (f"<img loading=lazy alt='' src='{name}/{figure['name']}.small.png'>" if drawn(figure, folder) else "")
  return (f"<a href='#{figure['name']}' {marks(figure)}>{image}{pass_mark(good == total)} {good} of {total}<br>"
          f"{text(figure['title'])}</a>")


def section(figure, folder):
  good, total = counted(figure)
  parts = [f"<section id='{figure['name']}' {marks(figure)}><h3>{text(figure['title'])}</h3>"]
  if drawn(figure, folder):
    parts.append(picture(figure, folder))
  parts.append(f"<p>{text(figure['caption'])}</p>")
  if "error" in figure:
    parts.append(f"<pre>{text(figure['error'])}</pre>")
  for t in figure["tables"]:
    rows = [[text(cell) for cell in row] for row in t["rows"]]
    parts.append(f"<h4>{text(t['title'])}</h4>" + table(map(text, t["header"]), rows))
  rows = [[pass_mark(c["passed"]), text(c["claim"]), text(c["measured"]), text(c["criterion"])] for c in figure["checks"]]
  parts.append(f"<details{'' if good == total else ' open'}><summary>{good} of {total} checks pass</summary>"
               f"{table(['', 'claim', 'measured', 'wanted'], rows)}</details>")
  return "".join(parts) + scenarios(figure["runs"]) + "</section>"


def shown(view):
  """A page of `curvebody view` in the report, which is loaded when it becomes visible. view: (path, command)."""
  path, command = view
  return (f"<h3>Interactive view</h3><p><a href='{text(path)}'>Open this view on its own page</a>: "
          f"<code>{text(command)}</code></p><iframe loading=lazy title='{text(command)}' data-src='{text(path)}'></iframe>")


def write(path, figures, folder, failed, facts, views):
  """Writes the page. figures: results of the figure scripts, with images in `folder` next to the page; failed: {run: error
  text}; facts: texts for the head; views: {subject: [(path from the page,
  command of the run)]}."""
  good, total = (sum(n) for n in zip(*map(counted, figures)))
  lines = "".join(f"<li><b>{text(run.name)}</b><pre>{text(error)}</pre></li>" for run, error in failed.items())
  today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
  groups = [(name, [f for f in figures if subject(f) == name]) for name, _, _ in SUBJECTS]
  groups = [(name, kept) for name, kept in groups if kept]
  index = "".join(f"<div data-group><h4>{text(name)}</h4>"
                  f"<div class=cards>{''.join(card(f, folder) for f in kept)}</div></div>" for name, kept in groups)
  body = "".join(f"<div data-group><h2>{text(name)}</h2>{''.join(map(shown, views[name]))}"
                 f"{''.join(section(f, folder) for f in kept)}</div>" for name, kept in groups)
  path.write_text(f"""<!doctype html>
<html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width, initial-scale=1">
<title>curvebody: validation</title><style>{STYLE}</style>
<h1>curvebody: validation in curved spaces and in fluids</h1>
<p>{text(facts['program'])}, {text(facts['mode'])} mode, {today}, {text(facts['seconds'])} s. Every figure
is drawn from files that <code>curvebody run</code> and <code>curvebody gait</code> wrote. The exact solutions are
solutions of reduced equations in extended precision (<code>analysis/reference</code>). The thesis's published code is
github.com/bday336/curved_space_dynamics_solver.</p>
<p>{pass_mark(good == total and not failed)} {good} of {total} checks pass, {len(failed)} runs failed.</p>
{f'<h2>Runs that failed</h2><ul>{lines}</ul>' if failed else ''}
<nav><input type=search id=words placeholder="filter: seed, sphere, H3 …" aria-label="filter figures by words">
<label><input type=checkbox id=failed> failed only</label> <span id=count></span></nav>
{index}{body}<script>{SCRIPT}</script></html>
""")
