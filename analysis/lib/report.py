"""The report: one HTML page that needs nothing else, images and styles included."""
import base64
import datetime
import html
import pathlib

from runs import SCENARIOS

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 2.5em; border-top: 1px solid #ccc; padding-top: 1em; }
img { max-width: 100%; } pre { background: #f6f6f6; padding: .7em; overflow-x: auto; font-size: 13px; }
table { border-collapse: collapse; margin: 1em 0; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ddd; padding: .2em .7em; text-align: left; } th { background: #f2f2f2; }
.wide { overflow-x: auto; } .pass { color: #00624a; } .fail { color: #b03a00; font-weight: bold; }
details { margin: .4em 0; } summary { cursor: pointer; color: #0059a0; }
"""


def text(words):
  return html.escape(str(words))


def cells(row, tag="td"):
  return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>"


def table(header, rows):
  return f"<div class=wide><table>{cells(header, 'th')}{''.join(cells(r) for r in rows)}</table></div>"


def verdict(passed):
  return "<span class=pass>✓ pass</span>" if passed else "<span class=fail>✗ FAIL</span>"


def summary(figures):
  rows = []
  for figure in figures:
    good = sum(c["passed"] for c in figure["checks"])
    rows.append([verdict(good == len(figure["checks"])), f"{good} of {len(figure['checks'])}",
                 f"<a href='#{figure['name']}'>{text(figure['title'])}</a>"])
  return table(["", "checks", "figure"], rows)


def scenarios(runs):
  """Each scenario of a figure in full, with the commands that ran it."""
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


def section(figure, folder):
  image = pathlib.Path(folder) / f"{figure['name']}.png"
  parts = [f"<h2 id='{figure['name']}'>{text(figure['title'])}</h2>"]
  if image.exists() and "error" not in figure:
    data = base64.b64encode(image.read_bytes()).decode()
    parts.append(f"<img alt='{text(figure['title'])}' src='data:image/png;base64,{data}'>")
  parts.append(f"<p>{text(figure['caption'])}</p>")
  if "error" in figure:
    parts.append(f"<pre>{text(figure['error'])}</pre>")
  for t in figure["tables"]:
    rows = [[text(cell) for cell in row] for row in t["rows"]]
    parts.append(f"<h3>{text(t['title'])}</h3>" + table(map(text, t["header"]), rows))
  rows = [[verdict(c["passed"]), text(c["claim"]), text(c["measured"]), text(c["criterion"])] for c in figure["checks"]]
  parts.append(f"<details open><summary>checks</summary>{table(['', 'claim', 'measured', 'wanted'], rows)}</details>")
  return "".join(parts) + scenarios(figure["runs"])


def write(path, figures, folder, failed, facts):
  """Writes the page. figures: results of the figure scripts; failed: {run: error text}; facts: words for the head."""
  good = sum(c["passed"] for f in figures for c in f["checks"])
  total = sum(len(f["checks"]) for f in figures)
  lines = "".join(f"<li><b>{text(run.name)}</b><pre>{text(error)}</pre></li>" for run, error in failed.items())
  today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
  path.write_text(f"""<!doctype html>
<html lang=en><meta charset=utf-8><title>curvebody: validation</title><style>{STYLE}</style>
<h1>curvebody: validation in curved spaces and in fluids</h1>
<p>{text(facts['program'])}, {text(facts['mode'])} mode, {today}, {text(facts['seconds'])} s. Every figure
is drawn from what <code>curvebody run</code> and <code>curvebody gait</code> wrote; the exact answers are reduced
equations solved in extended precision (<code>analysis/reference</code>). The thesis's published code is
github.com/bday336/curved_space_dynamics_solver.</p>
<p>{verdict(good == total and not failed)} {good} of {total} checks pass, {len(failed)} runs failed.</p>
{summary(figures)}{f'<h2>Runs that failed</h2><ul>{lines}</ul>' if failed else ''}
{''.join(section(f, folder) for f in figures)}</html>
""")
