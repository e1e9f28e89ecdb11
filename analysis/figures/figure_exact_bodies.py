#!/usr/bin/python3
"""Added mass of 24 bodies: local model divided by exact model, on the same faces."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import kirchhoff
import surfaces
from checks import at_least, at_most, between, near
from runs import Inertia
from sinking import hat, local
from style import BLUE, GREY, ORANGE, PURPLE, panels

TITLE = "Added mass of 24 bodies: local model divided by exact model"
CAPTION = ("Diagonal of the added mass at the centre of mass: local model divided by the exact model on the same faces "
           "(`curvebody inertia BODY --added-mass local`, and `--added-mass exact --error none`). Left: K_v, right: "
           "K_ω; shape and colour show x, y, z. Grey: 0.5 to 2. Entries smaller than 5 % of the largest one of the "
           "same kind are omitted. Sheets have no thickness. For translations the local model has an error of a third "
           "to a half. For rotations it is usually too large, by a factor up to 3.5, most for bodies that would be "
           "round without their edges.")
SHEET = ("--thickness", "1e-3")
BODIES = (("sphere", "ellipsoid"), ("ellipsoid 3:1:1", "ellipsoid:a=3"), ("ellipsoid 10:1:1", "ellipsoid:a=10,"
          "resolution=24"), ("ellipsoid 3:2:1", "ellipsoid:a=3,b=2"), ("ellipsoid 1:1:0.1", "ellipsoid:c=0.1"),
          ("cube", "box:resolution=48"), ("box 4:2:1", "box:a=2,c=0.5,resolution=48"), ("capsule", "capsule"),
          ("cylinder 2 × 2", "cylinder"), ("cylinder 2 × 8", "cylinder:length=8"), ("torus 1, 0.5", "torus"),
          ("torus 1, 0.2", "torus:tube=0.2,resolution=64"), ("coin 10:1", "disc:radius=1,thickness=0.2"),
          ("slab 10:10:1", "plate:thickness=0.1,resolution=64"), ("twisted bar", "twisted_bar"),
          ("propeller", "propeller"), ("fish", "fish"), ("eel", "eel"), ("turtle", "turtle"),
          ("stone", "immersed/stone.obj"), ("rabbit", "immersed/rabbit.obj"), ("disc (sheet)", "disc:radius=1,"
          "resolution=96"), ("plate 3:1 (sheet)", "plate:length=3,resolution=48"), ("leaf (sheet)", "leaf"))
MESHES = {"stone": surfaces.stone, "rabbit": surfaces.rabbit}
# Local divided by exact value, from the local model's integrals and closed forms: for the largest K_v, and for K_omega
# about y.
KNOWN = {"sphere": (0.998, None), "ellipsoid 3:1:1": (0.96, 1.39), "ellipsoid 1:1:0.1": (0.77, None),
         "disc (sheet)": (0.75, 1.40)}
LEAST = 0.05
MARKS = ((BLUE, "o"), (ORANGE, "s"), (PURPLE, "^"))


def run(name, model):
  shape = dict(BODIES)[name]
  sheet = SHEET if "sheet" in name else ()
  error = ("--error", "none") if model == "exact" else ()
  return Inertia(shape, ("--added-mass", model, "--fluid", "1") + sheet + error)


def runs(full):
  return [run(name, model) for name, _ in BODIES for model in ("local", "exact")]


def about_centre(answer):
  """K in a frame at the centre of mass c: a twist (w, v) there is (w, v - w × c) at the origin."""
  X = np.eye(6)
  X[3:, :3] = hat(np.array(answer["centre"]))
  return X.T @ np.array(answer["added_mass"]) @ X


def draw(records, full):
  canvas, ((linear, angular),) = panels(1, 2, 5.6, 6.6, sharey=True)
  checks, rows, ratios = [], [], {}
  for axes in (linear, angular):
    axes.axvspan(0.5, 2, color="#eeeeee", zorder=0)
    axes.axvline(1, color=GREY, linewidth=1)
  for at, (name, _) in enumerate(BODIES):
    answer = {model: records.answer(run(name, model)) for model in ("local", "exact")}
    K = {model: np.diag(about_centre(a)) for model, a in answer.items()}
    ratios[name] = {}
    cells = []
    for axes, kind, part in ((linear, "v", slice(3, 6)), (angular, "w", slice(0, 3))):
      unit = np.max(K["exact"][3:]) if kind == "v" else np.max(K["exact"][:3])
      shown = [i for i in range(3) if K["exact"][part][i] > LEAST * unit]
      if kind == "w" and name == "sphere":
        shown = []  # 0 except for the roughness of the faces
      for i in shown:
        ratio = K["local"][part][i] / K["exact"][part][i]
        ratios[name][kind + "xyz"[i]] = ratio
        axes.plot(ratio, at, MARKS[i][1], color=MARKS[i][0], markersize=6, alpha=0.85)
      cells += [f"{K['exact'][part][i]:.4g} ({ratios[name][kind + 'xyz'[i]]:.3f})" if i in shown else ""
                for i in range(3)]
    rows.append([name, answer["exact"]["faces"]] + cells)
  for axes, symbol in ((linear, "$K_v$"), (angular, "$K_\\omega$")):
    axes.set(xscale="log", xlabel=f"{symbol}, local by exact", xlim=(0.4, 5.2), ylim=(len(BODIES) - 0.4, -0.6))
    axes.set_xticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    axes.minorticks_off()
  linear.set_yticks(range(len(BODIES)), [name for name, _ in BODIES])
  angular.legend(handles=[angular.plot([], [], mark, color=colour, label=f"along or about ${axis}$")[0]
                          for axis, (colour, mark) in zip("xyz", MARKS)], loc="lower right")
  checks += measure(records, ratios)
  header = ["body", "faces"] + [f"K_v {a}" for a in "xyz"] + [f"K_ω {a}" for a in "xyz"]
  return figure.Drawing(canvas, checks, [figure.Table("Exact, fluid of density 1 (local / exact)", header, rows)])


def measure(records, ratios):
  checks = []
  for name, (linear, angular) in KNOWN.items():
    found = ratios[name]
    checks.append(near(f"{name}: largest K_v, local / exact", found["vz"], linear, 0.02, 3))
    if angular:
      checks.append(near(f"{name}: K_ω about y, local / exact", found["wy"], angular, 0.03, 3))
  for name, mesh in MESHES.items():
    x = mesh()
    for model, K in (("exact", kirchhoff.solid(*x)), ("local", local(*x))):
      K = (K + K.T) / 2
      found = np.array(records.answer(run(name, model))["added_mass"])
      checks.append(at_most(f"{name}: ({model} tensor - that of `reference` on the same faces) / largest entry",
                            float(max(np.max(np.abs(found - K)[part, part]) / np.max(np.abs(K[part, part]))
                                      for part in (slice(0, 3), slice(3, 6)))), 1e-4 if model == "exact" else 1e-6))
  of = {kind: np.array([r for found in ratios.values() for key, r in found.items() if key[0] == kind]) for kind in "vw"}
  return checks + [between("all bodies: K_v, local / exact", of["v"], 0.6, 1.6),
                   at_most("median of K_v, local / exact - 1", float(abs(np.median(of["v"]) - 1)), 0.1),
                   at_least("largest K_ω, local / exact", float(np.max(of["w"])), 2)]


if __name__ == "__main__":
  figure.main(globals())
