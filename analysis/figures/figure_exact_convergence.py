#!/usr/bin/python3
"""The exact added mass over the number of faces, and the reported error compared with the true one."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import kirchhoff
import surfaces
from checks import at_most, between
from runs import Inertia
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, panels

TITLE = "The exact added mass: convergence, and the reported error"
CAPTION = ("Left: largest error of K_v divided by the largest K_v, on given faces (`--error none`), over their number: "
           "constant panels on solids, vortex rings on sheets (their thickness is zero; their error changes sign "
           "between two marks, as that of the thin ellipsoid will). Middle: the same for K_ω. The grey lines fall as "
           "the square of a face's size; edges make the convergence slower. Right: for solids whose faces `--error E` "
           "refines, the reported error over the true error, relative to the largest K_v; for rotations relative to "
           "that times the mean square distance of the surface from its centre. All are above the line of equality. "
           "True values: closed forms for ellipsoids and the disc; for the cube the polarisability of Sihvola et al. "
           "(2004, doi:10.1109/TAP.2004.834081); for the square plate the vortex rings of `reference/kirchhoff.py`.")
CUBE = 0.6383  # -1 minus the polarisability -1.6383, per volume, of a cube that no field enters
DISC = (np.array([0, 0, 8 / 3]), np.array([16 / 45, 16 / 45, 0]))
BODIES = {"sphere": ("ellipsoid", BLACK), "3:2:1": ("ellipsoid:a=3,b=2", BLUE), "10:1:1": ("ellipsoid:a=10", SKY),
          "1:1:0.1": ("ellipsoid:c=0.1", GREEN), "cube": ("box", VERMILION), "disc (sheet)": ("disc:radius=1", ORANGE),
          "square plate (sheet)": ("plate", PURPLE)}
SHEETS = ("disc (sheet)", "square plate (sheet)")
AXES = {"sphere": (1, 1, 1), "3:2:1": (3, 2, 1), "10:1:1": (10, 1, 1), "1:1:0.1": (1, 1, 0.1)}
ORDERS = {"sphere": (1.9, 2.1), "3:2:1": (1.9, 2.1), "10:1:1": (1.8, 2.2), "cube": (1, 1.4)}  # the cube's edges: 4/3
COMMON = ("--added-mass", "exact", "--fluid", "1")


def raw_run(name, resolution):
  shape = BODIES[name][0]
  resolution //= 2 if name == "10:1:1" else 1  # it needs many faces around its length
  sheet = ("--thickness", "1e-3") if name in SHEETS else ()
  return Inertia(f"{shape}{',' if ':' in shape else ':'}resolution={resolution}", COMMON + sheet + ("--error", "none"))


def error_run(name, error):
  return Inertia(BODIES[name][0], COMMON + ("--error", error))


def resolutions(full):
  return (16, 24, 32, 48, 64) + ((96, 128) if full else ())


def errors(full):
  return ("5e-2", "2e-2", "5e-3") + (("2e-3", "1e-3") if full else ())


def solids():
  return [name for name in BODIES if name not in SHEETS]


def runs(full):
  return [raw_run(name, n) for name in BODIES for n in resolutions(full)] + \
      [error_run(name, e) for name in solids() for e in errors(full)]


def wanted():
  """{body: (K_v, K_omega)}; None if there is no reference."""
  plate = np.array([0, 0, kirchhoff.plate(1, 1, 32)])
  return {name: kirchhoff.ellipsoid(a) for name, a in AXES.items()} | \
      {"disc (sheet)": DISC, "cube": (np.full(3, CUBE), None), "square plate (sheet)": (plate, None)}


def error_of(answer, reference):
  """Largest error of the diagonal divided by its largest entry: (K_v, K_omega), None without a reference."""
  K = np.diag(answer["added_mass"])
  return [float(np.max(np.abs(found - true)) / np.max(true)) if true is not None and np.max(true) > 0 else None
          for found, true in zip((K[3:], K[:3]), reference)]


def of_told(name, answer, reference):
  """The true error in the units of the reported one: for K_v relative to the largest K_v, for K_omega relative to that times
  the mean square distance of the surface from its centre."""
  if name == "cube":
    square = 0.25 + 2 / 12
  else:
    _, c, area, _ = kirchhoff.faces_of(*surfaces.ellipsoid(AXES[name], 40, 80))
    square = float(area @ np.sum(c * c, axis=1) / area.sum())
  unit = np.max(reference[0])
  K = np.diag(answer["added_mass"])
  linear, angular = reference
  return float(max(np.max(np.abs(K[3:] - linear)) / unit,
                   0 if angular is None else np.max(np.abs(K[:3] - angular)) / (unit * square)))


def draw(records, full):
  canvas, ((linear, angular, told),) = panels(1, 3, 4.9, 4.2)
  reference, checks, rows = wanted(), [], []
  for name, (_, colour) in BODIES.items():
    answers = [records.answer(raw_run(name, n)) for n in resolutions(full)]
    faces = np.array([a["added_mass_of"]["faces"] for a in answers])
    kinds = np.array([[e if e is not None else np.nan for e in error_of(a, reference[name])] for a in answers])
    for ax, e in zip((linear, angular), kinds.T):
      if not np.isnan(e).any():
        ax.loglog(faces, e, "--s" if name in SHEETS else "-o", color=colour, label=name, markersize=4)
    if name in ORDERS:
      order = -2 * np.polyfit(np.log(faces[-3:]), np.log(kinds[-3:, 0]), 1)[0]
      checks.append(between(f"{name}: order of K_v in the size of a face, last three", order, *ORDERS[name]))
    at = int(np.argmin(np.abs(np.log(faces / 1000))))
    rows.append([name, int(faces[at]), f"{100 * kinds[at, 0]:.3f}"] +
                ([f"{100 * kinds[at, 1]:.3f}"] if not np.isnan(kinds[at, 1]) else [""]))
    checks.append(at_most(f"{name}, {faces[at]} faces: error of K_v", float(kinds[at, 0]),
                          0.035 if name == "cube" else 0.015))
  for ax, symbol in ((linear, "K_v"), (angular, "K_\\omega")):
    n = np.array([100, 2500])
    ax.loglog(n, 2 / n, color=GREY, linewidth=1)
    ax.set(xlabel="faces", ylabel=f"error of ${symbol}$ / largest entry", ylim=(1e-5, 0.5))
  linear.legend(fontsize=7.5, loc="lower left", ncols=2)
  checks += draw_told(told, records, full, reference)
  table = figure.Table("Around a thousand faces, without refinement", ["body", "faces", "error of K_v (%)", "error of K_ω (%)"],
                       rows)
  return figure.Drawing(canvas, checks, [table])


def draw_told(ax, records, full, reference):
  checks = []
  for name in solids():
    ratios = []
    for asked in errors(full):
      answer = records.answer(error_run(name, asked))
      true = of_told(name, answer, reference[name])
      says = answer["added_mass_of"]["error"]
      ratios.append(says / true)
      checks.append(at_most(f"{name}, --error {asked}: reported error / given error", says / float(asked), 1))
      ax.loglog(true, says, "o", color=BODIES[name][1], label=name if asked == errors(full)[0] else None)
    checks.append(between(f"{name}: reported error / true error", ratios, 1, np.inf))
  line = np.array([1e-5, 0.1])
  ax.loglog(line, line, color=GREY, linewidth=1)
  ax.set(xlabel="true error", ylabel="told error", xlim=(1e-5, 0.1), ylim=(1e-5, 0.1))
  ax.legend(loc="lower right")
  return checks


if __name__ == "__main__":
  figure.main(globals())
